//! A breaker's memory, the view that its logic is written on, and admission.

use core::fmt;
use core::num::NonZeroU64;

use crate::bucket::Bucket;
use crate::deadline::Deadline;
use crate::memory::Memory;
use crate::permit::Permit;
use crate::probes::{Probes, Round};
use crate::rule::Rule;
use crate::rule_cell::RuleCell;
use crate::shape::{Judges, Shape};
use crate::sync::{AtomicU64, Ordering, zeroed};
use crate::time::NEVER;
use crate::totals::Tallies;
use crate::transition::Transition;
use crate::word::{Mode, State, Word};

/// What a breaker keeps beside its buckets: plain memory, valid when zeroed, without pointers.
///
/// What a healthy call needs is in the first 56 bytes.
#[repr(C)]
pub struct Head {
    /// The word that decides.
    pub(crate) word: AtomicU64,
    /// Lap that the buckets' low bits are read against.
    pub(crate) anchor: AtomicU64,
    /// Lap of the last bad call.
    pub(crate) last_bad: AtomicU64,
    /// How many more bad calls cannot trip it, and where in time that is known.
    pub(crate) slack: AtomicU64,
    pub(crate) shape: Shape,
    /// The present or last probe round.
    pub(crate) probes: AtomicU64,
    /// Bad calls in a row, with the low bits of the generation they were counted in.
    pub(crate) run: AtomicU64,
    /// The generation in which the present rule began: what is older is another rule's.
    pub(crate) born: AtomicU64,
    /// When an open breaker lets a probe through; its count is that of reopenings in a row.
    pub(crate) retry: Deadline,
    /// When a half-open breaker stops waiting for its probes.
    pub(crate) lease: Deadline,
    pub(crate) tallies: Tallies,
    pub(crate) rule: RuleCell,
}

zeroed! {
    /// A head that has no rule yet: it admits everything and counts nothing.
    pub Head {
        word: AtomicU64::new(0),
        anchor: AtomicU64::new(0),
        last_bad: AtomicU64::new(0),
        slack: AtomicU64::new(0),
        shape: Shape::new(),
        probes: AtomicU64::new(0),
        run: AtomicU64::new(0),
        born: AtomicU64::new(0),
        retry: Deadline::new(),
        lease: Deadline::new(),
        tallies: Tallies::new(),
        rule: RuleCell::new(),
    }
}

impl Default for Head {
    fn default() -> Self {
        Self::new()
    }
}

/// A breaker: a view of a head and of what it counts in, wherever they are.
///
/// All methods may be called from any number of threads at once, except [`Breaker::assign`],
/// [`Breaker::edit`] and [`Breaker::retire`], which want one caller at a time. Times are ns on one
/// clock of the caller's choice.
pub struct Breaker<'a, M: Memory + ?Sized = [Bucket]> {
    pub(crate) head: &'a Head,
    pub(crate) memory: &'a M,
}

impl<M: Memory + ?Sized> Clone for Breaker<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Memory + ?Sized> Copy for Breaker<'_, M> {}

/// Why a call is rejected. Two words, so that it stays in registers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rejection {
    word: Word,
    left: NonZeroU64,
}

impl Rejection {
    /// The state that rejects.
    #[must_use]
    pub fn state(self) -> State {
        self.word.state()
    }

    /// The mode: [`Mode::ForcedOpen`] rejects whatever the state.
    #[must_use]
    pub fn mode(self) -> Mode {
        self.word.mode()
    }

    /// The generation that rejects.
    #[must_use]
    pub fn generation(self) -> u64 {
        self.word.generation()
    }

    /// Time in ns until the next probe may go, at least 1: open, until the retry deadline; half-open,
    /// until the lease ends. [`NEVER`] without a limit.
    #[must_use]
    pub fn retry_after(self) -> u64 {
        self.left.get()
    }
}

impl fmt::Debug for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejection")
            .field("state", &self.state())
            .field("mode", &self.mode())
            .field("generation", &self.generation())
            .field("retry_after", &self.retry_after())
            .finish()
    }
}

/// The answer to [`Breaker::ask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// An admission now would pass.
    Pass,
    /// An admission now would be rejected.
    Reject(Rejection),
}

/// The answer to [`Breaker::admit`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "an admitted call holds a permit"]
pub enum Admission {
    /// Go ahead, and give the permit back. Where the breaker went half-open, or a round was forfeited,
    /// the transition.
    Passed(Permit, Option<Transition>),
    /// Do not call.
    Rejected(Rejection),
    /// Go ahead: the breaker would have rejected the call, but only observes. It has no outcome.
    Observed(Rejection),
    /// Nothing was decided: a probe round had ended, and this call has made the transition that the
    /// round's last probe was about to make. Tell of it and ask again.
    Settled(Transition),
}

