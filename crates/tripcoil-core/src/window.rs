//! The sliding window: buckets that cannot lie about what they count for.
//!
//! A bucket is two words, for good calls and for bad ones. Each carries, beside its count, the life of
//! the window and the lap (how many whole windows had passed on the clock) that it counts for, so one
//! compare-and-swap adds to a bucket, recycles it, or fails because it has become another's.
//!
//! | bits | what |
//! | --- | --- |
//! | 0 to 35 | count |
//! | 36 to 51 | lap, its low 16 bits |
//! | 52 to 63 | life of the window: a bucket of another life than the breaker's is empty |
//!
//! The good word is its bucket's master: the bad word counts only where both say the same life and lap,
//! and whoever adds a bad call sees to it that the good word is there first.
//!
//! Low bits are unambiguous because of the anchor, a lap that the breaker carries along: every word of
//! the present life counts for a lap from `REACH + 1` before the anchor to `REACH` after it, and is
//! compared with laps up to `REACH + 1` after it only, which is within 16 signed bits.

use crate::breaker::Breaker;
use crate::condition::Counts;
use crate::rule::Condition;
use crate::shape::{Judges, Place};
use crate::sync::{AtomicU64, Ordering, zeroed};
use crate::totals::Tally;
use crate::word::{LIFE_BITS, Word};

const COUNT_BITS: u32 = 36;
const MAX_COUNT: u64 = (1 << COUNT_BITS) - 1;
const LAP_BITS: u32 = 16;
/// How far from the anchor a lap may be that is written to a bucket.
const REACH: u64 = (1 << (LAP_BITS - 2)) - 1;
/// How far the anchor moves at a time.
const STEP: u64 = REACH.div_ceil(2);
/// A lap beyond this distance leaves nothing in the window.
const FAR: u64 = 2 * (REACH + 1);
const ANCHOR_LAP_BITS: u32 = 64 - LIFE_BITS;
const ANCHOR_LAP: u64 = (1 << ANCHOR_LAP_BITS) - 1;

/// One bucket of a window: 16 bytes, valid when zeroed.
#[repr(C)]
pub struct Bucket {
    good: AtomicU64,
    bad: AtomicU64,
}

zeroed! {
    /// A bucket that counts nothing.
    pub Bucket { good: AtomicU64::new(0), bad: AtomicU64::new(0) }
}

#[cfg(not(loom))]
#[allow(clippy::declare_interior_mutable_const)]
impl Bucket {
    /// For arrays in a `static`.
    pub const NEW: Self = Self::new();
}

impl Default for Bucket {
    fn default() -> Self {
        Self::new()
    }
}

/// One reading of a bucket's word. Pure.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cell(u64);

impl Cell {
    #[inline]
    fn new(life: u64, lap: u64, count: u64) -> Self {
        let lap = lap & ((1 << LAP_BITS) - 1);
        Self((life << LAP_BITS | lap) << COUNT_BITS | count)
    }

    #[inline]
    fn same_place(self, other: Self) -> bool {
        (self.0 ^ other.0) >> COUNT_BITS == 0
    }

    fn count(self) -> u64 {
        self.0 & MAX_COUNT
    }

    fn life(self) -> u64 {
        self.0 >> (COUNT_BITS + LAP_BITS)
    }

    /// How many laps this is after `lap`: exact within 32768 laps.
    fn laps_after(self, lap: u64) -> i64 {
        i64::from((self.0 >> COUNT_BITS) as u16 as i16).wrapping_sub(i64::from(lap as i16)) as i16 as i64
    }
}

/// A lap, and the life of the window it belongs to, in one word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Anchor(pub(crate) u64);

impl Anchor {
    pub(crate) fn new(life: u64, lap: u64) -> Self {
        Self(life << ANCHOR_LAP_BITS | lap & ANCHOR_LAP)
    }

    #[inline]
    pub(crate) fn lap(self) -> u64 {
        self.0 & ANCHOR_LAP
    }

    #[inline]
    pub(crate) fn is_of(self, life: u64) -> bool {
        self.0 >> ANCHOR_LAP_BITS == life
    }

    /// Whether the bucket of `lap` can be told by its low bits, from this anchor.
    #[inline]
    fn reaches(self, lap: u64) -> bool {
        lap <= self.lap() + REACH
    }

    /// `lap`, or the earliest that can be told from here: a clock that went back by more than 16383
    /// windows counts as if it had gone back by that many.
    #[inline]
    fn nearest(self, lap: u64) -> u64 {
        lap.max(self.lap().saturating_sub(REACH))
    }
}

/// The breaker has moved on, or the anchor: look again.
pub(crate) struct Moved;

