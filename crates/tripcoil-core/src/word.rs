//! The word that decides: generation, window life, mode and state of one breaker in 64 bits.
//!
//! | bits | what |
//! | --- | --- |
//! | 0, 1 | state: 0 closed, 1 open, 2 half-open, 3 closed with mode forced open |
//! | 2, 3 | mode: 0 normal, 1 disabled, 2 observe only (forced open is told by the state bits) |
//! | 4 to 15 | life of the window: grows when the window is cleared; 0 only where there is no rule yet |
//! | 16 to 63 | generation: grows with every state change, mode change and forfeited probe round |
//!
//! "Closed and not forced open" is all-zero state bits, so that admission asks one question.

/// Where a breaker's state machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Calls pass and are counted.
    Closed,
    /// Calls are rejected until the retry deadline.
    Open,
    /// As many calls as the rule has probes pass, to see whether the dependency has recovered.
    HalfOpen,
}

/// What a person or a program has told a breaker to do, whatever its statistics say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The rule decides.
    Normal,
    /// Every call is rejected.
    ForcedOpen,
    /// Every call is admitted and counted, and nothing trips.
    Disabled,
    /// Decides and announces as [`Mode::Normal`], but rejects nothing.
    ObserveOnly,
}

const STATE_BITS: u32 = 2;
const MODE_BITS: u32 = 2;
const LIFE_SHIFT: u32 = STATE_BITS + MODE_BITS;
pub(crate) const LIFE_BITS: u32 = 12;
const GENERATION_SHIFT: u32 = LIFE_SHIFT + LIFE_BITS;
const FORCED: u64 = 3;

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// One reading of the word. Pure: whoever loads it says which ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u64);

impl Word {
    #[inline]
    pub(crate) fn generation(self) -> u64 {
        self.0 >> GENERATION_SHIFT
    }

    #[inline]
    pub(crate) fn life(self) -> u64 {
        (self.0 >> LIFE_SHIFT) & mask(LIFE_BITS)
    }

    /// Closed, and not forced open: whoever asks is admitted.
    #[inline]
    pub(crate) fn admits_all(self) -> bool {
        self.0 & mask(STATE_BITS) == 0
    }

    /// Open, in normal mode.
    #[inline]
    pub(crate) fn is_normal_open(self) -> bool {
        self.0 & mask(STATE_BITS + MODE_BITS) == 1
    }

    #[inline]
    pub(crate) fn state(self) -> State {
        match self.0 & mask(STATE_BITS) {
            1 => State::Open,
            2 => State::HalfOpen,
            _ => State::Closed,
        }
    }

    pub(crate) fn mode(self) -> Mode {
        match (self.0 & mask(STATE_BITS), (self.0 >> STATE_BITS) & mask(MODE_BITS)) {
            (FORCED, _) => Mode::ForcedOpen,
            (_, 1) => Mode::Disabled,
            (_, 2) => Mode::ObserveOnly,
            _ => Mode::Normal,
        }
    }

    /// The next generation in `state`, in the same mode, over the same window.
    pub(crate) fn then(self, state: State) -> Self {
        let state = match state {
            State::Closed => 0,
            State::Open => 1,
            State::HalfOpen => 2,
        };
        Self((self.0 & !mask(STATE_BITS) | state).wrapping_add(1 << GENERATION_SHIFT))
    }

    /// The next generation, closed, in `mode`, over a cleared window.
    pub(crate) fn then_in(self, mode: Mode) -> Self {
        let (forced, mode) = match mode {
            Mode::Normal => (0, 0),
            Mode::ForcedOpen => (FORCED, 0),
            Mode::Disabled => (0, 1),
            Mode::ObserveOnly => (0, 2),
        };
        let next = self.then(State::Closed).cleared();
        Self(next.0 & !mask(LIFE_SHIFT) | (mode << STATE_BITS) | forced)
    }

    /// The same decision over a window that begins a new life.
    pub(crate) fn cleared(self) -> Self {
        // Never 0 again: words that have not been written yet are of that life, and must stay empty.
        let life = self.life() % mask(LIFE_BITS) + 1;
        Self(self.0 & !(mask(LIFE_BITS) << LIFE_SHIFT) | (life << LIFE_SHIFT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_a_closed_normal_breaker() {
        let word = Word(0);
        assert_eq!((word.state(), word.mode()), (State::Closed, Mode::Normal));
        assert!(word.admits_all());
    }

    #[test]
    fn every_field_moves_alone() {
        let start = Word(u64::MAX >> 1).then_in(Mode::ObserveOnly);
        let open = start.then(State::Open);
        assert_eq!(open.generation(), start.generation() + 1);
        assert_eq!((open.life(), open.mode()), (start.life(), Mode::ObserveOnly));
        let cleared = open.cleared();
        assert_eq!((cleared.generation(), cleared.state()), (open.generation(), State::Open));
        assert_ne!(cleared.life(), open.life());
    }

    #[test]
    fn forced_open_reads_as_closed_but_does_not_admit() {
        let forced = Word(0).then_in(Mode::ForcedOpen);
        assert_eq!((forced.state(), forced.mode()), (State::Closed, Mode::ForcedOpen));
        assert!(!forced.admits_all());
        assert_eq!(forced.then_in(Mode::Normal).mode(), Mode::Normal);
    }

    #[test]
    fn the_last_life_is_followed_by_the_first_and_never_by_that_of_unwritten_words() {
        let first = Word(0).cleared();
        let mut word = first;
        for _ in 0..mask(LIFE_BITS) {
            assert_ne!(word.life(), 0);
            word = word.cleared();
        }
        assert_eq!(word, first);
    }
}