/// What an admission comes to, before the mode has its say.
enum Step {
    Done(Admission),
    Reject(Rejection),
    /// Somebody else moved the breaker: look again.
    Again,
}

impl<'a, M: Memory + ?Sized> Breaker<'a, M> {
    /// A view of `head` over `memory`: buckets, of which there are at least as many as its rule has.
    #[inline]
    #[must_use]
    pub const fn new(head: &'a Head, memory: &'a M) -> Self {
        Self { head, memory }
    }

    #[inline]
    pub(crate) fn word(&self) -> Word {
        // Acquire: pairs with `swap`, so that what was published before a generation is seen in it.
        Word(self.head.word.load(Ordering::Acquire))
    }

    /// The one way in which the word changes.
    pub(crate) fn swap(&self, from: Word, to: Word) -> bool {
        // Release: publishes what was written for the new generation (rule, shape). What was published
        // before `from` was acquired by whoever read it in `word`; whoever loses reads it again.
        self.head.word.compare_exchange(from.0, to.0, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// What the breaker judges its calls by: tells whether response times are wanted.
    #[inline]
    #[must_use]
    pub fn judges(&self) -> Judges {
        self.head.shape.judges()
    }

    /// The permit of a call on a breaker that is closed and not forced open; else none. Needs no time.
    #[inline]
    #[must_use]
    pub fn admit_closed(&self) -> Option<Permit> {
        let word = self.word();
        word.admits_all().then(|| Permit::new(word))
    }

    /// The rejection of a breaker that is open, in normal mode, and not due at `now`; else none.
    /// [`Breaker::admit`] asks this; by itself it is for callers who want it inlined.
    #[inline]
    #[must_use]
    pub fn reject_open(&self, now: u64) -> Option<Rejection> {
        let word = self.word();
        if !word.is_normal_open() {
            return None;
        }
        let due = self.head.retry.read(word.generation())?;
        let left = if due.is_too_far(now) { 0 } else { due.left(now) };
        NonZeroU64::new(left).map(|left| Rejection { word, left })
    }

    /// Whether an admission at `now` would pass. Moves no state and takes no probe's place; only where
    /// a clock that went back has left more than a deadline's whole length is the deadline moved.
    /// Before that, `again` reads the clock once more, as exactly as whoever set the deadline.
    #[must_use]
    pub fn ask(&self, now: u64, again: impl Fn() -> u64 + Copy) -> Verdict {
        let (word, mut now) = (self.word(), now);
        if word.admits_all() {
            return Verdict::Pass;
        }
        let rejection = match (word.mode(), word.state()) {
            (Mode::ForcedOpen, _) => Some(self.reject(word, NEVER)),
            (_, State::Open) => self.open_left(word, &mut now, again).map(|left| self.reject(word, left)),
            _ => self.full_round(word, &mut now, again),
        };
        match rejection {
            Some(rejection) if word.mode() != Mode::ObserveOnly => Verdict::Reject(rejection),
            _ => Verdict::Pass,
        }
    }

    /// Admits a call at `now`, or rejects it. Counts neither. `again` is as for [`Breaker::ask`].
    #[inline]
    pub fn admit(&self, now: u64, again: impl Fn() -> u64 + Copy) -> Admission {
        match (self.admit_closed(), self.reject_open(now)) {
            (Some(permit), _) => Admission::Passed(permit, None),
            (_, Some(rejection)) => Admission::Rejected(rejection),
            _ => self.admit_guarded(now, again),
        }
    }

    #[cold]
    #[inline(never)]
    fn admit_guarded(&self, now: u64, again: impl Fn() -> u64 + Copy) -> Admission {
        let mut now = now;
        loop {
            let word = self.word();
            let step = match (word.mode(), word.state()) {
                (Mode::ForcedOpen, _) => Step::Reject(self.reject(word, NEVER)),
                (_, State::Closed) => Step::Done(Admission::Passed(Permit::new(word), None)),
                (_, State::Open) => self.try_half_open(word, &mut now, again),
                (_, State::HalfOpen) => self.try_probe(word, &mut now, again),
            };
            match step {
                Step::Done(admission) => return admission,
                Step::Reject(rejection) if word.mode() == Mode::ObserveOnly => {
                    return Admission::Observed(rejection);
                }
                Step::Reject(rejection) => return Admission::Rejected(rejection),
                Step::Again => {}
            }
        }
    }

    fn try_half_open(&self, word: Word, now: &mut u64, again: impl Fn() -> u64) -> Step {
        if let Some(left) = self.open_left(word, now, again) {
            return Step::Reject(self.reject(word, left));
        }
        let next = word.then(State::HalfOpen);
        if !self.swap(word, next) {
            return Step::Again;
        }
        let permit = self.begin_round(next, *now);
        let transition = self.transition(word, next, *now);
        Step::Done(Admission::Passed(permit, Some(transition)))
    }

    fn try_probe(&self, word: Word, now: &mut u64, again: impl Fn() -> u64) -> Step {
        let probes = self.probes(word);
        if probes.round() != Round::Running {
            return match self.settle(word, *now) {
                Some(transition) => Step::Done(Admission::Settled(transition)),
                None => Step::Again,
            };
        }
        let left = self.lease_left(word, now, again);
        if left == 0 && probes.out() > 0 {
            let next = word.then(State::HalfOpen);
            return match self.swap(word, next) {
                true => {
                    let permit = self.begin_round(next, *now);
                    Step::Done(Admission::Passed(permit, Some(self.transition(word, next, *now))))
                }
                false => Step::Again,
            };
        }
        if probes.free() == 0 {
            return Step::Reject(self.reject(word, left));
        }
        // The place is taken where the round is still the breaker's after it was taken: a round that
        // has ended meanwhile gives nobody leave.
        if !self.swap_probes(word, probes, probes.taken()) || self.word().generation() != word.generation() {
            return Step::Again;
        }
        self.renew_lease(word, &self.head.rule.read(), *now);
        Step::Done(Admission::Passed(Permit::new(word), None))
    }

    /// The generation `word` begins with its first probe out, at `now`, by one reading of the rule.
    fn begin_round(&self, word: Word, now: u64) -> Permit {
        let rule = self.head.rule.read();
        let first = Probes::first(word.generation(), rule.probe_num);
        // Publishing the round fixes its number of probes. Losing means that a probe which came in
        // between has done so, or that one of an earlier round has ended: then once more. Relaxed, since
        // `swap_probes` looks itself.
        while self.word().generation() == word.generation() {
            let seen = Probes(self.head.probes.load(Ordering::Relaxed));
            if seen.is_of(word.generation()) || self.swap_probes(word, seen, first) {
                break;
            }
        }
        self.renew_lease(word, &rule, now);
        Permit::new(word)
    }

    fn renew_lease(&self, word: Word, rule: &Rule, now: u64) {
        self.head.lease.publish(&self.head.word, word.generation(), now, rule.lease(), 0);
    }

    /// The round of `word`, also where whoever began it has not published it yet.
    pub(crate) fn probes(&self, word: Word) -> Probes {
        // Relaxed: whoever acts on what he finds exchanges it, by `swap_probes`, or the word.
        let probes = Probes(self.head.probes.load(Ordering::Relaxed));
        if probes.is_of(word.generation()) {
            return probes;
        }
        Probes::first(word.generation(), self.head.rule.read().probe_num)
    }

    /// Replaces the round of `word`, which was read as `from`.
    pub(crate) fn swap_probes(&self, word: Word, from: Probes, to: Probes) -> bool {
        // Acquire: pairs with the exchange below, so that the word is seen to have moved where the round is a
        // later one's.
        let stored = Probes(self.head.probes.load(Ordering::Acquire));
        let expected = match stored.is_of(word.generation()) {
            true => from,
            // Not published yet: replace what an earlier round left, unless this one has passed too.
            false if self.word().generation() == word.generation() => stored,
            false => return false,
        };
        // AcqRel: the word is read again after a place is taken, and must not be read before.
        self.head.probes.compare_exchange(expected.0, to.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Time until the retry deadline, where there is some left. A deadline that is not published yet
    /// has all of it left.
    fn open_left(&self, word: Word, now: &mut u64, again: impl Fn() -> u64) -> Option<u64> {
        let asked = self.head.retry.ask(word.generation(), now, again);
        let left = asked.unwrap_or_else(|| self.head.rule.read().wait(0));
        (left > 0).then_some(left)
    }

    fn lease_left(&self, word: Word, now: &mut u64, again: impl Fn() -> u64) -> u64 {
        let asked = self.head.lease.ask(word.generation(), now, again);
        asked.unwrap_or_else(|| self.head.rule.read().lease())
    }

    /// The rejection of a half-open breaker, where its round has no place to give.
    fn full_round(&self, word: Word, now: &mut u64, again: impl Fn() -> u64) -> Option<Rejection> {
        let probes = self.probes(word);
        let left = self.lease_left(word, now, again);
        let full = probes.round() == Round::Running && probes.free() == 0 && left > 0;
        full.then(|| self.reject(word, left))
    }

    fn reject(&self, word: Word, left: u64) -> Rejection {
        Rejection { word, left: NonZeroU64::new(left).unwrap_or(NonZeroU64::MIN) }
    }
}
