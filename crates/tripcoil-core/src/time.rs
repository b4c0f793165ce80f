//! Time as the core sees it: nanoseconds in a `u64`, on whatever clock the caller reads.

/// A time that never comes, and a wait that never ends.
pub const NEVER: u64 = u64::MAX;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Milliseconds as nanoseconds, at most [`NEVER`].
#[must_use]
pub const fn millis(ms: u64) -> u64 {
    ms.saturating_mul(NANOS_PER_MILLI)
}
