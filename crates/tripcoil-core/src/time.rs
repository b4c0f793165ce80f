//! Time as the core sees it: nanoseconds in a `u64`, on whatever clock the caller reads.

/// A time that never comes, and a wait that never ends.
pub const NEVER: u64 = u64::MAX;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Milliseconds as nanoseconds, at most [`NEVER`].
#[must_use]
pub const fn millis(ms: u64) -> u64 {
    ms.saturating_mul(NANOS_PER_MILLI)
}

/// Division by a number known in advance: one multiplication and one correction.
///
/// With `r = floor(2^64 / d)`, the estimate `n * r / 2^64` is the quotient or one less, for every
/// `n` of 64 bits and every `d` from 2 on, so one comparison makes it exact.
#[derive(Clone, Copy)]
pub(crate) struct Divisor {
    pub(crate) by: u64,
    pub(crate) reciprocal: u64,
}

impl Divisor {
    /// Prepares division by `by`, which is at least 2.
    pub(crate) const fn new(by: u64) -> Self {
        let reciprocal = ((1u128 << 64) / by as u128) as u64;
        Self { by, reciprocal }
    }

    /// Quotient and remainder.
    #[inline]
    pub(crate) const fn divide(self, n: u64) -> (u64, u64) {
        let quotient = ((n as u128 * self.reciprocal as u128) >> 64) as u64;
        let rest = n.wrapping_sub(quotient.wrapping_mul(self.by));
        if rest >= self.by { (quotient + 1, rest - self.by) } else { (quotient, rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::Divisor;

    #[test]
    fn division_by_reciprocal_is_exact_at_every_edge() {
        let divisors = [2, 3, 7, 1_000_000, 999_999_999_999, 1 << 40, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
        for by in divisors {
            let divisor = Divisor::new(by);
            for k in [0, 1, 2, 3, 1000, u64::MAX / by] {
                let edge = by.saturating_mul(k);
                for n in [edge.saturating_sub(1), edge, edge.saturating_add(1), u64::MAX] {
                    assert_eq!(divisor.divide(n), (n / by, n % by), "{n} / {by}");
                }
            }
        }
    }
}
