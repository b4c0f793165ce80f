//! The library's enums as numbers, both ways.

use std::ffi::{CStr, c_char};

use tripcoil::{Cause, Mode, Outcome, Release, State};

use crate::guard::Result;
use crate::status::TRIPCOIL_INVALID_VALUE;

/// Outcome: without an error.
pub const TRIPCOIL_GOOD: i32 = 1;
/// Outcome: with an error.
pub const TRIPCOIL_BAD: i32 = 2;
/// Outcome: with a result that says nothing of the dependency. It counts nowhere.
pub const TRIPCOIL_IGNORED: i32 = 3;
/// Outcome: none, the caller gave up. It counts nowhere, and is listed apart from the ignored ones.
pub const TRIPCOIL_CANCELLED: i32 = 4;

/// State: calls pass.
pub const TRIPCOIL_CLOSED: i32 = 0;
/// State: calls are rejected, until the retry deadline.
pub const TRIPCOIL_OPEN: i32 = 1;
/// State: probes pass.
pub const TRIPCOIL_HALF_OPEN: i32 = 2;

/// Mode: the breaker decides.
pub const TRIPCOIL_NORMAL: i32 = 0;
/// Mode: everything is rejected.
pub const TRIPCOIL_FORCED_OPEN: i32 = 1;
/// Mode: everything passes and is counted.
pub const TRIPCOIL_DISABLED: i32 = 2;
/// Mode: the breaker decides and tells, but rejects nothing.
pub const TRIPCOIL_OBSERVE_ONLY: i32 = 3;

/// Cause of a trip: one that this header does not know.
pub const TRIPCOIL_CAUSE_UNKNOWN: i32 = 0;
/// Cause of a trip: the rule's condition came true.
pub const TRIPCOIL_CAUSE_CONDITION: i32 = 1;
/// Cause of a trip: a probe ended badly.
pub const TRIPCOIL_CAUSE_PROBE_FAILED: i32 = 2;
/// Cause of a trip: the last probe had no outcome.
pub const TRIPCOIL_CAUSE_PROBE_GIVEN_BACK: i32 = 3;

/// The check that Sentinel 1.6 made.
pub const TRIPCOIL_LEGACY_1_6: i32 = 16;
/// The check that Sentinel 1.7 made.
pub const TRIPCOIL_LEGACY_1_7: i32 = 17;

/// The name of an outcome: "good", "bad", "ignored", "cancelled". Static; "unknown" for other numbers.
#[unsafe(no_mangle)]
pub extern "C" fn tripcoil_outcome_name(outcome: i32) -> *const c_char {
    let name: &CStr = match outcome {
        TRIPCOIL_GOOD => c"good",
        TRIPCOIL_BAD => c"bad",
        TRIPCOIL_IGNORED => c"ignored",
        TRIPCOIL_CANCELLED => c"cancelled",
        _ => c"unknown",
    };
    name.as_ptr()
}

/// The name of a state: "closed", "open", "half-open". Static; "unknown" for other numbers.
#[unsafe(no_mangle)]
pub extern "C" fn tripcoil_state_name(state: i32) -> *const c_char {
    let name: &CStr = match state {
        TRIPCOIL_CLOSED => c"closed",
        TRIPCOIL_OPEN => c"open",
        TRIPCOIL_HALF_OPEN => c"half-open",
        _ => c"unknown",
    };
    name.as_ptr()
}

/// The name of a mode: "normal", "forced open", "disabled", "observe only". Static; "unknown" for other
/// numbers.
#[unsafe(no_mangle)]
pub extern "C" fn tripcoil_mode_name(mode: i32) -> *const c_char {
    let name: &CStr = match mode {
        TRIPCOIL_NORMAL => c"normal",
        TRIPCOIL_FORCED_OPEN => c"forced open",
        TRIPCOIL_DISABLED => c"disabled",
        TRIPCOIL_OBSERVE_ONLY => c"observe only",
        _ => c"unknown",
    };
    name.as_ptr()
}

#[inline]
pub(crate) fn outcome(number: i32) -> Result<Outcome> {
    match number {
        TRIPCOIL_GOOD => Ok(Outcome::Good),
        TRIPCOIL_BAD => Ok(Outcome::Bad),
        TRIPCOIL_IGNORED => Ok(Outcome::Ignored),
        TRIPCOIL_CANCELLED => Ok(Outcome::Cancelled),
        _ => Err(TRIPCOIL_INVALID_VALUE),
    }
}

pub(crate) fn mode(number: i32) -> Result<Mode> {
    match number {
        TRIPCOIL_NORMAL => Ok(Mode::Normal),
        TRIPCOIL_FORCED_OPEN => Ok(Mode::ForcedOpen),
        TRIPCOIL_DISABLED => Ok(Mode::Disabled),
        TRIPCOIL_OBSERVE_ONLY => Ok(Mode::ObserveOnly),
        _ => Err(TRIPCOIL_INVALID_VALUE),
    }
}

pub(crate) fn release(number: i32) -> Result<Release> {
    match number {
        TRIPCOIL_LEGACY_1_6 => Ok(Release::V1_6),
        TRIPCOIL_LEGACY_1_7 => Ok(Release::V1_7),
        _ => Err(TRIPCOIL_INVALID_VALUE),
    }
}

pub(crate) fn of_state(state: State) -> i32 {
    match state {
        State::Closed => TRIPCOIL_CLOSED,
        State::Open => TRIPCOIL_OPEN,
        State::HalfOpen => TRIPCOIL_HALF_OPEN,
    }
}

pub(crate) fn of_mode(mode: Mode) -> i32 {
    match mode {
        Mode::Normal => TRIPCOIL_NORMAL,
        Mode::ForcedOpen => TRIPCOIL_FORCED_OPEN,
        Mode::Disabled => TRIPCOIL_DISABLED,
        Mode::ObserveOnly => TRIPCOIL_OBSERVE_ONLY,
    }
}

pub(crate) fn of_cause(cause: Cause) -> i32 {
    match cause {
        Cause::Condition => TRIPCOIL_CAUSE_CONDITION,
        Cause::ProbeFailed => TRIPCOIL_CAUSE_PROBE_FAILED,
        Cause::ProbeGivenBack => TRIPCOIL_CAUSE_PROBE_GIVEN_BACK,
        _ => TRIPCOIL_CAUSE_UNKNOWN,
    }
}
