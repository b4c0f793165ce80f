//! Tells the linker that Node provides the symbols of Node-API.

fn main() {
    napi_build::setup();
}
