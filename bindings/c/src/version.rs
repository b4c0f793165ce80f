//! Which library is in use.

use std::ffi::{CStr, c_char};

/// The version of the library in use: "0.1.0". Static. `TRIPCOIL_VERSION` is the header's.
#[unsafe(no_mangle)]
pub extern "C" fn tripcoil_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    CStr::from_bytes_with_nul(VERSION.as_bytes()).map_or(c"".as_ptr(), CStr::as_ptr)
}

/// The version as a number: major * 1000000 + minor * 1000 + patch. `TRIPCOIL_VERSION_NUMBER` is the
/// header's; a program that was built with another one can ask
/// `tripcoil_version_number() == TRIPCOIL_VERSION_NUMBER`.
#[unsafe(no_mangle)]
pub extern "C" fn tripcoil_version_number() -> u32 {
    const PARTS: [u32; 3] = [
        number(env!("CARGO_PKG_VERSION_MAJOR")),
        number(env!("CARGO_PKG_VERSION_MINOR")),
        number(env!("CARGO_PKG_VERSION_PATCH")),
    ];
    PARTS[0] * 1_000_000 + PARTS[1] * 1_000 + PARTS[2]
}

const fn number(digits: &str) -> u32 {
    match u32::from_str_radix(digits, 10) {
        Ok(number) => number,
        Err(_) => panic!("cargo gives digits"),
    }
}
