//! A rule as the core wants it.

use tripcoil_core::{Condition, Rule as Compiled};

use crate::{Rule, Strategy};

pub(crate) fn compile(rule: &Rule) -> Compiled {
    let threshold = rule.threshold();
    // A limit beyond 2^64 ns is still exceeded by a time that is cut to that.
    let condition = match rule.strategy() {
        Strategy::SlowRatio => {
            Condition::SlowRatio { threshold, slow_after: rule.slow_after_ns().min(u64::MAX - 1) }
        }
        Strategy::ErrorRatio => Condition::ErrorRatio(threshold),
        Strategy::ErrorCount => Condition::ErrorCount(threshold),
        Strategy::ConsecutiveErrors => Condition::ConsecutiveErrors(threshold),
    };
    Compiled {
        condition,
        inclusive: rule.inclusive(),
        min_request_amount: rule.min_request_amount(),
        stat_interval_ms: millis(rule.stat_interval()),
        buckets: rule.stat_sliding_window_bucket_count(),
        retry_timeout_ms: millis(rule.retry_timeout()),
        probe_num: rule.probe_num(),
        probe_timeout_ms: rule.probe_timeout().map_or(0, millis),
        backoff_factor: rule.backoff_factor(),
        max_retry_timeout_ms: millis(rule.max_retry_timeout()),
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
