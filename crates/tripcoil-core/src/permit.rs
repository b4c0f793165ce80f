//! What an admitted call holds until it ends.

use crate::word::{State, Word};

/// One breaker's leave for one call: its deciding word when it admitted the call, which tells the
/// generation and whether the call is a probe.
///
/// Give it back with [`Breaker::complete`](crate::Breaker::complete),
/// [`Breaker::cancel`](crate::Breaker::cancel) or [`Breaker::ignore`](crate::Breaker::ignore). One
/// that never comes back costs a closed breaker nothing; a probe's place is taken over once its
/// lease has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a permit that is not given back keeps a probe's place until its lease ends"]
pub struct Permit(Word);

impl Permit {
    /// A permit that nobody has given, to fill a place with. It is late everywhere once a breaker has a
    /// rule.
    pub const NONE: Self = Self(Word(0));

    #[inline]
    pub(crate) fn new(word: Word) -> Self {
        Self(word)
    }

    /// Whether the breaker, whose word is `now`, is as it was when it admitted this call, and admits all.
    #[inline]
    pub(crate) fn holds(self, now: Word) -> bool {
        self.0 == now && now.admits_all()
    }

    /// The breaker's generation when the call was admitted.
    #[inline]
    #[must_use]
    pub fn generation(self) -> u64 {
        self.0.generation()
    }

    /// Whether the call probes a half-open breaker.
    #[inline]
    #[must_use]
    pub fn is_probe(self) -> bool {
        self.0.state() == State::HalfOpen
    }
}
