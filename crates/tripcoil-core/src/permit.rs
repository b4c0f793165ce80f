//! What an admitted call holds until it ends.

use crate::word::GENERATION_BITS;

/// One breaker's leave for one call: the generation it was given in, and whether it is a probe.
///
/// Give it back with [`Breaker::complete`](crate::Breaker::complete),
/// [`Breaker::cancel`](crate::Breaker::cancel) or [`Breaker::ignore`](crate::Breaker::ignore). One
/// that never comes back costs a closed breaker nothing; a probe's place is taken over once its
/// lease has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a permit that is not given back keeps a probe's place until its lease ends"]
pub struct Permit(u64);

impl Permit {
    /// A permit that nobody has given, to fill a place with. It is late everywhere once a breaker has a
    /// rule.
    pub const NONE: Self = Self(0);

    #[inline]
    pub(crate) fn new(generation: u64, probe: bool) -> Self {
        debug_assert!(generation >> GENERATION_BITS == 0);
        Self(generation << 1 | u64::from(probe))
    }

    /// The breaker's generation when the call was admitted.
    #[inline]
    #[must_use]
    pub fn generation(self) -> u64 {
        self.0 >> 1
    }

    /// Whether the call probes a half-open breaker.
    #[inline]
    #[must_use]
    pub fn is_probe(self) -> bool {
        self.0 & 1 == 1
    }
}
