//! The model's words in the library's, and back.

use std::time::Duration;

use tripcoil::{Rule, Strategy};
use tripcoil_model::{Mode, ModelRule, Outcome, State};

/// The library's rule in the model's words; what it does not tell is as in `like`.
pub(crate) fn rule(rule: &Rule, like: &ModelRule) -> ModelRule {
    let ms = |time: Duration| time.as_millis() as u64;
    let (count, slow_ratio_threshold) = match rule.strategy() {
        Strategy::SlowRatio => {
            (rule.max_allowed_rt().map_or(f64::NAN, |time| ms(time) as f64), rule.threshold())
        }
        _ => (rule.threshold(), like.slow_ratio_threshold),
    };
    ModelRule {
        id: rule.id().map(str::to_owned),
        resource: rule.resource().to_owned(),
        regex: rule.regex(),
        limit_app: rule.limit_app().to_owned(),
        grade: rule.strategy().grade(),
        count,
        slow_ratio_threshold,
        inclusive: rule.inclusive(),
        min_request_amount: rule.min_request_amount(),
        stat_interval_ms: rule.stat_interval_ms(),
        buckets: rule.stat_sliding_window_bucket_count().into(),
        time_window_ms: ms(rule.retry_timeout()),
        probe_num: rule.probe_num().into(),
        probe_timeout_ms: rule.probe_timeout().map_or(0, ms),
        backoff_factor: rule.backoff_factor(),
        max_retry_timeout_ms: ms(rule.max_retry_timeout()),
    }
}

pub(crate) fn state(state: State) -> tripcoil::State {
    match state {
        State::Closed => tripcoil::State::Closed,
        State::Open => tripcoil::State::Open,
        State::HalfOpen => tripcoil::State::HalfOpen,
    }
}

pub(crate) fn mode(mode: Mode) -> tripcoil::Mode {
    match mode {
        Mode::Normal => tripcoil::Mode::Normal,
        Mode::ForcedOpen => tripcoil::Mode::ForcedOpen,
        Mode::Disabled => tripcoil::Mode::Disabled,
        Mode::ObserveOnly => tripcoil::Mode::ObserveOnly,
    }
}

pub(crate) fn outcome(outcome: Outcome) -> tripcoil::Outcome {
    match outcome {
        Outcome::Good => tripcoil::Outcome::Good,
        Outcome::Bad => tripcoil::Outcome::Bad,
        Outcome::Ignored => tripcoil::Outcome::Ignored,
        Outcome::Cancelled => tripcoil::Outcome::Cancelled,
    }
}
