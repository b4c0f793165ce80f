//! Runs the conformance vectors against every implementation there is.
//!
//! A vector file says what happens, step by step, and what must come of it; `tests/README.md` describes
//! the format. [`Suite::read`] takes a folder of them apart and refuses whatever it does not know. A
//! [`Runner`] drives one implementation: it gets the steps of a case and gives back what it saw, never
//! what was wanted. [`compare`] finds the differences, for all runners alike.

mod check;
mod compare;
mod driver;
mod format;
mod runner;
mod rust;
mod suite;

pub use check::{Tally, check};
pub use compare::{Difference, compare};
pub use driver::Driver;
pub use runner::{Answer, Event, FaultPlace, Observation, Op, Reading, Runner, Scope, State, Step};
pub use rust::Rust;
pub use suite::{Case, Content, File, Suite, WantedEvent, WantedStep};
