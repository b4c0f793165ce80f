//! When a breaker trips and for how long it stays open, as plain numbers.

use crate::time::millis;

/// What makes a closed breaker trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// The share of calls that took longer than `slow_after` nanoseconds.
    SlowRatio {
        /// The share, from 0 to 1.
        threshold: f64,
        /// The longest response time that is not slow, in ns.
        slow_after: u64,
    },
    /// The share of calls that ended with an error, from 0 to 1.
    ErrorRatio(f64),
    /// How many calls ended with an error: finite, at least 0.
    ErrorCount(f64),
    /// How many calls ended with an error since the last that did not: finite, at least 1.
    ConsecutiveErrors(f64),
}

/// One breaker's rule. Lengths are in ms, as rules are written; the engine's rule documents and
/// their defaults (spec section 7) come down to this.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// What trips the breaker.
    pub condition: Condition,
    /// Whether reaching the threshold trips, or only exceeding it. Sentinel exceeds, sentinel-golang reaches.
    pub inclusive: bool,
    /// Fewer calls than this in the window never trip (not asked by consecutive errors). At least 1.
    pub min_request_amount: u64,
    /// Length of the window, a multiple of `buckets`.
    pub stat_interval_ms: u64,
    /// Number of buckets in the window, 1 to 1000.
    pub buckets: u32,
    /// How long the breaker stays open before it lets a probe through. At least 1.
    pub retry_timeout_ms: u64,
    /// How many probes must end well before the breaker closes, 1 to 65535.
    pub probe_num: u32,
    /// How long after its admission the last probe may take before the round is forfeited; 0: for ever.
    pub probe_timeout_ms: u64,
    /// What the wait grows by with every reopening in a row: finite, at least 1.
    pub backoff_factor: f64,
    /// What the wait does not grow beyond (never below `retry_timeout_ms`). At least 1.
    pub max_retry_timeout_ms: u64,
}

/// A number of a [`Rule`] that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The field's name.
    pub field: &'static str,
    /// What it may be.
    pub allowed: &'static str,
}

impl core::fmt::Display for RuleError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} must be {}", self.field, self.allowed)
    }
}

impl core::error::Error for RuleError {}

impl Rule {
    /// The most buckets that a window can have.
    pub const MAX_BUCKETS: u32 = 1000;
    /// The most probes that a round can have.
    pub const MAX_PROBES: u32 = 65_535;

    /// A rule with Sentinel's defaults: at least 5 calls in one bucket of 1000 ms, one probe, a lease
    /// as long as the breaker stays open, no backoff, and a threshold that must be exceeded.
    #[must_use]
    pub const fn new(condition: Condition, retry_timeout_ms: u64) -> Self {
        Self {
            condition,
            inclusive: false,
            min_request_amount: 5,
            stat_interval_ms: 1000,
            buckets: 1,
            retry_timeout_ms,
            probe_num: 1,
            probe_timeout_ms: retry_timeout_ms,
            backoff_factor: 1.0,
            max_retry_timeout_ms: 86_400_000,
        }
    }

    /// Names the first number that is out of its range.
    ///
    /// # Errors
    /// The field and what it may be.
    pub fn check(&self) -> Result<(), RuleError> {
        let (threshold, allowed) = match self.condition {
            Condition::SlowRatio { threshold, .. } | Condition::ErrorRatio(threshold) => {
                ((0.0..=1.0).contains(&threshold), "a number from 0 to 1")
            }
            Condition::ErrorCount(count) => {
                (count.is_finite() && count >= 0.0, "a finite number, at least 0")
            }
            Condition::ConsecutiveErrors(count) => {
                (count.is_finite() && count >= 1.0, "a finite number, at least 1")
            }
        };
        let divides = self.buckets > 0 && self.stat_interval_ms.is_multiple_of(u64::from(self.buckets));
        let factor = self.backoff_factor;
        let checks = [
            ("threshold", threshold, allowed),
            ("min_request_amount", self.min_request_amount >= 1, "at least 1"),
            ("stat_interval_ms", self.stat_interval_ms >= 1, "at least 1 ms"),
            (
                "buckets",
                divides && self.buckets <= Self::MAX_BUCKETS,
                "from 1 to 1000, and divide stat_interval_ms",
            ),
            ("retry_timeout_ms", self.retry_timeout_ms >= 1, "at least 1 ms"),
            ("probe_num", (1..=Self::MAX_PROBES).contains(&self.probe_num), "from 1 to 65535"),
            ("backoff_factor", factor.is_finite() && factor >= 1.0, "a finite number, at least 1"),
            ("max_retry_timeout_ms", self.max_retry_timeout_ms >= 1, "at least 1 ms"),
        ];
        match checks.into_iter().find(|(_, valid, _)| !valid) {
            Some((field, _, allowed)) => Err(RuleError { field, allowed }),
            None => Ok(()),
        }
    }

    /// Whether a breaker of `other` may be kept for this rule with its window (spec D7): the kind of
    /// condition and the shape of the window are the same.
    #[must_use]
    pub fn same_shape(&self, other: &Rule) -> bool {
        core::mem::discriminant(&self.condition) == core::mem::discriminant(&other.condition)
            && self.stat_interval_ms == other.stat_interval_ms
            && self.buckets == other.buckets
    }

    /// The wait in ns after the `n`-th reopening in a row: the open time multiplied `n` times by the
    /// backoff factor in binary64, stopping at its limit, and rounded down once to a whole ms.
    pub(crate) fn wait(&self, reopenings: u64) -> u64 {
        let limit = self.max_retry_timeout_ms.max(self.retry_timeout_ms) as f64;
        let mut wait = self.retry_timeout_ms as f64;
        if self.backoff_factor > 1.0 {
            for _ in 0..reopenings {
                if wait >= limit {
                    break;
                }
                wait *= self.backoff_factor;
            }
        }
        millis(wait.min(limit) as u64)
    }

    /// How long a probe's lease is, in ns: [`NEVER`](crate::time::NEVER) where it does not end.
    pub(crate) fn lease(&self) -> u64 {
        if self.probe_timeout_ms == 0 { crate::time::NEVER } else { millis(self.probe_timeout_ms) }
    }

    /// Whether a call that ended so is bad to this rule: slow ratio judges the time only, the others
    /// the error only.
    pub(crate) fn is_bad(&self, error: bool, response_time: u64) -> bool {
        match self.condition {
            Condition::SlowRatio { slow_after, .. } => response_time > slow_after,
            _ => error,
        }
    }
}
