//! How an extension module is linked: its interpreter's symbols are found when it is loaded.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
