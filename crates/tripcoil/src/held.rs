//! What an admitted call holds: its permits, each with the slot that gave it.

use tripcoil_core::Permit;

const NO_SLOT: u32 = u32::MAX;
/// In the second place, as [`NO_SLOT`]: a quick plan has admitted the call.
const QUICK: u32 = u32::MAX - 1;
/// In the second place: the permits, and whether the legacy check is in use, are in `more`.
const MORE: u32 = u32::MAX - 2;
/// No call begins then: what would is 0 ns long at most.
const UNTIMED: u64 = u64::MAX;

/// The permits of one call. Two find room in place, so that calls under up to two rules allocate
/// nothing. All words, and one question tells the usual case from the others: so it stays in registers.
#[derive(Clone, PartialEq)]
pub(crate) struct Held {
    /// The first slot in the low half, the second in the high half.
    slots: u64,
    permits: [Permit; 2],
    /// When the call began, where somebody judges response times; else `UNTIMED`.
    started: u64,
    more: Option<Box<More>>,
}

#[derive(Clone, Default, PartialEq)]
struct More {
    permits: Vec<(u32, Permit)>,
    legacy: bool,
}

const fn pair(first: u32, second: u32) -> u64 {
    (second as u64) << 32 | first as u64
}

impl Held {
    #[inline]
    pub(crate) fn new(started: Option<u64>) -> Self {
        Self::one(NO_SLOT, Permit::NONE, started)
    }

    #[inline]
    pub(crate) fn one(slot: u32, permit: Permit, started: Option<u64>) -> Self {
        let started = started.unwrap_or(UNTIMED);
        Self { slots: pair(slot, NO_SLOT), permits: [permit, Permit::NONE], started, more: None }
    }

    /// What a plan that is [quick](crate::plan::Plan::quick) comes to.
    #[inline(always)]
    pub(crate) fn quick(slot: u32, permit: Permit) -> Self {
        Self { slots: pair(slot, QUICK), ..Self::one(slot, permit, None) }
    }

    #[inline]
    pub(crate) fn pair(slots: [u32; 2], permits: [Permit; 2], started: Option<u64>) -> Self {
        let [first, second] = slots;
        Self { slots: pair(first, second), permits, started: started.unwrap_or(UNTIMED), more: None }
    }

    #[inline]
    fn first_slot(&self) -> u32 {
        self.slots as u32
    }

    #[inline]
    fn second(&self) -> u32 {
        (self.slots >> 32) as u32
    }

    pub(crate) fn push(&mut self, slot: u32, permit: Permit) {
        match (self.first_slot(), self.second()) {
            (NO_SLOT, NO_SLOT) => (self.slots, self.permits[0]) = (pair(slot, NO_SLOT), permit),
            (first, NO_SLOT) => (self.slots, self.permits[1]) = (pair(first, slot), permit),
            _ => self.more().permits.push((slot, permit)),
        }
    }

    pub(crate) fn set_legacy(&mut self) {
        self.more().legacy = true;
    }

    /// What does not find room in place; a second permit moves there.
    fn more(&mut self) -> &mut More {
        let second = self.second();
        self.slots = pair(self.first_slot(), MORE);
        let more = self.more.get_or_insert_default();
        if second < MORE {
            more.permits.push((second, self.permits[1]));
        }
        more
    }

    /// Whether nobody wants to know how the call ends.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.slots == pair(NO_SLOT, NO_SLOT)
    }

    /// When the call began, where somebody judges response times.
    #[inline]
    pub(crate) fn started(&self) -> Option<u64> {
        (self.started != UNTIMED).then_some(self.started)
    }

    /// Whether a quick plan has admitted the call: it has one permit then, its [first](Held::first).
    #[inline(always)]
    pub(crate) fn is_quick(&self) -> bool {
        self.second() == QUICK
    }

    /// The first permit; of [`NO_SLOT`] where there is none.
    #[inline(always)]
    pub(crate) fn first(&self) -> (u32, Permit) {
        (self.first_slot(), self.permits[0])
    }

    /// Whether the legacy check is in use.
    pub(crate) fn is_legacy(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.legacy)
    }

    /// Whether there is one permit, the [first](Held::first).
    #[inline]
    pub(crate) fn is_one(&self) -> bool {
        self.second() >= QUICK && self.first_slot() != NO_SLOT
    }

    /// The permits, where there are two.
    #[inline]
    pub(crate) fn both(&self) -> Option<[(u32, Permit); 2]> {
        let (first, second) = (self.first_slot(), self.second());
        let [one, two] = self.permits;
        (second < MORE).then_some([(first, one), (second, two)])
    }

    pub(crate) fn permits(&self) -> impl Iterator<Item = (u32, Permit)> {
        let placed = [self.first_slot(), self.second()].into_iter().zip(self.permits);
        let placed = placed.filter(|(slot, _)| *slot < MORE);
        placed.chain(self.more.iter().flat_map(|more| more.permits.iter().copied()))
    }
}
