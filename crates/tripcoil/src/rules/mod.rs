//! Rules: what trips a breaker, read from JSON documents or made by a typed builder, and checked
//! in one place.
//!
//! A document is read in three steps, each in its own file: text to values with their lines
//! (`json`), the fields of one rule (`reader` and `forms`, with the ranges in `fields`), and what
//! can only be judged with the other rules at hand (`document`).

mod builder;
mod document;
mod fault;
mod fields;
mod forms;
mod json;
mod legacy;
mod limits;
mod name;
mod notes;
mod number;
mod pattern;
mod print;
mod reader;
mod rule;

pub use builder::RuleBuilder;
pub use document::{Document, Scope};
pub use fault::{Fault, Faults, Report, Warning};
pub use legacy::{LegacyDocument, LegacyRule, Release};
pub use limits::Limits;
pub use name::{NameError, check_name};
pub use rule::{Rule, Strategy};
