//! What a breaker has seen since it was given to its rule.

use crate::sync::{AtomicU64, Ordering};

/// Counts since the breaker was made. They wrap at 2^64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Calls that got a permit and have ended, in whatever way: the sum of good, bad, ignored, cancelled
    /// and late. Calls that are still out, and observed ones, are not among them.
    pub passed: u64,
    /// Calls that this breaker rejected.
    pub blocked: u64,
    /// Outcomes that counted as good, probes among them.
    pub good: u64,
    /// Outcomes that counted as bad, probes among them.
    pub bad: u64,
    /// Calls whose result did not matter.
    pub ignored: u64,
    /// Calls that were given up.
    pub cancelled: u64,
    /// Outcomes that came after the breaker had moved on from the state they were admitted in.
    pub late: u64,
    /// Calls that an observing breaker admitted although it would have rejected them.
    pub observed: u64,
}

/// One of the counts that is kept by itself; good and bad are also in the window's buckets.
#[derive(Clone, Copy)]
pub(crate) enum Tally {
    Good,
    Bad,
    Blocked,
    Ignored,
    Cancelled,
    Late,
    Observed,
}

const TALLIES: usize = 7;

/// All accesses are relaxed: each count stands for itself, and none decides.
pub(crate) struct Tallies([AtomicU64; TALLIES]);

impl Tallies {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; TALLIES])
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self(core::array::from_fn(|_| AtomicU64::new(0)))
    }

    pub(crate) fn add(&self, tally: Tally, count: u64) {
        if count > 0 {
            self.0[tally as usize].fetch_add(count, Ordering::Relaxed);
        }
    }

    pub(crate) fn read(&self, tally: Tally) -> u64 {
        self.0[tally as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn clear(&self) {
        for tally in &self.0 {
            tally.store(0, Ordering::Relaxed);
        }
    }
}
