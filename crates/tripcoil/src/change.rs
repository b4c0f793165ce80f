//! What an observer is told, and a trip that explains itself.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tripcoil_core::time::NEVER;
use tripcoil_core::{Condition, Counts, Mode, State};

use crate::story::Told;
use crate::{Rule, Strategy};

/// One change of a breaker's state or mode.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The resource's own name, also where a regex or default rule guards it.
    pub resource: Arc<str>,
    /// The rule, as it was when the change was made.
    pub rule: Arc<Rule>,
    /// The breaker's position among its resource's, from 0.
    pub position: usize,
    /// The state before.
    pub from: State,
    /// The state after.
    pub to: State,
    /// The mode before.
    pub from_mode: Mode,
    /// The mode after: the same, except for manual control.
    pub to_mode: Mode,
    /// The value that tripped the breaker, a ratio or a count; 1.0 where it reopened; otherwise none.
    pub snapshot: Option<f64>,
    /// When, on the registry's clock.
    pub at: Duration,
    /// Grows by one with every change that the registry announces, from 1.
    pub sequence: u64,
    /// The breaker's generation that began with the change.
    pub generation: u64,
    /// Where the breaker opened: why.
    pub trip: Option<Trip>,
}

/// Why a breaker opened, in one record. Its `Display` is a sentence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trip {
    /// The resource's own name.
    pub resource: Arc<str>,
    /// The rule.
    pub rule: Arc<Rule>,
    /// What made it open.
    pub cause: Cause,
    /// The value that was compared with the threshold: a ratio, or a count; 1.0 where it reopened.
    pub value: f64,
    /// The threshold as the decision used it.
    pub threshold: f64,
    /// Calls in the window that were not bad.
    pub good: u64,
    /// Calls in the window that were bad; for consecutive errors, the run.
    pub bad: u64,
    /// Length of the window.
    pub window: Duration,
    /// The breaker's generation that began.
    pub generation: u64,
    /// When, on the registry's clock.
    pub at: Duration,
    /// Until when the breaker is open, on the registry's clock; none for ever.
    pub open_until: Option<Duration>,
}

/// What makes a breaker open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// The rule's condition came true over the window.
    Condition,
    /// A probe ended badly.
    ProbeFailed,
    /// The last probe was given back without an outcome: open until when it was before.
    ProbeGivenBack,
}

impl Change {
    pub(crate) fn new(resource: &str, told: &Told, sequence: u64) -> Self {
        let transition = told.transition;
        Self {
            resource: resource.into(),
            rule: Arc::clone(&told.rule),
            position: told.position,
            from: transition.from,
            to: transition.to,
            from_mode: transition.from_mode,
            to_mode: transition.to_mode,
            snapshot: transition.value,
            at: Duration::from_nanos(transition.at),
            sequence,
            generation: transition.generation,
            trip: Trip::new(resource, told),
        }
    }
}

impl Trip {
    pub(crate) fn new(resource: &str, told: &Told) -> Option<Self> {
        let transition = told.transition;
        let open_until = transition.open_until?;
        let Counts { good, bad } = transition.counts;
        let threshold = match transition.rule.condition {
            Condition::SlowRatio { threshold, .. } => threshold,
            Condition::ErrorRatio(threshold)
            | Condition::ErrorCount(threshold)
            | Condition::ConsecutiveErrors(threshold) => threshold,
        };
        let cause = match transition.from {
            State::Closed => Cause::Condition,
            _ if transition.given_back => Cause::ProbeGivenBack,
            _ => Cause::ProbeFailed,
        };
        Some(Self {
            resource: resource.into(),
            rule: Arc::clone(&told.rule),
            cause,
            value: transition.value.unwrap_or(1.0),
            threshold,
            good,
            bad,
            window: Duration::from_millis(transition.rule.stat_interval_ms),
            generation: transition.generation,
            at: Duration::from_nanos(transition.at),
            open_until: (open_until != NEVER).then(|| Duration::from_nanos(open_until)),
        })
    }

    fn condition(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.good.saturating_add(self.bad);
        let (bad, window) = (self.bad, self.window);
        match self.rule.strategy() {
            Strategy::SlowRatio => write!(f, "{bad} of {total} calls in {window:?} were slow")?,
            Strategy::ErrorRatio => write!(f, "{bad} of {total} calls in {window:?} failed")?,
            Strategy::ErrorCount => write!(f, "{bad} calls in {window:?} failed")?,
            Strategy::ConsecutiveErrors => write!(f, "{bad} calls in a row failed")?,
        }
        let relation = if self.value > self.threshold { "above" } else { "at" };
        write!(f, " ({} is {relation} the threshold {})", self.value, self.threshold)
    }
}

/// For people: the rest is in the fields.
fn whole_millis(time: Duration) -> Duration {
    Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

impl fmt::Display for Trip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} opened at {:?}: ", self.resource, whole_millis(self.at))?;
        match self.cause {
            Cause::Condition => self.condition(f)?,
            Cause::ProbeFailed => f.write_str("a probe ended badly")?,
            Cause::ProbeGivenBack => f.write_str("its probe had no outcome")?,
        }
        match self.open_until {
            Some(until) => write!(f, "; open until {:?}", whole_millis(until))?,
            None => f.write_str("; open for ever")?,
        }
        write!(f, " (generation {}; {})", self.generation, self.rule)
    }
}
