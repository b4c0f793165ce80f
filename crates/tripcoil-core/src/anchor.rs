//! The lap that a breaker carries along, so that sixteen bits of a bucket's lap are enough.
//!
//! Every word of the present life counts for a lap from `REACH + 1` before the anchor to `REACH` after it,
//! and is compared with laps up to `REACH + 1` after it only, which is within 16 signed bits. Before the
//! anchor moves on, words that would be left behind are emptied; where the clock has moved so far that
//! nothing in the window can count any more, the window begins a new life instead.

use crate::breaker::Breaker;
use crate::bucket::{Cell, LAP_BITS, exchange};
use crate::memory::Memory;
use crate::shape::Place;
use crate::sync::Ordering;
use crate::word::{LIFE_BITS, Word};

/// How far from the anchor a lap may be that is written to a bucket.
pub(crate) const REACH: u64 = (1 << (LAP_BITS - 2)) - 1;
/// How far the anchor moves at a time.
pub(crate) const STEP: u64 = REACH.div_ceil(2);
/// A lap beyond this distance leaves nothing in the window.
pub(crate) const FAR: u64 = 2 * (REACH + 1);
const ANCHOR_LAP_BITS: u32 = 64 - LIFE_BITS;
const ANCHOR_LAP: u64 = (1 << ANCHOR_LAP_BITS) - 1;

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
    pub(crate) fn reaches(self, lap: u64) -> bool {
        lap <= self.lap() + REACH
    }

    /// `lap`, or the earliest that can be told from here: a clock that went back by more than 16383
    /// windows counts as if it had gone back by that many.
    #[inline]
    pub(crate) fn nearest(self, lap: u64) -> u64 {
        lap.max(self.lap().saturating_sub(REACH))
    }
}

impl<M: Memory + ?Sized> Breaker<'_, M> {
    #[inline]
    pub(crate) fn anchor(&self) -> Anchor {
        // Acquire: whoever reads a moved anchor finds the buckets swept.
        Anchor(self.head.anchor.load(Ordering::Acquire))
    }

    /// The place that a call at `place` is counted and judged at.
    pub(crate) fn nearest(&self, place: Place) -> Place {
        Place { lap: self.anchor().nearest(place.lap), ..place }
    }

    /// Brings the anchor to the present life, or nearer to `lap`. The caller looks again.
    #[cold]
    #[inline(never)]
    pub(crate) fn move_anchor(&self, word: Word, anchor: Anchor, lap: u64) {
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

    /// Moves the anchor one step on. Every word that would be too old for it is emptied first; the lap
    /// that asks is so much later that such a word has long expired. So is every word of another life:
    /// a sweep that was held up would make it too old for the anchor that is to come.
    fn step(&self, life: u64, anchor: Anchor) {
        for (tally, target) in self.words() {
            loop {
                let cell = Cell(target.load(Ordering::Acquire));
                if self.anchor() != anchor || self.word().life() != life {
                    return;
                }
                let empty = Cell::new(life, anchor.lap().wrapping_sub(STEP), 0);
                if cell.life() == life && cell.laps_after(anchor.lap()) >= -(STEP as i64) {
                    break;
                }
                if exchange(target, cell, empty) {
                    self.fold(tally, cell.count());
                    break;
                }
            }
        }
        self.forget_slack();
        let next = Anchor::new(life, anchor.lap() + STEP);
        // Release: pairs with the load in `anchor`.
        let _ = self.head.anchor.compare_exchange(anchor.0, next.0, Ordering::Release, Ordering::Relaxed);
    }

    /// Sets the anchor of a life that has just begun, and empties the words of all others, so that none
    /// is left when its number comes again.
    pub(crate) fn sweep(&self, life: u64, lap: u64) {
        self.forget_slack();
        let anchor = self.anchor();
        if !anchor.is_of(life) {
            if self.word().life() != life {
                return;
            }
            let next = Anchor::new(life, lap);
            // Release: as in `step`.
            let _ = self.head.anchor.compare_exchange(anchor.0, next.0, Ordering::Release, Ordering::Relaxed);
        }
        let anchor = self.anchor();
        for (tally, target) in self.words() {
            let cell = Cell(target.load(Ordering::Acquire));
            if self.word().life() != life || !anchor.is_of(life) {
                return;
            }
            let empty = Cell::new(life, anchor.lap().wrapping_sub(REACH + 1), 0);
            if cell.life() != life && exchange(target, cell, empty) {
                self.fold(tally, cell.count());
            }
        }
    }

    /// Empties the buckets that there is memory for and that no rule uses at present.
    pub(crate) fn empty_beyond_window(&self) {
        for slot in self.window().len()..self.memory.buckets().len() {
            for (_, target) in self.words_of(slot) {
                target.store(0, Ordering::Relaxed);
            }
        }
    }
}
