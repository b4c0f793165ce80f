//! Gives the shared library its soname. Its number grows when a program must be compiled anew.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target_os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if matches!(target_os.as_str(), "linux" | "android" | "freebsd" | "netbsd" | "openbsd") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtripcoil.so.0");
    }
}
