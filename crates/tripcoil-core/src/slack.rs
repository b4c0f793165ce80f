//! How many more bad calls cannot trip a breaker: so that not every call has to sum up the window.
//!
//! | bits | what |
//! | --- | --- |
//! | 0 to 17 | how often the word has been marked, or something left in it |
//! | 18 to 25 | 0: nothing is known; else one more than the bad calls that cannot trip |
//! | 26 to 35 | slot of the place that this is known at |
//! | 36 to 51 | its lap, the low bits |
//! | 52 to 63 | life of the window |
//!
//! Whoever has summed up the window leaves here what he knows, and only then: at the same place, with no
//! bucket recycled, a window that holds `g` good and `b` bad calls takes some more bad calls, and any number
//! of good ones, without meeting its condition. A bad call takes one of those after it has been counted.
//! Where none is left it marks the word, sums up and judges, as every call does that finds nothing known at
//! its place.
//!
//! What is left here was summed up after the word was read, and is left only where the word is still the
//! same: each time that something is left counts as a mark, so that room which was taken and then found
//! again does not bring an earlier word back. All that could make it untrue changes the word after it has
//! changed the window or the rule: bad calls, recycled and emptied buckets, halved counts, edited rules, and a
//! clearing of the window, whose life's number comes again.

use crate::breaker::Breaker;
use crate::bucket::{COUNT_BITS, Cell, LAP_BITS};
use crate::memory::Memory;
use crate::shape::{Place, SLOT_BITS};
use crate::sync::Ordering;
use crate::word::LIFE_BITS;

const MARK_BITS: u32 = 18;
const ROOM_BITS: u32 = 8;
const PLACE_SHIFT: u32 = MARK_BITS + ROOM_BITS;
const MARK: u64 = (1 << MARK_BITS) - 1;
const ONE: u64 = 1 << MARK_BITS;
/// The most bad calls that are known not to trip.
pub(crate) const MAX_ROOM: u64 = (1 << ROOM_BITS) - 2;
const _: () = assert!(PLACE_SHIFT + SLOT_BITS + LAP_BITS + LIFE_BITS == 64);
// Life and lap are where a bucket has them.
const _: () = assert!(PLACE_SHIFT + SLOT_BITS == COUNT_BITS);

/// One reading of the word. Pure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slack(u64);

impl Slack {
    /// What is known at a place, and nothing else.
    fn at(life: u64, place: Place, room: u64) -> u64 {
        let lap = place.lap & ((1 << LAP_BITS) - 1);
        ((life << LAP_BITS | lap) << SLOT_BITS | place.slot as u64) << PLACE_SHIFT | room << MARK_BITS
    }

    #[inline]
    fn is_at(self, life: u64, place: Place) -> bool {
        (self.0 ^ Self::at(life, place, 0)) >> PLACE_SHIFT == 0
    }

    /// The life and the lap, to be compared with a bucket's.
    #[inline]
    pub(crate) fn place(self) -> Cell {
        Cell(self.0)
    }

    /// One more than the bad calls that cannot trip; 0 where nothing is known.
    #[inline]
    fn room(self) -> u64 {
        (self.0 >> MARK_BITS) & (MAX_ROOM + 1)
    }

    /// Nothing is known, and whoever read the word before knows nothing either.
    fn marked(self) -> Self {
        Self(self.0.wrapping_add(1) & MARK)
    }
}

impl<M: Memory + ?Sized> Breaker<'_, M> {
    #[inline]
    pub(crate) fn slack(&self) -> Slack {
        // Acquire: what is summed up afterwards is read afterwards.
        Slack(self.head.slack.load(Ordering::Acquire))
    }

    #[inline]
    fn swap_slack(&self, from: Slack, to: Slack) -> bool {
        // Release: whoever finds the word changed finds what was changed before. What it replaces has been
        // acquired when it was read.
        self.head.slack.compare_exchange(from.0, to.0, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// What is known at this place: where anything is, no good call can trip the breaker.
    #[inline]
    pub(crate) fn slack_at(&self, life: u64, place: Place) -> Option<Slack> {
        let slack = self.slack();
        (slack.room() > 0 && slack.is_at(life, place)).then_some(slack)
    }

    /// As [`Breaker::take_slack`], where the word is still `slack`, and there is one to be taken.
    #[inline(always)]
    pub(crate) fn take_known(&self, slack: Slack) -> bool {
        slack.room() > 1 && self.swap_slack(slack, Slack(slack.0 - ONE))
    }

    /// Takes one of the bad calls that cannot trip, for one that has been counted; else the mark by which
    /// the caller leaves what it then finds out.
    #[inline]
    pub(crate) fn take_slack(&self, life: u64, place: Place) -> Option<Slack> {
        loop {
            let slack = self.slack();
            let some = slack.room() > 1 && slack.is_at(life, place);
            let next = if some { Slack(slack.0 - ONE) } else { slack.marked() };
            if self.swap_slack(slack, next) {
                return (!some).then_some(next);
            }
        }
    }

    /// Leaves how many more bad calls cannot trip, if any number is sure, by what was read after `mark` was.
    pub(crate) fn leave_slack(&self, mark: Slack, life: u64, place: Place, room: Option<u64>) {
        if let Some(room) = room {
            // Losing means that something has changed since: then nothing is known.
            let _ = self.swap_slack(mark, Slack(Slack::at(life, place, room + 1) | mark.marked().0));
        }
    }

    /// Calls that the caller has taken out of the window, or a rule that it has replaced, make untrue
    /// what is known.
    pub(crate) fn forget_slack(&self) {
        loop {
            let slack = self.slack();
            if self.swap_slack(slack, slack.marked()) {
                return;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
#[path = "slack_tests.rs"]
mod tests;
