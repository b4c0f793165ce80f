//! What a breaker counts in: its buckets, and stripes that spread their good words over threads.

use crate::breaker::Breaker;
use crate::bucket::Bucket;
use crate::sync::{AtomicU64, zeroed};
use crate::totals::Tally;

/// The memory of one breaker's window, wherever it is: an array of buckets, or more for breakers that
/// many threads use.
///
/// A stripe holds one more word for good calls per bucket. A call that ended well is counted in the stripe
/// of its thread, where there are stripes, so that threads do not take a cache line from each other; all
/// else is as if there were one word, since a stripe's word counts only while its bucket's good word says
/// the same life and lap. Stripes may appear while the breaker is in use, and stay.
pub trait Memory {
    /// The buckets.
    fn buckets(&self) -> &[Bucket];

    /// How many stripes there are.
    #[inline]
    fn stripes(&self) -> usize {
        0
    }

    /// A stripe: a line for every [`Line::WORDS`] buckets.
    #[inline]
    fn stripe(&self, _number: usize) -> &[Line] {
        &[]
    }

    /// The stripe of the calling thread; none where there are no stripes.
    #[inline]
    fn own_stripe(&self) -> Option<&[Line]> {
        None
    }

    /// Two threads have met at one word. Whoever can makes stripes, once this has happened often enough.
    #[cold]
    fn met(&self) {}
}

impl Memory for [Bucket] {
    #[inline]
    fn buckets(&self) -> &[Bucket] {
        self
    }
}

impl<const N: usize> Memory for [Bucket; N] {
    #[inline]
    fn buckets(&self) -> &[Bucket] {
        self
    }
}

/// Part of a stripe, on cache lines of its own: words for good calls, valid when zeroed.
#[repr(C, align(128))]
pub struct Line(pub(crate) [AtomicU64; Line::WORDS]);

impl Line {
    /// How many buckets a line has words for.
    pub const WORDS: usize = 16;

    /// How many lines a stripe has for so many buckets.
    #[must_use]
    pub const fn for_buckets(buckets: usize) -> usize {
        buckets.div_ceil(Self::WORDS)
    }
}

zeroed! {
    /// A line that counts nothing.
    pub Line(zeroed_words())
}

#[cfg(not(loom))]
const fn zeroed_words() -> [AtomicU64; Line::WORDS] {
    [const { AtomicU64::new(0) }; Line::WORDS]
}

#[cfg(loom)]
fn zeroed_words() -> [AtomicU64; Line::WORDS] {
    core::array::from_fn(|_| AtomicU64::new(0))
}

impl Default for Line {
    fn default() -> Self {
        Self::new()
    }
}

/// The word of the bucket at `slot`.
#[inline]
fn word(stripe: &[Line], slot: usize) -> Option<&AtomicU64> {
    stripe.get(slot / Line::WORDS).map(|line| &line.0[slot % Line::WORDS])
}

impl<M: Memory + ?Sized> Breaker<'_, M> {
    /// The word of the bucket at `slot` in this thread's stripe, where there are stripes.
    #[inline(always)]
    pub(crate) fn own_word(&self, slot: usize) -> Option<&AtomicU64> {
        word(self.memory.own_stripe()?, slot)
    }

    /// The buckets that the rule uses.
    pub(crate) fn window(&self) -> &[Bucket] {
        let buckets = self.memory.buckets();
        &buckets[..self.head.shape.buckets().min(buckets.len())]
    }

    /// The words of the bucket at `slot` beside its own: one a stripe.
    pub(crate) fn spread(&self, slot: usize) -> impl Iterator<Item = &AtomicU64> {
        (0..self.memory.stripes()).filter_map(move |number| word(self.memory.stripe(number), slot))
    }

    /// All words of the bucket at `slot`.
    pub(crate) fn words_of(&self, slot: usize) -> impl Iterator<Item = (Tally, &AtomicU64)> {
        let own = self.memory.buckets().get(slot).into_iter();
        let own = own.flat_map(|bucket| [(Tally::Good, &bucket.good), (Tally::Bad, &bucket.bad)]);
        own.chain(self.spread(slot).map(|word| (Tally::Good, word)))
    }

    /// All words of the window.
    pub(crate) fn words(&self) -> impl Iterator<Item = (Tally, &AtomicU64)> {
        (0..self.window().len()).flat_map(|slot| self.words_of(slot))
    }
}

#[cfg(all(test, not(loom)))]
#[path = "memory_tests.rs"]
mod tests;
