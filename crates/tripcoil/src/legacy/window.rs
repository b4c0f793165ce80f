//! A sliding window of plain counts on the clock's own grid.

/// The last `N` buckets of `bucket_ms` each; bucket starts are multiples of `bucket_ms`.
pub(super) struct Window<C, const N: usize> {
    bucket_ms: u64,
    slots: [Slot<C>; N],
}

/// What one bucket counted, and which: its start divided by the bucket length.
///
/// An unused slot claims number 0 with nothing counted, which adds nothing to any sum.
#[derive(Clone, Copy, Default)]
struct Slot<C> {
    number: u64,
    counts: C,
}

impl<C: Copy + Default, const N: usize> Window<C, N> {
    pub(super) fn new(bucket_ms: u64) -> Self {
        Window { bucket_ms, slots: [Slot::default(); N] }
    }

    /// The bucket to count in at `now_ms`.
    ///
    /// Where the clock stepped back and the slot already belongs to a later time, that later
    /// bucket takes the count: it must not be lost, and must not empty what is newer.
    pub(super) fn current(&mut self, now_ms: u64) -> &mut C {
        let number = now_ms / self.bucket_ms;
        let slot = &mut self.slots[(number % N as u64) as usize];
        if slot.number < number {
            *slot = Slot { number, counts: C::default() };
        }
        &mut slot.counts
    }

    /// The buckets that have not expired at `now_ms`.
    ///
    /// Those of a later time, left by a clock that stepped back, are among them.
    pub(super) fn live(&self, now_ms: u64) -> impl Iterator<Item = &C> {
        let number = now_ms / self.bucket_ms;
        let oldest = number.saturating_sub(N as u64 - 1);
        self.slots.iter().filter(move |slot| slot.number >= oldest).map(|slot| &slot.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::Window;

    fn sum(window: &Window<u64, 2>, now_ms: u64) -> u64 {
        window.live(now_ms).sum()
    }

    #[test]
    fn a_bucket_counts_until_the_one_two_after_it_begins() {
        let mut window = Window::<u64, 2>::new(500);
        *window.current(499) += 1;
        *window.current(500) += 10;
        assert_eq!(sum(&window, 999), 11);
        assert_eq!(sum(&window, 1000), 10);
        assert_eq!(sum(&window, 1499), 10);
        assert_eq!(sum(&window, 1500), 0);
    }

    #[test]
    fn a_recycled_bucket_starts_from_nothing() {
        let mut window = Window::<u64, 2>::new(500);
        *window.current(0) += 1;
        *window.current(1000) += 10;
        assert_eq!(sum(&window, 1000), 10);
    }

    #[test]
    fn a_count_from_before_a_step_back_stays_and_takes_older_ones() {
        let mut window = Window::<u64, 2>::new(500);
        *window.current(5000) += 1;
        *window.current(0) += 10;
        assert_eq!(sum(&window, 0), 11);
        assert_eq!(sum(&window, 5999), 11);
        assert_eq!(sum(&window, 6000), 0);
    }

    #[test]
    fn the_end_of_time_is_a_time_like_any_other() {
        let mut window = Window::<u64, 2>::new(500);
        *window.current(u64::MAX) += 1;
        assert_eq!(sum(&window, u64::MAX), 1);
        assert_eq!(sum(&window, 0), 1);
    }
}
