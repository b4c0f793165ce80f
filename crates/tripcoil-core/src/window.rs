//! The sliding window: adding to its buckets, and summing them up.
//!
//! One compare-and-swap adds to a bucket, recycles it for a later lap (how many whole windows had passed
//! on the clock), or fails because the bucket has become another's.

use crate::anchor::{Anchor, REACH};
use crate::breaker::Breaker;
use crate::bucket::{Bucket, Cell, MAX_COUNT, exchange};
use crate::condition::Counts;
use crate::memory::Memory;
use crate::rule::Condition;
use crate::shape::Place;
use crate::slack::Slack;
use crate::sync::{AtomicU64, Ordering};
use crate::totals::Tally;
use crate::word::Word;

/// The breaker has moved on, or the anchor: look again.
pub(crate) struct Moved;

impl<M: Memory + ?Sized> Breaker<'_, M> {
    /// Counts one call at `now`, and says at which place, and what was known of it before.
    #[inline(always)]
    pub(crate) fn count(&self, word: Word, now: u64, bad: bool) -> Result<(Place, Option<Slack>), Moved> {
        let shape = &self.head.shape;
        if let Some(place) = shape.hinted(now)
            && let Some(slack) = self.slack_at(word.life(), place)
            && self.add_at_once(slack, place, bad)
        {
            return Ok((self.nearest(place), Some(slack)));
        }
        let place = shape.place(now);
        self.add(word, place, bad)?;
        shape.remember(place);
        Ok((self.nearest(place), None))
    }

    /// Adds one call at the place that `slack` is of, if its bucket counts for that, and says whether it did.
    #[inline(always)]
    pub(crate) fn add_at_once(&self, slack: Slack, place: Place, bad: bool) -> bool {
        let Some(bucket) = self.memory.buckets().get(place.slot) else { return false };
        // Relaxed, here and below: the exchange acquires, and fails where what it replaces is out of date.
        let master = Cell(bucket.good.load(Ordering::Relaxed));
        if !master.same_place(slack.place()) {
            return false;
        }
        if bad {
            let added = self.raise(&bucket.bad, Cell(bucket.bad.load(Ordering::Relaxed)), slack);
            if added {
                self.remember_bad(slack.place().life(), self.nearest(place).lap);
            }
            return added;
        }
        match self.own_word(place.slot) {
            Some(own) => self.raise(own, Cell(own.load(Ordering::Relaxed)), slack),
            None => self.raise(&bucket.good, master, slack),
        }
    }

    /// Adds one to a word that was read as `cell`, if that counts for the place of `slack` and has room.
    #[inline(always)]
    fn raise(&self, target: &AtomicU64, cell: Cell, slack: Slack) -> bool {
        let next = Cell(cell.0.wrapping_add(1));
        // At its limit the count would be 0.
        if !cell.same_place(slack.place()) || next.count() == 0 {
            return false;
        }
        // Not a fetch_add: the bucket may have been recycled or cleared since it was read.
        let raised = exchange(target, cell, next);
        if !raised {
            self.memory.met();
        }
        raised
    }

    /// Adds one call to the bucket of `place`, or to the later one that its slot has been recycled for.
    #[cold]
    #[inline(never)]
    pub(crate) fn add(&self, word: Word, place: Place, bad: bool) -> Result<(), Moved> {
        let anchor = self.anchor();
        if !anchor.is_of(word.life()) || !anchor.reaches(place.lap) {
            self.move_anchor(word, anchor, place.lap);
            return Err(Moved);
        }
        // Beyond the buckets only where the shape is a later rule's: then nobody reads this count.
        let Some(bucket) = self.memory.buckets().get(place.slot) else { return Ok(()) };
        let (tally, target) = match self.own_word(place.slot) {
            _ if bad => (Tally::Bad, &bucket.bad),
            Some(own) => (Tally::Good, own),
            None => return self.put(Tally::Good, &bucket.good, word, anchor, place, 1).map(drop),
        };
        // The bucket's good word first, which vouches for all others.
        let lap = self.put(Tally::Good, &bucket.good, word, anchor, place, 0)?;
        let lap = self.put(tally, target, word, anchor, Place { lap, ..place }, 1)?;
        if bad {
            self.remember_bad(word.life(), lap);
        }
        Ok(())
    }

    /// Adds `count` (0 or 1) to a word, making it count for `lap` first where it counts for an earlier one.
    #[cold]
    #[inline(never)]
    fn put(
        &self,
        tally: Tally,
        target: &AtomicU64,
        word: Word,
        anchor: Anchor,
        place: Place,
        count: u64,
    ) -> Result<u64, Moved> {
        let lap = anchor.nearest(place.lap);
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
                self.make_room(place.slot, target, cell);
                continue;
            }
            // An earlier lap, or another life. Recycling is right only while nothing has moved: else
            // what looks earlier may be later, and what looks foreign may be the present.
            if self.anchor() != anchor || self.word().life() != word.life() {
                return Err(Moved);
            }
            if exchange(target, cell, Cell::new(word.life(), lap, count)) {
                // Also where it is 0: with a bucket's good word go the words of all stripes.
                if mine {
                    self.forget_slack();
                }
                self.fold(tally, cell.count());
                return Ok(lap);
            }
        }
    }

    /// A count has reached its limit. Ratios stay right when good and bad are halved together; a count
    /// of errors stays at its limit. What leaves the window goes to the totals.
    #[cold]
    #[inline(never)]
    fn make_room(&self, slot: usize, target: &AtomicU64, full: Cell) {
        let ratio =
            matches!(self.head.rule.read().condition, Condition::SlowRatio { .. } | Condition::ErrorRatio(_));
        for (tally, halved) in self.words_of(slot).filter(|(_, word)| ratio || core::ptr::eq(*word, target)) {
            let cell = Cell(halved.load(Ordering::Relaxed));
            if !cell.same_place(full) {
                continue;
            }
            let gone = if ratio { cell.count() - cell.count() / 2 } else { 1 };
            if exchange(halved, cell, Cell(cell.0 - gone)) {
                self.fold(tally, gone);
            }
        }
        self.forget_slack();
    }

    /// Counts that leave a bucket are kept in the totals.
    pub(crate) fn fold(&self, tally: Tally, count: u64) {
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

    /// Bad calls are read before the good ones that ended before them, or a breaker could trip on a ratio
    /// that the window never had: the newest bucket first, which may be the one after `slot` by now.
    fn sum(&self, life: u64, lap: u64, slot: usize) -> Counts {
        let buckets = self.window();
        let newest = if slot + 1 < buckets.len() { slot + 2 } else { 1.min(buckets.len()) };
        let mut counts = Counts::default();
        for i in (0..newest).rev().chain((newest..buckets.len()).rev()) {
            let (cell, held) = self.held(i, &buckets[i]);
            let earliest = if i <= slot { 0 } else { -1 };
            if cell.life() == life && cell.laps_after(lap) >= earliest {
                counts.good += held.good;
                counts.bad += held.bad;
            }
        }
        counts
    }

    /// What one bucket holds, and what it counts for: the good word tells, and words of another lap or
    /// life hold nothing. The bad word is read first, and the good word before and after all others.
    fn held(&self, slot: usize, bucket: &Bucket) -> (Cell, Counts) {
        // Acquire, all of them: whoever added a bad call had seen to the good word, and what is in it before.
        let mut master = Cell(bucket.good.load(Ordering::Acquire));
        loop {
            let bad = Cell(bucket.bad.load(Ordering::Acquire));
            let spread = self.spread(slot).map(|word| Cell(word.load(Ordering::Acquire)));
            let spread: u64 = spread.filter(|cell| cell.same_place(master)).map(Cell::count).sum();
            let good = Cell(bucket.good.load(Ordering::Acquire));
            if good.same_place(master) {
                let bad = if bad.same_place(master) { bad.count() } else { 0 };
                return (good, Counts { good: good.count() + spread, bad });
            }
            master = good;
        }
    }

    /// All that the buckets hold, whatever it counts for: what has not been folded into the totals.
    pub(crate) fn unfolded(&self) -> Counts {
        self.words().fold(Counts::default(), |mut sum, (tally, word)| {
            let count = Cell(word.load(Ordering::Relaxed)).count();
            match tally {
                Tally::Bad => sum.bad += count,
                _ => sum.good += count,
            }
            sum
        })
    }

    /// Whether the window at `lap` may hold a bad call. Never wrong about one that has been counted
    /// by a call that has returned.
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
            // Release: pairs with the load above, so that the word is seen to have moved where the lap is of a
            // later life.
            let swap =
                self.head.last_bad.compare_exchange(last.0, mine.0, Ordering::Release, Ordering::Relaxed);
            if swap.is_ok() {
                return;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
#[path = "window_tests.rs"]
mod tests;
