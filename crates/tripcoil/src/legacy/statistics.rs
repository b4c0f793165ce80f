//! What one resource's calls came to, as the legacy check counts it.

use super::window::Window;

/// A response time counts as no more than this, in ms, so that one hanging call does not decide.
const RESPONSE_TIME_CAP_MS: u64 = 4900;

/// Sums over the last second (two 500 ms buckets) and the minute (sixty 1 s buckets).
pub(super) struct Statistics {
    second: Window<LegacyStatistics, 2>,
    minute: Window<u64, 60>,
}

/// The sums of a resource's last second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LegacyStatistics {
    /// Calls admitted.
    pub pass: u64,
    /// Calls rejected.
    pub block: u64,
    /// Calls that ended, with an error or without.
    pub success: u64,
    /// Calls that ended with an error.
    pub exception: u64,
    /// Response times of the calls that ended, in ms, each capped at 4900.
    pub rt: u64,
}

impl Statistics {
    pub(super) fn new() -> Self {
        Statistics { second: Window::new(500), minute: Window::new(1000) }
    }

    pub(super) fn count_pass(&mut self, now_ms: u64) {
        add(&mut self.second.current(now_ms).pass, 1);
    }

    pub(super) fn count_block(&mut self, now_ms: u64) {
        add(&mut self.second.current(now_ms).block, 1);
    }

    pub(super) fn count_end(&mut self, now_ms: u64, response_time_ms: u64, error: bool) {
        let second = self.second.current(now_ms);
        add(&mut second.success, 1);
        add(&mut second.rt, response_time_ms.min(RESPONSE_TIME_CAP_MS));
        if error {
            add(&mut second.exception, 1);
            add(self.minute.current(now_ms), 1);
        }
    }

    pub(super) fn last_second(&self, now_ms: u64) -> LegacyStatistics {
        let mut sum = LegacyStatistics::default();
        for bucket in self.second.live(now_ms) {
            add(&mut sum.pass, bucket.pass);
            add(&mut sum.block, bucket.block);
            add(&mut sum.success, bucket.success);
            add(&mut sum.exception, bucket.exception);
            add(&mut sum.rt, bucket.rt);
        }
        sum
    }

    pub(super) fn exceptions_of_the_minute(&self, now_ms: u64) -> u64 {
        self.minute.live(now_ms).fold(0, |sum, count| sum.saturating_add(*count))
    }
}

impl LegacyStatistics {
    /// Mean response time in ms; 0 while no call has ended.
    pub(super) fn average_rt(&self) -> f64 {
        if self.success == 0 { 0.0 } else { self.rt as f64 / self.success as f64 }
    }
}

fn add(to: &mut u64, n: u64) {
    *to = to.saturating_add(n);
}
