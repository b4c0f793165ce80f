//! What random tests do and check, drawn from bytes.
//!
//! The bytes are those of proptest in `crates/tripcoil/tests`, of a seed in `tests/conformance`, and
//! libFuzzer's in `fuzz/`: what a trace is, and what must hold, is written here once. [`Trace`] is what
//! happens to a registry; [`World`] does it to the library and to the sequential model, and compares them. [`draw_text`]
//! and [`read_in_every_way`] are for rule documents, [`live`] for observers.

mod documents;
mod events;
mod trace;

pub use documents::{draw_text, read_in_every_way};
pub use events::live;
pub use trace::{Course, Mix, NAMES, Op, Pick, SHORTEST_WINDOW_MS, Trace, World, document};
