//! A bucket: two words, for good calls and for bad ones, each of which says what it counts for.
//!
//! | bits | what |
//! | --- | --- |
//! | 0 to 35 | count |
//! | 36 to 51 | lap, its low 16 bits |
//! | 52 to 63 | life of the window: a bucket of another life than the breaker's is empty |
//!
//! The good word is its bucket's master: the bad word, and the words of stripes, count only where they
//! say the same life and lap as it does, and whoever adds to one of them sees to it that the good word is
//! there first.

use crate::sync::{AtomicU64, Ordering, zeroed};

pub(crate) const COUNT_BITS: u32 = 36;
pub(crate) const MAX_COUNT: u64 = (1 << COUNT_BITS) - 1;
pub(crate) const LAP_BITS: u32 = 16;

/// One bucket of a window: 16 bytes, valid when zeroed.
#[repr(C)]
pub struct Bucket {
    pub(crate) good: AtomicU64,
    pub(crate) bad: AtomicU64,
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
pub(crate) struct Cell(pub(crate) u64);

impl Cell {
    #[inline]
    pub(crate) fn new(life: u64, lap: u64, count: u64) -> Self {
        let lap = lap & ((1 << LAP_BITS) - 1);
        Self((life << LAP_BITS | lap) << COUNT_BITS | count)
    }

    #[inline]
    pub(crate) fn same_place(self, other: Self) -> bool {
        (self.0 ^ other.0) >> COUNT_BITS == 0
    }

    pub(crate) fn count(self) -> u64 {
        self.0 & MAX_COUNT
    }

    pub(crate) fn life(self) -> u64 {
        self.0 >> (COUNT_BITS + LAP_BITS)
    }

    /// How many laps this is after `lap`: exact within 32768 laps.
    pub(crate) fn laps_after(self, lap: u64) -> i64 {
        i64::from((self.0 >> COUNT_BITS) as u16 as i16).wrapping_sub(i64::from(lap as i16)) as i16 as i64
    }
}

/// Release: what moved before is visible to whoever acquires the new value. Acquire: what this is compared with is
/// read after it.
#[inline]
pub(crate) fn exchange(target: &AtomicU64, from: Cell, to: Cell) -> bool {
    target.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}
