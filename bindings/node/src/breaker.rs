//! Breakers: what one rule makes of one resource.

use napi_derive::napi;

use crate::change::Trip;
use crate::names;
use crate::resource::mode;
use crate::rule::Rule;
use crate::time::{count, millis};

/// One rule's breaker on one resource.
#[napi]
pub struct NativeBreaker(pub(crate) tripcoil::Breaker);

/// A breaker at one time.
#[napi(object, object_from_js = false)]
pub struct Snapshot {
    /// The state.
    #[napi(ts_type = "'closed' | 'open' | 'halfOpen'")]
    pub state: &'static str,
    /// The mode.
    #[napi(ts_type = "'normal' | 'forcedOpen' | 'disabled' | 'observeOnly'")]
    pub mode: &'static str,
    /// Grows with every change, and every forfeited probe round.
    pub generation: f64,
    /// Calls in the window that were not bad.
    pub good: f64,
    /// Calls in the window that were bad.
    pub bad: f64,
    /// Failed calls since the last good one.
    pub run: f64,
    /// In ms; none where nothing is waited for, or without a limit.
    pub retry_after: Option<f64>,
    /// Since the rule was loaded.
    pub totals: Totals,
}

/// What a breaker has seen since its rule was loaded.
#[napi(object, object_from_js = false)]
pub struct Totals {
    /// Calls admitted that have ended.
    pub passed: f64,
    /// Calls rejected.
    pub blocked: f64,
    /// Outcomes that counted as good.
    pub good: f64,
    /// Outcomes that counted as bad.
    pub bad: f64,
    /// Outcomes ignored.
    pub ignored: f64,
    /// Calls given up.
    pub cancelled: f64,
    /// Outcomes that came after the breaker had moved on.
    pub late: f64,
    /// Calls that an observing breaker would have rejected.
    pub observed: f64,
}

#[napi]
impl NativeBreaker {
    /// The rule, as it was when the breaker was asked for.
    #[napi(catch_unwind)]
    pub fn rule(&self) -> Rule {
        Rule::from(&**self.0.rule())
    }

    /// The rule in Sentinel's fields: JSON on one line.
    #[napi(catch_unwind)]
    pub fn rule_json(&self) -> String {
        self.0.rule().to_json()
    }

    /// Whether a reload has removed the rule.
    #[napi(catch_unwind)]
    pub fn is_removed(&self) -> bool {
        self.0.is_removed()
    }

    /// State, counts, deadlines and totals.
    #[napi(catch_unwind)]
    pub fn snapshot(&self) -> Snapshot {
        let taken = self.0.snapshot();
        let totals = taken.totals;
        Snapshot {
            state: names::of_state(taken.state),
            mode: names::of_mode(taken.mode),
            generation: count(taken.generation),
            good: count(taken.good),
            bad: count(taken.bad),
            run: count(taken.run),
            retry_after: taken.retry_after.map(millis),
            totals: Totals {
                passed: count(totals.passed),
                blocked: count(totals.blocked),
                good: count(totals.good),
                bad: count(totals.bad),
                ignored: count(totals.ignored),
                cancelled: count(totals.cancelled),
                late: count(totals.late),
                observed: count(totals.observed),
            },
        }
    }

    /// Why it last opened.
    #[napi(catch_unwind)]
    pub fn last_trip(&self) -> Option<Trip> {
        self.0.last_trip().as_ref().map(Trip::from)
    }

    /// Sets the mode, and says whether the breaker was still in use.
    #[napi(catch_unwind)]
    pub fn set_mode(&self, name: String) -> napi::Result<bool> {
        Ok(self.0.set_mode(mode(&name)?))
    }

    /// Closes the breaker within its mode, and says whether it was still in use.
    #[napi(catch_unwind)]
    pub fn reset(&self) -> bool {
        self.0.reset()
    }
}
