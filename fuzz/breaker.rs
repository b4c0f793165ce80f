//! Calls, time, reloads and manual control as the bytes say, on the library and on the sequential model.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use tripcoil_random::{Mix, Trace, World};

fuzz_target!(|bytes: &[u8]| {
    let trace = Trace::draw(&mut Unstructured::new(bytes), Mix::All).expect("zeros will do");
    World::run(&trace).unwrap_or_else(|difference| panic!("{difference}"));
});
