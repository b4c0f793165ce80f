//! A deadline that is published after the state it belongs to, and never read as an older one's.
//!
//! Whoever wins the compare-and-swap on the breaker's word publishes the new generation's deadline;
//! until the stamp names that generation, readers treat it as not there yet. A publisher that was
//! held up while the breaker moved on must not overwrite its successors' deadlines: `at` and
//! `length` change by compare-and-swap from what they were when the word still named the publisher's
//! generation, and the stamp only grows.

use crate::sync::{AtomicU64, Ordering, zeroed};
use crate::time::NEVER;
use crate::word::Word;

const COUNT_BITS: u32 = 16;
const MAX_COUNT: u64 = (1 << COUNT_BITS) - 1;

pub(crate) struct Deadline {
    /// When it ends, in ns.
    at: AtomicU64,
    /// How long it was when it was set, in ns: a clock that goes back never leaves more than this.
    length: AtomicU64,
    /// Generation it belongs to (48 bits), and a count that goes with it (16 bits): for the retry
    /// deadline, how many times in a row the breaker has reopened.
    stamp: AtomicU64,
}

zeroed! {
    pub(crate) Deadline {
        at: AtomicU64::new(0),
        length: AtomicU64::new(0),
        stamp: AtomicU64::new(0),
    }
}

/// A deadline as read: valid for the generation it was asked for.
#[derive(Clone, Copy)]
pub(crate) struct Due {
    at: u64,
    length: u64,
}

impl Due {
    #[inline]
    pub(crate) fn is_too_far(self, now: u64) -> bool {
        self.length != NEVER && self.at.saturating_sub(now) > self.length
    }

    /// Time left at `now`; 0 when it has ended, [`NEVER`] when it never ends.
    #[inline]
    pub(crate) fn left(self, now: u64) -> u64 {
        // A sum beyond the clock's last ns: it never comes, not even then.
        if self.at == NEVER {
            return self.length;
        }
        self.at.saturating_sub(now).min(self.length)
    }
}

impl Deadline {
    /// Sets the deadline of `generation`, `length` after `now`, unless `word` has left it.
    pub(crate) fn publish(&self, word: &AtomicU64, generation: u64, now: u64, length: u64, count: u64) {
        // Relaxed: what is to be seen in it has been acquired by `replace`.
        let current = || Word(word.load(Ordering::Relaxed)).generation() == generation;
        if replace(&self.length, length, current) && replace(&self.at, now.saturating_add(length), current) {
            self.restamp(generation, count);
        }
    }

    /// Makes the deadline that is set already that of `generation`.
    pub(crate) fn restamp(&self, generation: u64, count: u64) {
        let stamp = generation << COUNT_BITS | count.min(MAX_COUNT);
        // Release: pairs with the load of the stamp in `read`, which then finds `at` and `length`.
        self.stamp.fetch_max(stamp, Ordering::Release);
    }

    /// The deadline of `generation`, or none where its publisher has not come so far.
    #[inline]
    pub(crate) fn read(&self, generation: u64) -> Option<Due> {
        let stamp = self.stamp.load(Ordering::Acquire);
        if stamp >> COUNT_BITS != generation {
            return None;
        }
        // Acquire, and before the length: whoever reads a successor's deadline here reads its length with
        // it, and sees that the word has moved.
        let at = self.at.load(Ordering::Acquire);
        let length = self.length.load(Ordering::Relaxed);
        Some(Due { at, length })
    }

    /// What it was set to last, whatever the generation: when it ends, and its count. Relaxed: nobody
    /// asks before he has acquired a word that was changed by someone who had read the deadline.
    pub(crate) fn last(&self) -> (u64, u64) {
        (self.at.load(Ordering::Relaxed), self.stamp.load(Ordering::Relaxed) & MAX_COUNT)
    }

    /// Time left until the deadline of `generation`, or none where it is not published yet.
    ///
    /// Where more than its whole length seems to be left, `now` is read once more by `again`: a caller
    /// that was held up since it read the time must not be taken for a clock that went back, nor go on
    /// with that time. If it is one, the deadline moves to the present plus its length.
    pub(crate) fn ask(&self, generation: u64, now: &mut u64, again: impl Fn() -> u64) -> Option<u64> {
        let due = self.read(generation)?;
        if !due.is_too_far(*now) {
            return Some(due.left(*now));
        }
        // Read after the deadline was, so on a clock that only goes forward it is not too far.
        *now = again();
        if due.is_too_far(*now) {
            // Relaxed: an exchange keeps what was released with the value that it replaces. Losing means that
            // somebody else has moved it.
            let at = *now + due.length;
            let _ = self.at.compare_exchange(due.at, at, Ordering::Relaxed, Ordering::Relaxed);
        }
        Some(due.left(*now))
    }
}

/// Sets `cell` unless the generation has passed, and says whether it did.
fn replace(cell: &AtomicU64, value: u64, current: impl Fn() -> bool) -> bool {
    loop {
        // Acquire: pairs with the exchange below. Whoever finds a successor's value here also finds,
        // in `current`, that the word has moved; whoever does not, loses the exchange.
        let before = cell.load(Ordering::Acquire);
        if !current() {
            return false;
        }
        if cell.compare_exchange(before, value, Ordering::Release, Ordering::Relaxed).is_ok() {
            return true;
        }
    }
}
