//! The native part of the npm package: what its TypeScript calls, and nobody else. It translates, and
//! decides nothing.
//!
//! A healthy call crosses once, when it ends, as cheaply as can be (`doors.rs`, `passes.rs`); others twice. All
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
mod doors;
mod entries;
mod mail;
mod names;
mod observer;
mod passes;
mod pulse;
mod registry;
mod report;
mod resource;
mod rule;
mod time;

use napi_derive::napi;

/// The version of the library.
#[napi]
pub const VERSION: &str = tripcoil::VERSION;
