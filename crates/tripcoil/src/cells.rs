//! What a breaker counts in: its buckets, and stripes once threads have met at them often enough.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use tripcoil_core::{Bucket, Line, Memory};

use crate::slot::Slot;

/// How often two threads must have met at one word before a breaker gets stripes: two threads that call
/// now and then do not need them, two that do nothing else have met so often within a millisecond.
const MEETINGS: u32 = 64;
const MAX_STRIPES: usize = 32;

/// A breaker's stripes. None until threads contend for it; what is made stays.
pub(crate) type Stripes = OnceLock<Box<[Box<[Line]>]>>;

impl Memory for Slot {
    #[inline]
    fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    #[inline]
    fn stripes(&self) -> usize {
        self.stripes.get().map_or(0, |stripes| stripes.len())
    }

    #[inline]
    fn stripe(&self, number: usize) -> &[Line] {
        self.stripes.get().and_then(|stripes| stripes.get(number)).map_or(&[], |stripe| stripe)
    }

    #[inline(always)]
    fn own_stripe(&self) -> Option<&[Line]> {
        // Asked first, since it is where a call has been already.
        if self.meetings.load(Ordering::Relaxed) <= MEETINGS {
            return None;
        }
        let stripes = self.stripes.get()?;
        stripes.get(thread_number() & (stripes.len() - 1)).map(|stripe| &**stripe)
    }

    #[cold]
    #[inline(never)]
    fn met(&self) {
        // One thread makes them, and nobody waits for it.
        if self.meetings.fetch_add(1, Ordering::Relaxed) == MEETINGS {
            let lines = Line::for_buckets(self.buckets.len());
            let stripe = |_| (0..lines).map(|_| Line::new()).collect();
            let _ = self.stripes.set((0..stripe_count()).map(stripe).collect());
        }
    }
}

/// Twice as many as processors, so that threads seldom share one; a power of two.
fn stripe_count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| {
        let processors = available_parallelism().map_or(1, usize::from);
        (2 * processors).next_power_of_two().min(MAX_STRIPES)
    })
}

/// The calling thread's number: threads are numbered in the order in which they ask.
#[inline]
fn thread_number() -> usize {
    thread_local! {
        static NUMBER: Cell<usize> = const { Cell::new(0) };
    }
    NUMBER.with(|number| match number.get() {
        0 => number_thread(number),
        known => known,
    })
}

#[cold]
#[inline(never)]
fn number_thread(number: &Cell<usize>) -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    number.set(NEXT.fetch_add(1, Ordering::Relaxed));
    number.get()
}
