//! Traces: calls, time, rules that are replaced, manual control.

mod course;
pub(crate) mod library;
mod op;
mod rules;
mod world;

pub use course::Course;
pub use op::{Mix, Op, Pick, Trace};
pub(crate) use rules::edit;
pub use rules::{NAMES, SHORTEST_WINDOW_MS, document};
pub use world::World;