impl Breaker<'_> {
    #[inline]
    pub(crate) fn anchor(&self) -> Anchor {
        // Acquire: whoever reads a moved anchor finds the buckets swept.
        Anchor(self.head.anchor.load(Ordering::Acquire))
    }

    /// Adds one call to the bucket of `place`, or to the later one that its slot has been recycled for.
    #[inline]
    pub(crate) fn add(&self, word: Word, place: Place, bad: bool) -> Result<(), Moved> {
        let anchor = self.anchor();
        if !anchor.is_of(word.life()) || !anchor.reaches(place.lap) {
            self.move_anchor(word, anchor, place.lap);
            return Err(Moved);
        }
        // Beyond the buckets only where the shape is a later rule's: then nobody reads this count.
        let Some(bucket) = self.buckets.get(place.slot) else { return Ok(()) };
        if bad {
            return self.add_bad(bucket, word, anchor, place.lap);
        }
        let mine = Cell::new(word.life(), place.lap, 0);
        let cell = Cell(bucket.good.load(Ordering::Acquire));
        if cell.same_place(mine) && cell.count() < MAX_COUNT {
            // Not a fetch_add: the bucket may have been recycled or cleared since it was read.
            let next = cell.0 + 1;
            if bucket.good.compare_exchange(cell.0, next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Ok(());
            }
        }
        self.put(bucket, &bucket.good, word, anchor, place.lap, 1).map(drop)
    }

    /// Adds one bad call, to a bucket whose good word counts for the same lap.
    #[inline(never)]
    fn add_bad(&self, bucket: &Bucket, word: Word, anchor: Anchor, lap: u64) -> Result<(), Moved> {
        let lap = self.put(bucket, &bucket.good, word, anchor, lap, 0)?;
        let lap = self.put(bucket, &bucket.bad, word, anchor, lap, 1)?;
        self.remember_bad(word.life(), lap);
        Ok(())
    }

    /// Adds `count` (0 or 1) to a word, making it count for `lap` first where it counts for an earlier one.
    #[cold]
    #[inline(never)]
    fn put(
        &self,
        bucket: &Bucket,
        target: &AtomicU64,
        word: Word,
        anchor: Anchor,
        lap: u64,
        count: u64,
    ) -> Result<u64, Moved> {
        let lap = anchor.nearest(lap);
        loop {
            // Acquire, here and in the exchange: pairs with the release of whoever recycled the word
            // after the anchor or the breaker's word had moved, so that the checks below see it.
            let cell = Cell(target.load(Ordering::Acquire));
            let after = cell.laps_after(lap);
            let mine = cell.life() == word.life();
            if mine && after >= 0 && (count == 0 || cell.count() < MAX_COUNT) {
                if count == 0 || exchange(target, cell, Cell(cell.0 + count)) {
                    return Ok(lap.wrapping_add_signed(after));
                }
                continue;
            }
            if mine && after >= 0 {
                self.make_room(bucket, target, cell);
                continue;
            }
            // An earlier lap, or another life. Recycling is right only while nothing has moved: else
            // what looks earlier may be later, and what looks foreign may be the present.
            if self.anchor() != anchor || self.word().life() != word.life() {
                return Err(Moved);
            }
            if exchange(target, cell, Cell::new(word.life(), lap, count)) {
                self.fold(bucket, target, cell.count());
                return Ok(lap);
            }
        }
    }

    /// A count has reached its limit. Ratios stay right when good and bad are halved together; a count
    /// of errors stays at its limit. What leaves the window goes to the totals.
    #[cold]
    #[inline(never)]
    fn make_room(&self, bucket: &Bucket, target: &AtomicU64, full: Cell) {
        let ratio =
            matches!(self.head.rule.read().condition, Condition::SlowRatio { .. } | Condition::ErrorRatio(_));
        let targets = [&bucket.good, &bucket.bad];
        for halved in targets.into_iter().filter(|t| ratio || core::ptr::eq(*t, target)) {
            let cell = Cell(halved.load(Ordering::Acquire));
            if !cell.same_place(full) {
                continue;
            }
            let gone = if ratio { cell.count() - cell.count() / 2 } else { 1 };
            if exchange(halved, cell, Cell(cell.0 - gone)) {
                self.fold(bucket, halved, gone);
            }
        }
    }

    /// Counts that leave a bucket are kept in the totals.
    fn fold(&self, bucket: &Bucket, target: &AtomicU64, count: u64) {
        let tally = if core::ptr::eq(target, &bucket.bad) { Tally::Bad } else { Tally::Good };
        self.head.tallies.add(tally, count);
    }

    /// The window's counts at `place`. Recycles nothing.
    pub(crate) fn counts(&self, word: Word, place: Place) -> Counts {
        loop {
            let anchor = self.anchor();
            if !anchor.is_of(word.life()) || place.lap > anchor.lap() + REACH + 1 {
                return Counts::default();
            }
            let counts = self.sum(word.life(), anchor.nearest(place.lap), place.slot);
            if self.anchor() == anchor {
                return counts;
            }
        }
    }

    fn sum(&self, life: u64, lap: u64, slot: usize) -> Counts {
        let mut counts = Counts::default();
        for (i, bucket) in self.window().iter().enumerate() {
            // Acquire: the bad word is read after the good word that vouches for it.
            let good = Cell(bucket.good.load(Ordering::Acquire));
            let earliest = if i <= slot { 0 } else { -1 };
            if good.life() != life || good.laps_after(lap) < earliest {
                continue;
            }
            counts.good += good.count();
            let bad = Cell(bucket.bad.load(Ordering::Acquire));
            if bad.same_place(good) {
                counts.bad += bad.count();
            }
        }
        counts
    }

    /// All that the buckets hold, whatever it counts for: what has not been folded into the totals.
    pub(crate) fn unfolded(&self) -> Counts {
        self.window().iter().fold(Counts::default(), |sum, bucket| Counts {
            good: sum.good + Cell(bucket.good.load(Ordering::Relaxed)).count(),
            bad: sum.bad + Cell(bucket.bad.load(Ordering::Relaxed)).count(),
        })
    }

    /// Whether the window at `lap` may hold a bad call. Never wrong about one that has been counted
    /// by a call that has returned.
    #[inline]
    pub(crate) fn may_hold_bad(&self, life: u64, lap: u64) -> bool {
        let last = Anchor(self.head.last_bad.load(Ordering::Acquire));
        last.is_of(life) && lap <= last.lap() + 1
    }

    /// Raises the lap of the last bad call.
    fn remember_bad(&self, life: u64, lap: u64) {
        let mine = Anchor::new(life, lap);
        loop {
            let last = Anchor(self.head.last_bad.load(Ordering::Acquire));
            if last.is_of(life) && last.lap() >= lap || self.word().life() != life {
                return;
            }
            let swap =
                self.head.last_bad.compare_exchange(last.0, mine.0, Ordering::AcqRel, Ordering::Relaxed);
            if swap.is_ok() {
                return;
            }
        }
    }

    /// Brings the anchor to the present life, or nearer to `lap`. The caller looks again.
    #[cold]
    #[inline(never)]
    fn move_anchor(&self, word: Word, anchor: Anchor, lap: u64) {
        if !anchor.is_of(word.life()) {
            self.sweep(word.life(), lap);
        } else if lap > anchor.lap() + FAR {
            // Nothing in the window is young enough to count at `lap`: begin a new life, in one step.
            let next = word.cleared();
            if self.swap(word, next) {
                self.sweep(next.life(), lap);
            }
        } else {
            self.step(word.life(), anchor);
        }
    }

    /// Moves the anchor one step on. Every word of this life that would be too old for it is emptied
    /// first; the lap that asks is so much later that such a word has long expired.
    fn step(&self, life: u64, anchor: Anchor) {
        for (bucket, target) in self.words() {
            loop {
                let cell = Cell(target.load(Ordering::Acquire));
                if self.anchor() != anchor || self.word().life() != life {
                    return;
                }
                let empty = Cell::new(life, anchor.lap().wrapping_sub(STEP), 0);
                if cell.life() != life || cell.laps_after(anchor.lap()) >= -(STEP as i64) {
                    break;
                }
                if exchange(target, cell, empty) {
                    self.fold(bucket, target, cell.count());
                    break;
                }
            }
        }
        let next = Anchor::new(life, anchor.lap() + STEP);
        // Release: pairs with the load in `anchor`.
        let _ = self.head.anchor.compare_exchange(anchor.0, next.0, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Sets the anchor of a life that has just begun, and empties the words of all others, so that none
    /// is left when its number comes again.
    pub(crate) fn sweep(&self, life: u64, lap: u64) {
        let anchor = self.anchor();
        if !anchor.is_of(life) {
            if self.word().life() != life {
                return;
            }
            let next = Anchor::new(life, lap);
            let _ = self.head.anchor.compare_exchange(anchor.0, next.0, Ordering::AcqRel, Ordering::Relaxed);
        }
        let anchor = self.anchor();
        for (bucket, target) in self.words() {
            let cell = Cell(target.load(Ordering::Acquire));
            if self.word().life() != life || !anchor.is_of(life) {
                return;
            }
            let empty = Cell::new(life, anchor.lap().wrapping_sub(REACH + 1), 0);
            if cell.life() != life && exchange(target, cell, empty) {
                self.fold(bucket, target, cell.count());
            }
        }
    }

    fn words(&self) -> impl Iterator<Item = (&Bucket, &AtomicU64)> {
        self.window().iter().flat_map(|bucket| [(bucket, &bucket.good), (bucket, &bucket.bad)])
    }

    fn window(&self) -> &[Bucket] {
        let buckets = self.head.shape.buckets().min(self.buckets.len());
        &self.buckets[..buckets]
    }

    /// Whether this breaker asks the window at all before it trips.
    pub(crate) fn judges_window(&self) -> bool {
        self.head.shape.judges() != Judges::Runs
    }
}

/// Release: what moved before is visible to whoever acquires the new value. Acquire: as in `put`.
#[inline]
fn exchange(target: &AtomicU64, from: Cell, to: Cell) -> bool {
    target.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

#[cfg(all(test, not(loom)))]
#[path = "window_tests.rs"]
mod tests;
