//! The native part of the npm package: what its TypeScript calls, and nobody else. It translates, and
//! decides nothing.
//!
//! A call crosses twice, as cheaply as can be: `enter` gives a number, `exit` takes one, and both are
//! functions made from closures (`calls.rs`), since methods of classes cost six times as much. All
//! the rest is classes and plain objects. Times are in ms, as numbers; whatever crosses as an enum is its
//! name.
//!
//! Each environment (the main thread, and each worker) has objects of its own; what is below them, the
//! registries, may be shared. Functions catch panics, which become JavaScript errors.
#![deny(unsafe_code)]

mod breaker;
mod calls;
mod change;
mod clock;
mod entries;
mod names;
mod observer;
mod registry;
mod report;
mod resource;
mod rule;
mod time;

use napi_derive::napi;

/// The version of the library.
#[napi]
pub const VERSION: &str = tripcoil::VERSION;
