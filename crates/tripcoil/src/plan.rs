//! Which slots guard a resource's calls.

/// What a call needs to know of a resource's breakers, in one word: a version, so that a call which
/// meets a reload notices, whether response times are judged, and the slots where there are one or two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan(pub(crate) u64);

/// What a plan is made of, but for its version.
#[derive(Clone, Copy)]
pub(crate) struct Guards<'a> {
    pub(crate) slots: &'a [u32],
    /// Whether one of them judges response times.
    pub(crate) timed: bool,
    /// Whether calls take the long way round, whatever the number of breakers.
    pub(crate) special: bool,
}

/// Two slots, the first in the low half: each one more than its number, and 0 where there is none.
const HALF: u32 = 15;
const SLOT: u64 = (1 << HALF) - 1;
const SLOTS: u64 = (1 << (2 * HALF)) - 1;
const TIMED: u64 = SLOTS + 1;
/// The upper half, so that the lower one tells all else.
const VERSION: u64 = 1 << 32;

impl Plan {
    const NONE: u64 = 0;
    const MANY: u64 = SLOTS;
    const DORMANT: u64 = SLOTS - 1;

    /// Whether nobody guards the calls.
    pub(crate) fn is_empty(self) -> bool {
        self.0 & SLOTS == Self::NONE
    }

    /// The only slot, where there is one and nobody judges response times: the case that is to be fast, told
    /// by one comparison.
    #[inline(always)]
    pub(crate) fn quick(self) -> Option<u32> {
        let slot = (self.0 as u32).wrapping_sub(1);
        (u64::from(slot) < SLOT).then_some(slot)
    }

    /// Whether the breakers that are to guard the calls have not been made.
    pub(crate) fn is_dormant(self) -> bool {
        self.0 & SLOTS == Self::DORMANT
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
            Self::MANY | Self::DORMANT => None,
            slots if slots > SLOT => Some([(slots & SLOT) as u32 - 1, (slots >> HALF) as u32 - 1]),
            _ => None,
        }
    }

    /// Whether a breaker judges response times, so that a call's beginning is wanted.
    #[inline]
    pub(crate) fn is_timed(self) -> bool {
        self.0 & TIMED != 0
    }

    /// The plan that follows this one where no breaker has been made.
    pub(crate) fn next_dormant(self) -> Self {
        self.then(Self::DORMANT)
    }

    /// The plan that follows this one.
    pub(crate) fn next(self, guards: Guards<'_>) -> Self {
        self.then(Self::what(guards))
    }

    fn then(self, what: u64) -> Self {
        Self((self.0 & !(VERSION - 1)).wrapping_add(VERSION) | what)
    }

    /// Whether this plan, whatever its version, is one for these.
    pub(crate) fn is_for(self, guards: Guards<'_>) -> bool {
        self.0 & (VERSION - 1) == Self::what(guards)
    }

    fn what(guards: Guards<'_>) -> u64 {
        (if guards.timed { TIMED } else { 0 }) | Self::slots(guards)
    }

    fn slots(guards: Guards<'_>) -> u64 {
        // The last number that a half could hold is that of `MANY`.
        let fits = |slot: u32| u64::from(slot) + 1 < SLOT;
        match *guards.slots {
            _ if guards.special => Self::MANY,
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

    fn guards(slots: &[u32]) -> Guards<'_> {
        Guards { slots, timed: false, special: false }
    }

    fn plan(slots: &[u32]) -> Plan {
        Plan(0).next(guards(slots))
    }

    #[test]
    fn one_slot_or_two_are_in_the_word() {
        assert!(plan(&[]).is_empty());
        for slot in [0, 1, 32765] {
            assert_eq!((plan(&[slot]).only(), plan(&[slot]).pair()), (Some(slot), None));
            assert_eq!((plan(&[slot, 7]).only(), plan(&[slot, 7]).pair()), (None, Some([slot, 7])));
            assert_eq!(plan(&[7, slot]).pair(), Some([7, slot]));
        }
    }

    #[test]
    fn what_finds_no_room_is_among_many() {
        for slots in [&[32766][..], &[u32::MAX], &[0, 32766], &[32766, 0], &[0, 1, 2]] {
            let many = plan(slots);
            assert_eq!((many.is_empty(), many.only(), many.pair()), (false, None, None), "{slots:?}");
        }
        let special = Plan(0).next(Guards { special: true, ..guards(&[0]) });
        assert_eq!((special.only(), special.pair()), (None, None));
        let dormant = Plan(0).next_dormant();
        assert_eq!((dormant.is_empty(), dormant.only(), dormant.pair()), (false, None, None));
        assert!(dormant.is_dormant() && !special.is_dormant());
    }

    #[test]
    fn each_plan_has_a_version_of_its_own() {
        let one = plan(&[1, 2]);
        let next = one.next(guards(&[1, 2]));
        assert!(one != next && next.is_for(guards(&[1, 2])) && !next.is_for(guards(&[2, 1])));
    }

    #[test]
    fn a_plan_tells_whether_times_are_judged() {
        for slots in [&[][..], &[3], &[3, 7], &[1, 2, 3]] {
            assert_eq!(plan(slots).quick(), plan(slots).only());
        }
        let timed = Guards { timed: true, ..guards(&[1]) };
        let plan = Plan(u64::MAX).next(timed);
        assert_eq!((plan.quick(), plan.only(), plan.is_timed()), (None, Some(1), true));
        assert!(plan.is_for(timed) && !plan.is_for(guards(&[1])));
        assert!(!plan.next(guards(&[1])).is_timed());
    }
}
