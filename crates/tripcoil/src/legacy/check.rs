//! One rule of the legacy check: its cut, its run of slow admissions, and its verdict.

use std::sync::Arc;

use super::statistics::Statistics;
use crate::rules::{LegacyRule, Release};

/// Both amounts of release 1.6, where a rule cannot set them.
const FIXED_AMOUNT: u64 = 5;

/// A rule with what it remembers between admissions.
pub(super) struct Check {
    pub(super) rule: Arc<LegacyRule>,
    pub(super) release: Release,
    /// The end of the cut, in ms; `None` while the rule is not cut.
    cut_until: Option<u64>,
    /// Admissions in a row that found the average response time too high.
    slow_run: u64,
}

impl Check {
    pub(super) fn new(release: Release, rule: Arc<LegacyRule>) -> Self {
        Check { rule, release, cut_until: None, slow_run: 0 }
    }

    /// Whether the rule admits a call now; if not, the ms until its cut ends.
    pub(super) fn admit(&mut self, statistics: &Statistics, now_ms: u64) -> Result<(), u64> {
        if let Some(left) = self.cut_left(now_ms) {
            return Err(left);
        }
        if self.healthy(statistics, now_ms) {
            return Ok(());
        }
        let length = self.cut_length();
        self.cut_until = Some(now_ms.saturating_add(length));
        Err(length)
    }

    /// Whether the rule remembers nothing that could matter at `now_ms`.
    pub(super) fn is_like_new(&self, now_ms: u64) -> bool {
        match self.cut_until {
            Some(until) => until <= now_ms,
            None => self.slow_run == 0,
        }
    }

    /// The rest of the cut, clearing one that is over.
    fn cut_left(&mut self, now_ms: u64) -> Option<u64> {
        let until = self.cut_until?;
        if until <= now_ms {
            self.cut_until = None;
            self.slow_run = 0;
            return None;
        }
        // A clock that stepped back must not make the cut longer than it was when it began.
        let left = (until - now_ms).min(self.cut_length());
        self.cut_until = Some(now_ms.saturating_add(left));
        Some(left)
    }

    fn cut_length(&self) -> u64 {
        self.rule.time_window_s.saturating_mul(1000)
    }

    fn healthy(&mut self, statistics: &Statistics, now_ms: u64) -> bool {
        match self.rule.grade {
            0 => self.fast_enough(statistics.last_second(now_ms).average_rt()),
            1 => self.ratio_low(statistics, now_ms),
            _ => (statistics.exceptions_of_the_minute(now_ms) as f64) < self.rule.count,
        }
    }

    fn fast_enough(&mut self, average_rt: f64) -> bool {
        if average_rt < self.rule.count {
            self.slow_run = 0;
            return true;
        }
        self.slow_run = self.slow_run.saturating_add(1);
        self.slow_run < self.amount(self.rule.rt_slow_request_amount)
    }

    fn ratio_low(&self, statistics: &Statistics, now_ms: u64) -> bool {
        let second = statistics.last_second(now_ms);
        let enough = self.amount(self.rule.min_request_amount);
        if second.pass.saturating_add(second.block) < enough {
            return true;
        }
        if second.success <= second.exception && second.exception < enough {
            return true;
        }
        (second.exception as f64 / second.success as f64) < self.rule.count
    }

    fn amount(&self, of_rule: u64) -> u64 {
        match self.release {
            Release::V1_6 => FIXED_AMOUNT,
            Release::V1_7 => of_rule,
        }
    }
}
