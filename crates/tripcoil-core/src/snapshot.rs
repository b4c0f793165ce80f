//! Reading a breaker without changing it.

use crate::breaker::Breaker;
use crate::condition::Counts;
use crate::memory::Memory;
use crate::sync::Ordering;
use crate::time::NEVER;
use crate::totals::{Tally, Totals};
use crate::word::{Mode, State};

/// A breaker at one time. While calls run, parts of it may be a call apart; at rest it is exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// The state: a breaker whose retry deadline has passed reads open until a call comes.
    pub state: State,
    /// The mode.
    pub mode: Mode,
    /// The generation.
    pub generation: u64,
    /// What the window holds.
    pub window: Counts,
    /// Bad calls since the last good one, where the rule judges those; else 0.
    pub run: u64,
    /// Time in ns until the next probe may go: open, until the retry deadline (0 when due);
    /// half-open, until the lease ends. None otherwise, and where there is no limit.
    pub retry_after: Option<u64>,
    /// What the breaker has seen since it was given its rule.
    pub totals: Totals,
}

impl<M: Memory + ?Sized> Breaker<'_, M> {
    /// The state, and nothing else.
    #[inline]
    #[must_use]
    pub fn state(&self) -> State {
        self.word().state()
    }

    /// The mode, and nothing else.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.word().mode()
    }

    /// Everything there is to know at `now`. Moves no state, no deadline and no bucket.
    #[must_use]
    pub fn snapshot(&self, now: u64) -> Snapshot {
        let word = self.word();
        let left = match (word.mode(), word.state()) {
            (Mode::ForcedOpen, _) | (_, State::Closed) => NEVER,
            (_, State::Open) => match self.head.retry.read(word.generation()) {
                Some(due) => due.left(now),
                None => self.head.rule.read().wait(0),
            },
            (_, State::HalfOpen) => match self.head.lease.read(word.generation()) {
                Some(due) => due.left(now),
                None => self.head.rule.read().lease(),
            },
        };
        Snapshot {
            state: word.state(),
            mode: word.mode(),
            generation: word.generation(),
            window: self.counts(word, self.head.shape.place(now)),
            run: self.run(word.generation()),
            retry_after: (left != NEVER).then_some(left),
            totals: self.totals(),
        }
    }

    /// What the breaker has seen since it was given its rule.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let read = |tally| self.head.tallies.read(tally);
        let unfolded = self.unfolded();
        let good = read(Tally::Good).wrapping_add(unfolded.good);
        let bad = read(Tally::Bad).wrapping_add(unfolded.bad);
        let (ignored, cancelled, late) = (read(Tally::Ignored), read(Tally::Cancelled), read(Tally::Late));
        let ended = [good, bad, ignored, cancelled, late];
        Totals {
            passed: ended.into_iter().fold(0, u64::wrapping_add),
            blocked: read(Tally::Blocked),
            good,
            bad,
            ignored,
            cancelled,
            late,
            observed: read(Tally::Observed),
        }
    }

    #[inline]
    pub(crate) fn run(&self, generation: u64) -> u64 {
        // Relaxed: nothing is read by it, and a call that has returned is in it.
        let stored = self.head.run.load(Ordering::Relaxed);
        crate::completion::run_of(stored, generation)
    }
}
