//! The circuit breakers that Tripcoil is measured beside.
#![forbid(unsafe_code)]

pub mod peers;
