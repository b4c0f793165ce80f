//! What a run leaves behind, and the figures that sum it up.

use std::fmt;
use std::time::Duration;

use tripcoil::{State, Strategy};

use crate::client::{Outcome, Sample};

/// One state change of one breaker.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    /// Story time.
    pub(crate) at: Duration,
    /// The breaker's place among its resource's.
    pub(crate) position: usize,
    pub(crate) rule: Strategy,
    pub(crate) from: State,
    pub(crate) to: State,
    pub(crate) why: String,
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, rule, from, to, why, .. } = self;
        let (at, from, to) = (at.as_secs_f64(), state_name(*from), state_name(*to));
        write!(f, "{at:6.2} s  {rule}: {from} -> {to}\n          {why}")
    }
}

/// A state in the letters of the state diagram.
pub(crate) fn state_name(state: State) -> &'static str {
    match state {
        State::Closed => "CLOSED",
        State::Open => "OPEN",
        State::HalfOpen => "HALF_OPEN",
    }
}

/// Everything that happened in one run.
pub(crate) struct Run {
    /// Whose calls: a language, or "without" the breaker.
    pub(crate) name: &'static str,
    /// The rules that guarded it, in order; none: it was unguarded.
    pub(crate) rules: Vec<Strategy>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) turns: Vec<Turn>,
    /// Calls that reached the server while it was sick, as the server counted.
    pub(crate) sick: u64,
}

impl Run {
    pub(crate) fn new(name: &'static str, rules: Vec<Strategy>) -> Self {
        Self { name, rules, samples: Vec::new(), turns: Vec::new(), sick: 0 }
    }

    pub(crate) fn count(&self, outcome: Outcome) -> usize {
        self.samples.iter().filter(|sample| sample.outcome == outcome).count()
    }

    pub(crate) fn figures(&self) -> Figures {
        let sent = self.samples.iter().filter(|sample| sample.outcome != Outcome::Blocked);
        let mut waits: Vec<_> = sent.map(|sample| sample.waited).collect();
        waits.sort_unstable();
        Figures {
            calls: self.samples.len(),
            ok: self.count(Outcome::Ok),
            slow: self.count(Outcome::Slow),
            failed: self.count(Outcome::Failed),
            blocked: self.count(Outcome::Blocked),
            waited: self.samples.iter().map(|sample| sample.waited).sum(),
            sick: self.sick,
            p50: percentile(&waits, 50),
            p99: percentile(&waits, 99),
        }
    }
}

/// A run in numbers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) calls: usize,
    pub(crate) ok: usize,
    pub(crate) slow: usize,
    pub(crate) failed: usize,
    pub(crate) blocked: usize,
    /// What all callers together spent waiting.
    pub(crate) waited: Duration,
    pub(crate) sick: u64,
    /// Percentiles of the wait over the calls that were not blocked.
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// The smallest of `sorted` that at least `percent` of 100 do not exceed; 0 of none.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(range: std::ops::RangeInclusive<u64>) -> Vec<Duration> {
        range.map(Duration::from_millis).collect()
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        assert_eq!(percentile(&millis(1..=200), 99), Duration::from_millis(198));
        assert_eq!(percentile(&millis(1..=5), 50), Duration::from_millis(3));
        assert_eq!(percentile(&millis(1..=1), 99), Duration::from_millis(1));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }

    #[test]
    fn blocked_calls_wait_but_are_no_answers() {
        let sample = |outcome, ms| {
            let waited = Duration::from_millis(ms);
            Sample { outcome, due: Duration::ZERO, waited }
        };
        let mut run = Run::new("Rust", vec![Strategy::SlowRatio]);
        run.samples = vec![
            sample(Outcome::Blocked, 1),
            sample(Outcome::Blocked, 1),
            sample(Outcome::Blocked, 1),
            sample(Outcome::Ok, 10),
            sample(Outcome::Failed, 500),
        ];
        let figures = run.figures();
        assert_eq!(figures.waited, Duration::from_millis(513));
        assert_eq!((figures.calls, figures.blocked), (5, 3));
        assert_eq!(figures.p50, Duration::from_millis(10));
        assert_eq!(figures.p99, Duration::from_millis(500));
    }
}
