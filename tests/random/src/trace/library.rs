//! The model's words in the library's.

use tripcoil_model::{Mode, Outcome, State};

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
