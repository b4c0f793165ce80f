//! The library's enums by name, both ways.

use tripcoil::{Cause, Mode, Outcome, Release, State, Strategy};

pub(crate) fn of_state(state: State) -> &'static str {
    match state {
        State::Closed => "closed",
        State::Open => "open",
        State::HalfOpen => "halfOpen",
    }
}

pub(crate) fn of_mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Normal => "normal",
        Mode::ForcedOpen => "forcedOpen",
        Mode::Disabled => "disabled",
        Mode::ObserveOnly => "observeOnly",
    }
}

pub(crate) fn mode(name: &str) -> Option<Mode> {
    [Mode::Normal, Mode::ForcedOpen, Mode::Disabled, Mode::ObserveOnly]
        .into_iter()
        .find(|&mode| of_mode(mode) == name)
}

pub(crate) fn of_strategy(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::SlowRatio => "slowRatio",
        Strategy::ErrorRatio => "errorRatio",
        Strategy::ErrorCount => "errorCount",
        Strategy::ConsecutiveErrors => "consecutiveErrors",
        // A strategy that this package does not know cannot come from its rules.
        _ => "unknown",
    }
}

pub(crate) fn strategy(name: &str) -> Option<Strategy> {
    [Strategy::SlowRatio, Strategy::ErrorRatio, Strategy::ErrorCount, Strategy::ConsecutiveErrors]
        .into_iter()
        .find(|&strategy| of_strategy(strategy) == name)
}

pub(crate) fn of_cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Condition => "condition",
        Cause::ProbeFailed => "probeFailed",
        Cause::ProbeGivenBack => "probeGivenBack",
        _ => "unknown",
    }
}

pub(crate) fn release(name: &str) -> Option<Release> {
    match name {
        "1.6" => Some(Release::V1_6),
        "1.7" => Some(Release::V1_7),
        _ => None,
    }
}

/// The low bits of the number that ends a call.
pub(crate) fn outcome(bits: i32) -> Outcome {
    match bits & 3 {
        0 => Outcome::Good,
        1 => Outcome::Bad,
        2 => Outcome::Ignored,
        _ => Outcome::Cancelled,
    }
}
