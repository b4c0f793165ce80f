//! The C ABI: `include/tripcoil.h`, whose first page is the contract of every function here.
//!
//! Translation only. What C passes is checked where it comes in ([`handle`], [`text`], [`codes`]),
//! panics stop in [`guard`], and behaviour is the library's.
#![allow(non_camel_case_types, reason = "names as C has them")]
#![allow(clippy::missing_safety_doc, reason = "the contract page of the header is that section, for all")]

pub mod breaker;
pub mod clock;
pub mod codes;
pub mod entry;
mod guard;
mod handle;
pub mod observer;
#[cfg(any(test, fuzzing))]
pub mod random;
pub mod registry;
pub mod report;
pub mod resource;
pub mod rules;
pub mod status;
mod text;
pub mod version;
