//! Rule texts: the bytes themselves, or pieces that they choose.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use tripcoil_random::{draw_text, read_in_every_way};

fuzz_target!(|bytes: &[u8]| {
    let text = draw_text(&mut Unstructured::new(bytes)).expect("zeros will do");
    read_in_every_way(&text);
});
