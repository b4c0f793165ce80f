//! What an admitted call holds: its permits, each with the slot that gave it.

use tripcoil_core::Permit;

const NO_SLOT: u32 = u32::MAX;
/// No call begins then: what would is 0 ns long at most.
const UNTIMED: u64 = u64::MAX;

/// The permits of one call. Two find room in place, so that calls under up to two rules allocate
/// nothing, and the whole can stay in registers.
#[derive(Clone)]
pub(crate) struct Held {
    slots: [u32; 2],
    permits: [Permit; 2],
    /// When the call began, where somebody judges response times; else `UNTIMED`.
    started: u64,
    more: Option<Box<More>>,
}

#[derive(Clone, Default)]
struct More {
    permits: Vec<(u32, Permit)>,
    legacy: bool,
}

impl Held {
    #[inline]
    pub(crate) fn new(started: Option<u64>) -> Self {
        let started = started.unwrap_or(UNTIMED);
        Self { slots: [NO_SLOT; 2], permits: [Permit::NONE; 2], started, more: None }
    }

    #[inline]
    pub(crate) fn one(slot: u32, permit: Permit, started: Option<u64>) -> Self {
        Self { slots: [slot, NO_SLOT], permits: [permit, Permit::NONE], ..Self::new(started) }
    }

    pub(crate) fn push(&mut self, slot: u32, permit: Permit) {
        match self.slots.iter().position(|&slot| slot == NO_SLOT) {
            Some(i) => (self.slots[i], self.permits[i]) = (slot, permit),
            None => self.more.get_or_insert_default().permits.push((slot, permit)),
        }
    }

    /// Whether nobody wants to know how the call ends.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.slots[0] == NO_SLOT && self.more.is_none()
    }

    /// When the call began, where somebody judges response times.
    #[inline]
    pub(crate) fn started(&self) -> Option<u64> {
        (self.started != UNTIMED).then_some(self.started)
    }

    /// Whether the legacy check is in use.
    #[inline]
    pub(crate) fn is_legacy(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.legacy)
    }

    pub(crate) fn set_legacy(&mut self) {
        self.more.get_or_insert_default().legacy = true;
    }

    /// The only permit, where nobody judges response times: the case that is to be fast.
    #[inline]
    pub(crate) fn only_untimed(&self) -> Option<(u32, Permit)> {
        let more = self.slots[1] != NO_SLOT || self.more.is_some() || self.started != UNTIMED;
        let only = self.slots[0] != NO_SLOT && !more;
        only.then_some((self.slots[0], self.permits[0]))
    }

    pub(crate) fn permits(&self) -> impl Iterator<Item = (u32, Permit)> {
        let placed = self.slots.into_iter().zip(self.permits).filter(|(slot, _)| *slot != NO_SLOT);
        placed.chain(self.more.iter().flat_map(|more| more.permits.iter().copied()))
    }
}
