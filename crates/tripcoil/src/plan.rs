//! Which slots guard a resource's calls.

/// What a call needs to know of a resource's breakers, in one word: a version, so that a call which
/// meets a reload notices, and the number of the only slot where there is just one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan(pub(crate) u64);

const SLOT: u64 = u32::MAX as u64;

impl Plan {
    const NONE: u64 = 0;
    const MANY: u64 = SLOT;

    /// Whether nobody guards the calls.
    pub(crate) fn is_empty(self) -> bool {
        self.0 & SLOT == Self::NONE
    }

    /// The only slot, where there is one.
    #[inline]
    pub(crate) fn only(self) -> Option<u32> {
        match self.0 & SLOT {
            Self::NONE | Self::MANY => None,
            slot => Some(slot as u32 - 1),
        }
    }

    /// The plan that follows this one. A `special` resource is one whose calls take the long way round.
    pub(crate) fn next(self, slots: &[u32], special: bool) -> Self {
        Self((self.0 & !SLOT).wrapping_add(1 << 32) | Self::what(slots, special))
    }

    /// Whether this plan, whatever its version, is one for these slots.
    pub(crate) fn is_for(self, slots: &[u32], special: bool) -> bool {
        self.0 & SLOT == Self::what(slots, special)
    }

    fn what(slots: &[u32], special: bool) -> u64 {
        match slots {
            _ if special => Self::MANY,
            [] => Self::NONE,
            [slot] => u64::from(*slot) + 1,
            _ => Self::MANY,
        }
    }
}
