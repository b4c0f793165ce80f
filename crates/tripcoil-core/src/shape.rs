//! The shape of a breaker's window, and where in it a time falls.

use crate::rule::{Condition, Rule};
use crate::sync::{AtomicU64, Ordering, zeroed};
use crate::time::{NEVER, millis};

/// Set when a breaker is given to a rule, and the same until it is given to another, of a later
/// generation. So all accesses but the hint's are relaxed: who holds a permit of the present generation
/// reads what was written before that generation, and what an older permit computes from a newer shape fails
/// on the bucket's life.
pub(crate) struct Shape {
    /// What calls are judged by, in two bits, and the number of buckets above: 0 in a breaker that has no
    /// rule yet.
    kind: AtomicU64,
    /// Length of a bucket in ns.
    bucket: AtomicU64,
    /// A place that calls were counted at: the lap, and the slot in the low bits.
    hint: AtomicU64,
}

zeroed! {
    pub(crate) Shape {
        kind: AtomicU64::new(0),
        bucket: AtomicU64::new(0),
        hint: AtomicU64::new(0),
    }
}

const JUDGES_BITS: u32 = 2;
pub(crate) const SLOT_BITS: u32 = 10;
const MAX_SLOT: u64 = (1 << SLOT_BITS) - 1;
const _: () = assert!(Rule::MAX_BUCKETS as u64 <= MAX_SLOT + 1);

/// What a breaker judges its calls by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judges {
    /// Nothing: it has no rule yet.
    Nothing,
    /// Whether they ended with an error, over a window.
    Errors,
    /// How long they took, over a window.
    Times,
    /// Whether they ended with an error, several in a row.
    Runs,
}

/// Where a time falls: windows since the clock's origin, and the bucket within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) lap: u64,
    pub(crate) slot: usize,
}

impl Shape {
    pub(crate) fn set(&self, rule: &Rule) {
        let judges = match rule.condition {
            Condition::SlowRatio { .. } => Judges::Times,
            Condition::ErrorRatio(_) | Condition::ErrorCount(_) => Judges::Errors,
            Condition::ConsecutiveErrors(_) => Judges::Runs,
        };
        self.bucket.store(millis(rule.stat_interval_ms / u64::from(rule.buckets)), Ordering::Relaxed);
        // A window of years would take the number of a shorter one's lap for its own, by what is left of a
        // product beyond 2^64.
        self.hint.store(0, Ordering::Relaxed);
        self.kind.store(u64::from(rule.buckets) << JUDGES_BITS | judges as u64, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn buckets(&self) -> usize {
        (self.kind.load(Ordering::Relaxed) >> JUDGES_BITS) as usize
    }

    #[inline]
    pub(crate) fn judges(&self) -> Judges {
        match self.kind.load(Ordering::Relaxed) & ((1 << JUDGES_BITS) - 1) {
            0 => Judges::Nothing,
            1 => Judges::Errors,
            2 => Judges::Times,
            _ => Judges::Runs,
        }
    }

    /// Where `now` falls, if it is the last place that was remembered: what it takes to check that does not
    /// wait for the clock, as a division would. The place may be one of another shape's.
    #[inline(always)]
    pub(crate) fn hinted(&self, now: u64) -> Option<Place> {
        // Acquire: pairs with `remember`.
        let hint = self.hint.load(Ordering::Acquire);
        let (lap, slot) = (hint >> SLOT_BITS, hint & MAX_SLOT);
        let (buckets, length) = (self.buckets() as u64, self.bucket.load(Ordering::Relaxed));
        let start = lap.wrapping_mul(buckets).wrapping_add(slot).wrapping_mul(length);
        (now.wrapping_sub(start) < length).then_some(Place { lap, slot: slot as usize })
    }

    /// Where `now` falls.
    #[inline]
    pub(crate) fn place(&self, now: u64) -> Place {
        match self.hinted(now) {
            // A hint of another shape is as good, if it names a bucket that there is.
            Some(place) if place.slot < self.buckets() => place,
            _ => self.find_place(now),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_place(&self, now: u64) -> Place {
        // The last ns counts as the one before: a window longer than the clock has a single lap.
        let now = now.min(NEVER - 1);
        let length = self.bucket.load(Ordering::Relaxed);
        let interval = length.saturating_mul(self.buckets() as u64);
        let lap = now.checked_div(interval).unwrap_or_default();
        let slot = (now - lap * interval).checked_div(length).unwrap_or_default();
        Place { lap, slot: slot as usize }
    }

    /// Has `hinted` try this place, at which a call has been counted.
    pub(crate) fn remember(&self, place: Place) {
        let hint = place.lap << SLOT_BITS | place.slot as u64 & MAX_SLOT;
        if self.hint.load(Ordering::Relaxed) != hint {
            // Release: the anchor has come near this lap, and what was known of another lap with the same low
            // bits was forgotten before. Whoever finds the hint finds that forgotten, too.
            self.hint.store(hint, Ordering::Release);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_that_of_the_present_shape() {
        let rule = |stat_interval_ms| Rule { stat_interval_ms, ..Rule::new(Condition::ErrorCount(1.0), 1) };
        let (shape, now) = (Shape::new(), millis(1 << 15));
        shape.set(&rule(1));
        assert_eq!(shape.place(now), Place { lap: 1 << 15, slot: 0 });
        // So many of these windows are a multiple of 2^64 ns.
        shape.set(&rule(1 << 43));
        assert_eq!(shape.place(now), Place { lap: 0, slot: 0 });
    }
}
