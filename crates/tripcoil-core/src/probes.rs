//! The places of one probe round, in one word.
//!
//! | bits | what |
//! | --- | --- |
//! | 0 to 15 | free: places that nobody holds |
//! | 16 to 31 | out: probes that have not ended |
//! | 32 | whether a probe has ended well |
//! | 33 to 63 | the round's generation, its low bits |
//!
//! No place free and no probe out ends the round: well if a probe has ended well (then all have), and
//! without a result otherwise, when the last probe was given back and nobody had ended well.

const FREE_BITS: u32 = 16;
const OUT_SHIFT: u32 = 16;
const WELL_SHIFT: u32 = 32;
const TAG_SHIFT: u32 = 33;
const PLACES: u64 = (1 << FREE_BITS) - 1;

/// One reading of the probe word. Pure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probes(pub(crate) u64);

/// How a round stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// Probes are out, or places are free.
    Running,
    /// All its probes have ended well.
    Passed,
    /// The last of its probes was given back, and none had ended well.
    Abandoned,
}

impl Probes {
    /// The round of `generation` with its first probe out.
    pub(crate) fn first(generation: u64, number: u32) -> Self {
        let free = u64::from(number).clamp(1, PLACES) - 1;
        Self(generation << TAG_SHIFT | 1 << OUT_SHIFT | free)
    }

    pub(crate) fn is_of(self, generation: u64) -> bool {
        self.0 >> TAG_SHIFT == generation << TAG_SHIFT >> TAG_SHIFT
    }

    pub(crate) fn free(self) -> u64 {
        self.0 & PLACES
    }

    pub(crate) fn out(self) -> u64 {
        self.0 >> OUT_SHIFT & PLACES
    }

    fn any_well(self) -> bool {
        self.0 >> WELL_SHIFT & 1 == 1
    }

    pub(crate) fn round(self) -> Round {
        match (self.out() == 0 && self.free() == 0, self.any_well()) {
            (false, _) => Round::Running,
            (true, true) => Round::Passed,
            (true, false) => Round::Abandoned,
        }
    }

    /// One more probe out. There is a free place.
    pub(crate) fn taken(self) -> Self {
        Self(self.0 + (1 << OUT_SHIFT) - 1)
    }

    /// A probe has ended well. One is out.
    pub(crate) fn passed(self) -> Self {
        Self((self.0 | 1 << WELL_SHIFT) - (1 << OUT_SHIFT))
    }

    /// A probe has given its place back. One is out.
    pub(crate) fn given_back(self) -> Self {
        let back = Self(self.0 - (1 << OUT_SHIFT) + 1);
        if back.out() == 0 && !back.any_well() { Self(back.0 & !PLACES) } else { back }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_passes_when_every_probe_has_ended_well() {
        let round = Probes::first(7, 3).taken().passed();
        assert_eq!((round.out(), round.free(), round.round()), (1, 1, Round::Running));
        let round = round.passed().taken();
        assert_eq!(round.round(), Round::Running);
        assert_eq!(round.passed().round(), Round::Passed);
    }

    #[test]
    fn a_round_without_probes_is_abandoned_unless_one_had_ended_well() {
        let two = Probes::first(7, 2).taken();
        assert_eq!(two.given_back().round(), Round::Running);
        assert_eq!(two.given_back().given_back().round(), Round::Abandoned);
        let well = two.passed().given_back();
        assert_eq!((well.round(), well.free()), (Round::Running, 1));
    }

    #[test]
    fn a_round_has_as_many_places_as_its_word_can_hold() {
        let full = Probes::first(u64::MAX >> 16, 65_535);
        assert_eq!((full.free(), full.out()), (65_534, 1));
        assert!(full.is_of(u64::MAX >> 16) && !full.is_of(0));
    }
}
