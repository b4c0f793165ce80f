//! What observers are told, as plain objects.

use napi_derive::napi;

use crate::names;
use crate::rule::{Rule, limited};
use crate::time::{count, millis};

/// One change of a breaker's state or mode.
#[napi(object, object_from_js = false)]
pub struct Change {
    /// The resource's own name.
    pub resource: String,
    /// The rule, as it was then.
    pub rule: Rule,
    /// The breaker's position among its resource's, from 0.
    pub position: u32,
    /// The state before.
    #[napi(ts_type = "'closed' | 'open' | 'halfOpen'")]
    pub from: &'static str,
    /// The state after.
    #[napi(ts_type = "'closed' | 'open' | 'halfOpen'")]
    pub to: &'static str,
    /// The mode before.
    #[napi(ts_type = "'normal' | 'forcedOpen' | 'disabled' | 'observeOnly'")]
    pub from_mode: &'static str,
    /// The mode after.
    #[napi(ts_type = "'normal' | 'forcedOpen' | 'disabled' | 'observeOnly'")]
    pub to_mode: &'static str,
    /// The value that tripped the breaker.
    pub snapshot: Option<f64>,
    /// When, in ms on the registry's clock.
    pub at: f64,
    /// Grows by one with every change of the registry.
    pub sequence: f64,
    /// The generation that began.
    pub generation: f64,
    /// Where the breaker opened: why.
    pub trip: Option<Trip>,
}

/// Why a breaker opened.
#[napi(object, object_from_js = false)]
pub struct Trip {
    /// What made it open.
    #[napi(ts_type = "'condition' | 'probeFailed' | 'probeGivenBack' | 'unknown'")]
    pub cause: &'static str,
    /// The value that was compared.
    pub value: f64,
    /// The threshold.
    pub threshold: f64,
    /// Calls in the window that were not bad.
    pub good: f64,
    /// Calls in the window that were bad; for consecutive errors, the run.
    pub bad: f64,
    /// Length of the window in ms.
    pub window: f64,
    /// When, in ms on the registry's clock.
    pub at: f64,
    /// Until when the breaker is open, in ms on the registry's clock; infinity for ever.
    pub open_until: f64,
    /// All of it as a sentence.
    pub explanation: String,
}

impl From<&tripcoil::Change> for Change {
    fn from(change: &tripcoil::Change) -> Self {
        Self {
            resource: change.resource.to_string(),
            rule: Rule::from(&*change.rule),
            position: u32::try_from(change.position).unwrap_or(u32::MAX),
            from: names::of_state(change.from),
            to: names::of_state(change.to),
            from_mode: names::of_mode(change.from_mode),
            to_mode: names::of_mode(change.to_mode),
            snapshot: change.snapshot,
            at: millis(change.at),
            sequence: count(change.sequence),
            generation: count(change.generation),
            trip: change.trip.as_ref().map(Trip::from),
        }
    }
}

impl From<&tripcoil::Trip> for Trip {
    fn from(trip: &tripcoil::Trip) -> Self {
        Self {
            cause: names::of_cause(trip.cause),
            value: trip.value,
            threshold: trip.threshold,
            good: count(trip.good),
            bad: count(trip.bad),
            window: millis(trip.window),
            at: millis(trip.at),
            open_until: limited(trip.open_until),
            explanation: trip.to_string(),
        }
    }
}
