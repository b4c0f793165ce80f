//! The error of a call that was not made.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tripcoil_core::time::NEVER;
use tripcoil_core::{Mode, Rejection, State};

use crate::Rule;
use crate::raw::RawBlocked;
use crate::resource::Inner;
use crate::rules::LegacyRule;

/// A breaker rejected the call: which, why, and for how long.
///
/// Cheap to make: nothing is looked up or formatted before it is asked for.
#[derive(Clone)]
pub struct Blocked {
    resource: Arc<Inner>,
    by: By,
}

#[derive(Clone)]
enum By {
    Breaker { slot: u32, rejection: Rejection },
    Legacy { rule: Arc<LegacyRule>, retry_after: Duration },
}

impl Blocked {
    pub(crate) fn by_breaker(resource: &Arc<Inner>, slot: u32, rejection: Rejection) -> Self {
        Self { resource: Arc::clone(resource), by: By::Breaker { slot, rejection } }
    }

    pub(crate) fn by_legacy(resource: &Arc<Inner>, rule: Arc<LegacyRule>, retry_after: Duration) -> Self {
        Self { resource: Arc::clone(resource), by: By::Legacy { rule, retry_after } }
    }

    /// Why the call was rejected, without the resource.
    #[doc(hidden)]
    #[must_use]
    pub fn raw(&self) -> RawBlocked {
        match &self.by {
            By::Breaker { slot, rejection } => RawBlocked::Breaker { slot: *slot, rejection: *rejection },
            By::Legacy { retry_after, .. } => RawBlocked::Legacy(*retry_after),
        }
    }

    /// The resource's name.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource.name
    }

    /// The rule whose breaker rejected the call, with its present numbers where it has been edited since
    /// under the same id. None for the legacy check, and where the slot has had several rules since.
    #[must_use]
    pub fn rule(&self) -> Option<Arc<Rule>> {
        match &self.by {
            By::Breaker { slot, rejection } => {
                self.resource.slot(*slot).story().rule_of(rejection.generation())
            }
            By::Legacy { .. } => None,
        }
    }

    /// The rule of the legacy check that rejected the call.
    #[must_use]
    pub fn legacy_rule(&self) -> Option<&LegacyRule> {
        match &self.by {
            By::Breaker { .. } => None,
            By::Legacy { rule, .. } => Some(rule),
        }
    }

    /// The state that rejected the call. [`State::Closed`] where the breaker is forced open.
    #[must_use]
    pub fn state(&self) -> State {
        match &self.by {
            By::Breaker { rejection, .. } => rejection.state(),
            By::Legacy { .. } => State::Open,
        }
    }

    /// The mode that rejected the call.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match &self.by {
            By::Breaker { rejection, .. } => rejection.mode(),
            By::Legacy { .. } => Mode::Normal,
        }
    }

    /// How long until the next probe may go: while open, until the retry deadline; while half-open,
    /// until the probes' lease ends. None without a limit.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match &self.by {
            By::Breaker { rejection, .. } if rejection.retry_after() == NEVER => None,
            By::Breaker { rejection, .. } => Some(Duration::from_nanos(rejection.retry_after())),
            By::Legacy { retry_after, .. } => Some(*retry_after),
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match (self.mode(), self.state()) {
            (Mode::ForcedOpen, _) => "is forced open",
            (_, State::HalfOpen) => "is half-open and its probes are out",
            (_, _) => "is open",
        };
        write!(f, "call blocked: the breaker of {:?} {why}", self.resource())?;
        if let Some(after) = self.retry_after() {
            write!(f, ", next probe in {after:?}")?;
        }
        match (self.rule(), self.legacy_rule()) {
            (Some(rule), _) => write!(f, " ({rule})"),
            (None, Some(rule)) => write!(f, " (legacy {rule:?})"),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Debug for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocked")
            .field("resource", &self.resource())
            .field("rule", &self.rule())
            .field("state", &self.state())
            .field("mode", &self.mode())
            .field("retry_after", &self.retry_after())
            .finish_non_exhaustive()
    }
}

impl Error for Blocked {
    /// A mark, which every wrapper passes on: transparent ones, boxes, references, I/O errors.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&Rejected)
    }
}

/// The root cause of every rejection, by which it is known through whatever wraps it.
#[derive(Debug)]
struct Rejected;

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rejected by a circuit breaker")
    }
}

impl Error for Rejected {}

impl Blocked {
    /// Whether `error` is this library's own rejection, or was caused by one (spec D8).
    #[must_use]
    pub fn is_cause_of(error: &(dyn Error + 'static)) -> bool {
        let mut next = Some(error);
        while let Some(error) = next {
            if error.is::<Rejected>() {
                return true;
            }
            next = error.source();
        }
        false
    }
}
