//! Which slots guard a resource's calls.

/// What a call needs to know of a resource's breakers, in one word: a version, so that a call which
/// meets a reload notices, and the slots where there are one or two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan(pub(crate) u64);

/// Two slots, the first in the low half: each one more than its number, and 0 where there is none.
const SLOTS: u64 = u32::MAX as u64;
const HALF: u32 = 16;
const SLOT: u64 = (1 << HALF) - 1;

impl Plan {
    const NONE: u64 = 0;
    const MANY: u64 = SLOTS;

    /// Whether nobody guards the calls.
    pub(crate) fn is_empty(self) -> bool {
        self.0 & SLOTS == Self::NONE
    }

    /// The only slot, where there is one.
    #[inline]
    pub(crate) fn only(self) -> Option<u32> {
        match self.0 & SLOTS {
            Self::NONE => None,
            slot if slot <= SLOT => Some(slot as u32 - 1),
            _ => None,
        }
    }

    /// The slots, where there are two.
    #[inline]
    pub(crate) fn pair(self) -> Option<[u32; 2]> {
        match self.0 & SLOTS {
            Self::MANY => None,
            slots if slots > SLOT => Some([(slots & SLOT) as u32 - 1, (slots >> HALF) as u32 - 1]),
            _ => None,
        }
    }

    /// The plan that follows this one. A `special` resource is one whose calls take the long way round.
    pub(crate) fn next(self, slots: &[u32], special: bool) -> Self {
        Self((self.0 & !SLOTS).wrapping_add(SLOTS + 1) | Self::what(slots, special))
    }

    /// Whether this plan, whatever its version, is one for these slots.
    pub(crate) fn is_for(self, slots: &[u32], special: bool) -> bool {
        self.0 & SLOTS == Self::what(slots, special)
    }

    fn what(slots: &[u32], special: bool) -> u64 {
        // The last number that a half could hold is that of `MANY`.
        let fits = |slot: u32| u64::from(slot) + 1 < SLOT;
        match *slots {
            _ if special => Self::MANY,
            [] => Self::NONE,
            [slot] if fits(slot) => u64::from(slot) + 1,
            [first, second] if fits(first) && fits(second) => {
                (u64::from(first) + 1) | (u64::from(second) + 1) << HALF
            }
            _ => Self::MANY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(slots: &[u32]) -> Plan {
        Plan(0).next(slots, false)
    }

    #[test]
    fn one_slot_or_two_are_in_the_word() {
        assert!(plan(&[]).is_empty());
        for slot in [0, 1, 65533] {
            assert_eq!((plan(&[slot]).only(), plan(&[slot]).pair()), (Some(slot), None));
            assert_eq!((plan(&[slot, 7]).only(), plan(&[slot, 7]).pair()), (None, Some([slot, 7])));
            assert_eq!(plan(&[7, slot]).pair(), Some([7, slot]));
        }
    }

    #[test]
    fn what_finds_no_room_is_among_many() {
        for slots in [&[65534][..], &[u32::MAX], &[0, 65534], &[65534, 0], &[0, 1, 2]] {
            let many = plan(slots);
            assert_eq!((many.is_empty(), many.only(), many.pair()), (false, None, None), "{slots:?}");
        }
        let special = Plan(0).next(&[0], true);
        assert_eq!((special.only(), special.pair()), (None, None));
    }

    #[test]
    fn each_plan_has_a_version_of_its_own() {
        let one = plan(&[1, 2]);
        let next = one.next(&[1, 2], false);
        assert!(one != next && next.is_for(&[1, 2], false) && !next.is_for(&[2, 1], false));
    }
}
