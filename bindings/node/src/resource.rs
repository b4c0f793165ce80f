//! Resources: what is asked of them beside calls.

use std::rc::Rc;

use napi::{Error, Result, Status};
use napi_derive::napi;
use tripcoil::Mode;

use crate::breaker::NativeBreaker;
use crate::calls::{Calls, Rejections, Seat};
use crate::names;
use crate::rule::Rule;
use crate::time::{count, duration};

/// Why calls are blocked: the same for all calls that one breaker blocks in one state.
#[napi(object, object_from_js = false)]
pub struct Reason {
    /// The state that rejected.
    #[napi(ts_type = "'closed' | 'open' | 'halfOpen'")]
    pub state: &'static str,
    /// The mode that rejected.
    #[napi(ts_type = "'normal' | 'forcedOpen' | 'disabled' | 'observeOnly'")]
    pub mode: &'static str,
    /// The rule.
    pub rule: Option<Rule>,
    /// The rule in words.
    pub rule_text: Option<String>,
}

/// What the legacy check counts.
#[napi(object, object_from_js = false)]
pub struct LegacyStatistics {
    /// Calls admitted.
    pub pass: f64,
    /// Calls rejected.
    pub block: f64,
    /// Calls that ended.
    pub success: f64,
    /// Calls that ended with an error.
    pub exception: f64,
    /// Response times in ms.
    pub rt: f64,
}

/// A named thing to protect. Its calls go through the environment's doors, by its number.
#[napi]
pub struct NativeResource {
    seat: Rc<Seat>,
    number: u32,
    calls: Rc<Calls>,
}

/// The mode of a name that JavaScript has checked.
pub(crate) fn mode(name: &str) -> Result<Mode> {
    names::mode(name).ok_or_else(|| Error::new(Status::InvalidArg, format!("no mode {name:?}")))
}

/// Why the last call that was blocked was blocked.
pub(crate) fn reason(rejections: &Rejections) -> Option<Reason> {
    let last = rejections.last.borrow();
    let blocked = last.as_ref()?;
    let rule = blocked.rule();
    let legacy = || blocked.legacy_rule().map(|rule| format!("legacy {rule:?}"));
    Some(Reason {
        state: names::of_state(blocked.state()),
        mode: names::of_mode(blocked.mode()),
        rule_text: rule.as_ref().map(ToString::to_string).or_else(legacy),
        rule: rule.as_deref().map(Rule::from),
    })
}

impl NativeResource {
    pub(crate) fn new(seat: Rc<Seat>) -> Self {
        let calls = Calls::of_thread();
        Self { number: calls.seat(Rc::clone(&seat)), seat, calls }
    }
}

impl Drop for NativeResource {
    fn drop(&mut self) {
        self.calls.unseat(self.number);
    }
}

#[napi]
impl NativeResource {
    /// Its number for the doors, as long as this object lives.
    #[napi(getter, catch_unwind)]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// As `exit`, with a response time in ms that the caller has measured.
    #[napi(catch_unwind)]
    pub fn exit_with(&self, token: i32, response_time: f64) -> bool {
        self.calls.exit(token, Some(duration(response_time)))
    }

    /// Why the last call that was blocked was blocked.
    #[napi(catch_unwind)]
    pub fn reason(&self) -> Option<Reason> {
        reason(&self.seat.rejections)
    }

    /// The breakers that guard the resource, in the order in which they are asked.
    #[napi(catch_unwind)]
    pub fn breakers(&self) -> Vec<NativeBreaker> {
        self.seat.resource.breakers().into_iter().map(NativeBreaker).collect()
    }

    /// The states of the breakers.
    #[napi(catch_unwind, ts_return_type = "('closed' | 'open' | 'halfOpen')[]")]
    pub fn states(&self) -> Vec<&'static str> {
        self.seat.resource.breakers().iter().map(|breaker| names::of_state(breaker.state())).collect()
    }

    /// Sets the mode of all breakers, and says how many there were.
    #[napi(catch_unwind)]
    pub fn set_mode(&self, name: String) -> Result<u32> {
        Ok(u32::try_from(self.seat.resource.set_mode(mode(&name)?)).unwrap_or(u32::MAX))
    }

    /// Resets all breakers within their modes, and says how many there were.
    #[napi(catch_unwind)]
    pub fn reset(&self) -> u32 {
        u32::try_from(self.seat.resource.reset()).unwrap_or(u32::MAX)
    }

    /// Whether a bounded registry had no place for the name.
    #[napi(catch_unwind)]
    pub fn is_unguarded(&self) -> bool {
        self.seat.resource.is_unguarded()
    }

    /// What the legacy check counts, where it is in use.
    #[napi(catch_unwind)]
    pub fn legacy_statistics(&self) -> Option<LegacyStatistics> {
        self.seat.resource.legacy_statistics().map(|counted| LegacyStatistics {
            pass: count(counted.pass),
            block: count(counted.block),
            success: count(counted.success),
            exception: count(counted.exception),
            rt: count(counted.rt),
        })
    }
}
