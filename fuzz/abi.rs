//! The whole C ABI, called as the bytes say.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tripcoil_c::random::live(bytes));
