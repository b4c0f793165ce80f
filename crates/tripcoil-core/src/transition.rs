//! What a call to the core has changed, as a value.

use crate::condition::Counts;
use crate::rule::Rule;
use crate::word::{Mode, State};

/// One step of a breaker to its next generation, made by the call that returns it and by no other.
///
/// Every generation after the one that a breaker was assigned in has exactly one, so that whoever
/// collects them from several threads can put them into their true order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "nobody else will be told of this transition"]
pub struct Transition {
    /// The state before.
    pub from: State,
    /// The state after.
    pub to: State,
    /// The mode before.
    pub from_mode: Mode,
    /// The mode after: the same, except for manual control.
    pub to_mode: Mode,
    /// The generation that begins.
    pub generation: u64,
    /// When, on the caller's clock, in ns.
    pub at: u64,
    /// The value that tripped the breaker, a ratio or a count; 1.0 when it reopens; else none.
    pub value: Option<f64>,
    /// The window's counts when the breaker tripped; a run's length is `bad` where runs are judged.
    pub counts: Counts,
    /// The rule's numbers as the decision used them.
    pub rule: Rule,
    /// Whether it opened because its last probe was given back: then until when it was open before.
    pub given_back: bool,
    /// Until when the breaker is open, in ns; [`NEVER`](crate::time::NEVER) for ever.
    pub open_until: Option<u64>,
}

impl Transition {
    /// Whether the state and mode are what they were: a half-open breaker has given up on its probes
    /// and begun another round. Nobody needs to be told.
    #[must_use]
    pub fn is_forfeit(&self) -> bool {
        self.from == State::HalfOpen && self.to == State::HalfOpen
    }
}
