//! The check that Sentinel made before release 1.8: no half-open state, a cut that ends by itself.
//!
//! Kept for those who migrate, apart from the breaker and never chosen by guessing. It is plain
//! sequential code; whoever shares it between threads locks it.

mod check;
mod statistics;
mod window;

use std::sync::Arc;

use check::Check;
use statistics::Statistics;

pub use statistics::LegacyStatistics;

use crate::rules::{LegacyRule, Release};

/// The statistics of one resource, and its rules with their cuts.
pub(crate) struct LegacyCheck {
    statistics: Statistics,
    checks: Vec<Check>,
}

/// A call was rejected.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LegacyBlock {
    /// The rule that rejected it: the first in list order.
    pub(crate) rule: Arc<LegacyRule>,
    /// Time until that rule's cut ends, in ms.
    pub(crate) retry_after_ms: u64,
}

impl LegacyCheck {
    pub(crate) fn new() -> Self {
        LegacyCheck { statistics: Statistics::new(), checks: Vec::new() }
    }

    /// Replaces the rules; the statistics stay.
    ///
    /// A rule that is loaded already, for the same release, keeps its cut and its slow run, as a
    /// breaker would keep its state; any other begins with neither. The same rule twice counts
    /// once.
    pub(crate) fn set_rules(&mut self, release: Release, rules: Vec<Arc<LegacyRule>>) {
        let mut old = std::mem::take(&mut self.checks);
        for rule in rules {
            if self.checks.iter().any(|check| check.rule == rule) {
                continue;
            }
            let kept = old.iter().position(|old| old.release == release && old.rule == rule);
            self.checks.push(match kept {
                Some(position) => old.swap_remove(position),
                None => Check::new(release, rule),
            });
        }
    }

    /// Asks rule by rule for a call at `now_ms`, then counts it as passed or blocked.
    pub(crate) fn enter(&mut self, now_ms: u64) -> Result<(), LegacyBlock> {
        for check in &mut self.checks {
            if let Err(retry_after_ms) = check.admit(&self.statistics, now_ms) {
                self.statistics.count_block(now_ms);
                return Err(LegacyBlock { rule: Arc::clone(&check.rule), retry_after_ms });
            }
        }
        self.statistics.count_pass(now_ms);
        Ok(())
    }

    /// Counts the end of a call that passed. One without an outcome is not reported here.
    pub(crate) fn exit(&mut self, now_ms: u64, response_time_ms: u64, error: bool) {
        self.statistics.count_end(now_ms, response_time_ms, error);
    }

    /// Whether it equals a new one: nothing cut, no slow run, nothing counted that could matter.
    pub(crate) fn is_like_new(&self, now_ms: u64) -> bool {
        self.checks.iter().all(|check| check.is_like_new(now_ms))
            && self.statistics.last_second(now_ms) == LegacyStatistics::default()
            && self.statistics.exceptions_of_the_minute(now_ms) == 0
    }

    /// The sums of the last second at `now_ms`.
    pub(crate) fn statistics(&self, now_ms: u64) -> LegacyStatistics {
        self.statistics.last_second(now_ms)
    }
}

#[cfg(test)]
mod tests;
