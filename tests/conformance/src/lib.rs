//! Runs the conformance vectors against every implementation there is.
//!
//! A vector file says what happens, step by step, and what must come of it; `tests/README.md` describes
//! the format. [`Suite::read`] takes a folder of them apart and refuses whatever it does not know. A
//! [`Runner`] drives one implementation: it gets the steps of a case and gives back what it saw, never
//! what was wanted. [`compare`] finds the differences, for all runners alike. [`random_cases`] makes cases of a
//! seed, of which the sequential model says what must come.

mod check;
mod compare;
mod driver;
mod format;
mod random;
mod runner;
mod rust;
mod suite;
mod words;

pub use check::{Tally, check};
pub use compare::{Difference, Found, compare};
pub use driver::Driver;
pub use random::{Coverage, RandomCase, random_cases, vector};
pub use runner::{Answer, Event, FaultPlace, Mode, Observation, Op, Reading, Runner, Scope, State, Step};
pub use rust::Rust;
pub use suite::{Case, Content, File, Suite, WantedEvent, WantedStep};
