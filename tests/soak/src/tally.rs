//! What the callers of a resource have counted themselves, and what its breakers must have counted then.

use std::sync::atomic::{AtomicU64, Ordering};

use tripcoil::{Outcome, Resource, Totals};

/// Kept by callers, on whatever thread.
#[derive(Default)]
pub(crate) struct Tally {
    admitted: AtomicU64,
    blocked: AtomicU64,
    good: AtomicU64,
    bad: AtomicU64,
    ignored: AtomicU64,
    cancelled: AtomicU64,
}

fn one(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

fn now(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

impl Tally {
    pub(crate) fn admitted(&self) {
        one(&self.admitted);
    }

    pub(crate) fn blocked(&self) {
        one(&self.blocked);
    }

    pub(crate) fn ended(&self, outcome: Outcome) {
        one(match outcome {
            Outcome::Good => &self.good,
            Outcome::Bad => &self.bad,
            Outcome::Ignored => &self.ignored,
            Outcome::Cancelled => &self.cancelled,
        });
    }

    /// Calls that were asked for, and those of them that were rejected.
    pub(crate) fn calls(&self) -> (u64, u64) {
        (now(&self.admitted) + now(&self.blocked), now(&self.blocked))
    }

    /// Compares with the breakers, all of whose rules have been there from the beginning, at rest.
    pub(crate) fn check(&self, resource: &Resource, open: u64) {
        let breakers = resource.breakers();
        let totals: Vec<Totals> = breakers.iter().map(|breaker| breaker.snapshot().totals).collect();
        let seen = || format!("{totals:?}, {open} open");
        for totals in &totals {
            let ended = totals.good + totals.bad + totals.ignored + totals.cancelled + totals.late;
            assert_eq!(totals.passed, ended, "{}", seen());
        }
        assert_eq!(totals.iter().map(|totals| totals.blocked).sum::<u64>(), now(&self.blocked), "{}", seen());
        // What others gave back because the last one rejected, has no outcome with them. Nothing is after it.
        let last = totals.last().expect("a resource that is checked has rules");
        assert_eq!(last.passed + open, now(&self.admitted), "{}", seen());
        assert_eq!(last.ignored, now(&self.ignored), "{}", seen());
        assert_eq!(last.cancelled, now(&self.cancelled), "{}", seen());
        assert_eq!(last.good + last.bad + last.late, now(&self.good) + now(&self.bad), "{}", seen());
        assert!(totals.iter().all(|totals| totals.passed >= last.passed), "{}", seen());
    }
}
