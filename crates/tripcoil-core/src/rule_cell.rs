//! A rule that can be replaced while it is read: readers get the old one or the new one, never a mixture.

use crate::rule::{Condition, Rule};
use crate::sync::{AtomicU64, Ordering, fence, zeroed};

const FIELDS: usize = 9;
const SLOW_AFTER: usize = 1;

/// Two copies of a rule and the count of its replacements, whose parity tells the copy to read.
///
/// A replacement writes the idle copy and then publishes it. A reader that was overtaken twice might
/// see its copy being written: it finds the version moved, and reads again.
pub(crate) struct RuleCell {
    version: AtomicU64,
    copies: [[AtomicU64; FIELDS]; 2],
}

zeroed! {
    pub(crate) RuleCell { version: AtomicU64::new(0), copies: zeroed_copies() }
}

#[cfg(not(loom))]
const fn zeroed_copies() -> [[AtomicU64; FIELDS]; 2] {
    [const { [const { AtomicU64::new(0) }; FIELDS] }; 2]
}

#[cfg(loom)]
fn zeroed_copies() -> [[AtomicU64; FIELDS]; 2] {
    core::array::from_fn(|_| core::array::from_fn(|_| AtomicU64::new(0)))
}

impl RuleCell {
    /// Replaces the rule. One caller at a time: two at once could publish a mixture.
    pub(crate) fn write(&self, rule: &Rule) {
        let next = self.version.load(Ordering::Relaxed).wrapping_add(1);
        for (field, value) in self.copies[(next & 1) as usize].iter().zip(pack(rule)) {
            // Release: pairs with the fence in `read`, so that whoever sees this value sees that the
            // version has left the one in which this copy was the current one.
            field.store(value, Ordering::Release);
        }
        // Release: pairs with the load at the top of `read`, which then finds the copy complete.
        self.version.store(next, Ordering::Release);
    }

    /// The longest response time that is not slow, in ns; 0 where the rule does not judge them. By itself,
    /// the one of an edited rule or the one before the edit is as good as the other.
    #[inline]
    pub(crate) fn slow_after(&self) -> u64 {
        let version = self.version.load(Ordering::Acquire);
        // Acquire: pairs with the store in `write`. A breaker's word that is read after a later rule's
        // value shows that the breaker has been retired in between.
        self.copies[(version & 1) as usize][SLOW_AFTER].load(Ordering::Acquire)
    }

    /// The rule as it is.
    pub(crate) fn read(&self) -> Rule {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let copy = &self.copies[(version & 1) as usize];
            // Relaxed: a torn copy is told by the version below.
            let fields = core::array::from_fn(|i| copy[i].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if self.version.load(Ordering::Relaxed) == version {
                return unpack(fields);
            }
        }
    }
}

fn pack(rule: &Rule) -> [u64; FIELDS] {
    let (kind, threshold, slow_after) = match rule.condition {
        Condition::SlowRatio { threshold, slow_after } => (0, threshold, slow_after),
        Condition::ErrorRatio(threshold) => (1, threshold, 0),
        Condition::ErrorCount(count) => (2, count, 0),
        Condition::ConsecutiveErrors(count) => (3, count, 0),
    };
    let small = kind | u64::from(rule.inclusive) << 2 | u64::from(rule.probe_num) << 3;
    [
        threshold.to_bits(),
        slow_after,
        rule.min_request_amount,
        rule.stat_interval_ms,
        rule.retry_timeout_ms,
        rule.probe_timeout_ms,
        rule.backoff_factor.to_bits(),
        rule.max_retry_timeout_ms,
        small | u64::from(rule.buckets) << 32,
    ]
}

fn unpack(fields: [u64; FIELDS]) -> Rule {
    let [threshold, slow_after, min, interval, retry, probe, backoff, max, small] = fields;
    let threshold = f64::from_bits(threshold);
    Rule {
        condition: match small & 3 {
            0 => Condition::SlowRatio { threshold, slow_after },
            1 => Condition::ErrorRatio(threshold),
            2 => Condition::ErrorCount(threshold),
            _ => Condition::ConsecutiveErrors(threshold),
        },
        inclusive: small & 4 != 0,
        min_request_amount: min,
        stat_interval_ms: interval,
        buckets: (small >> 32) as u32,
        retry_timeout_ms: retry,
        probe_num: (small >> 3) as u32 & Rule::MAX_PROBES,
        probe_timeout_ms: probe,
        backoff_factor: f64::from_bits(backoff),
        max_retry_timeout_ms: max,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_field_comes_back() {
        let cell = RuleCell::new();
        for condition in [
            Condition::SlowRatio { threshold: 0.3, slow_after: 7 },
            Condition::ErrorRatio(0.5),
            Condition::ErrorCount(2.5),
            Condition::ConsecutiveErrors(9.0),
        ] {
            let rule = Rule {
                inclusive: true,
                min_request_amount: 11,
                stat_interval_ms: 12_000,
                buckets: 1000,
                probe_num: Rule::MAX_PROBES,
                probe_timeout_ms: 13,
                backoff_factor: 1.5,
                max_retry_timeout_ms: 14,
                ..Rule::new(condition, 15)
            };
            cell.write(&rule);
            assert_eq!(cell.read(), rule);
        }
    }
}
