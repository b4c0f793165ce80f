//! Observers that come, go and act, among all that changes breakers, as the bytes say.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tripcoil_random::live(bytes));
