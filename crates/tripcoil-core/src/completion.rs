//! How an admitted call ends: counted, judged, or given back.

use crate::breaker::Breaker;
use crate::condition::Counts;
use crate::memory::Memory;
use crate::permit::Permit;
use crate::probes::Round;
use crate::rule::Rule;
use crate::shape::{Judges, Place};
use crate::slack::{MAX_ROOM, Slack};
use crate::sync::Ordering;
use crate::totals::Tally;
use crate::transition::Transition;
use crate::word::{Mode, State, Word};

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Whether it ended with an error. Not asked by slow-ratio rules.
    pub error: bool,
    /// How long it took, in ns. Asked by slow-ratio rules only.
    pub response_time: u64,
}

/// Whether an outcome counted, and what it changed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a transition is told to nobody else"]
pub struct Completion {
    /// Whether the breaker had moved on since the call was admitted: the outcome counts nowhere.
    pub late: bool,
    /// The change that this outcome made.
    pub transition: Option<Transition>,
}

const RUN_BITS: u32 = 36;
const MAX_RUN: u64 = (1 << RUN_BITS) - 1;

impl<M: Memory + ?Sized> Breaker<'_, M> {
    /// Counts the outcome of the call that `permit` was given for, and judges the window or the probe
    /// round with it. Each permit ends once.
    #[inline(never)]
    pub fn complete(&self, permit: Permit, ending: Ending, now: u64) -> Completion {
        if !self.is_bad(ending) && self.complete_good(permit, now) {
            return Completion::unchanged(false);
        }
        self.complete_any(permit, ending, now)
    }

    /// Whether a call that ended so is bad to the present rule. Without a rule none is.
    #[inline(always)]
    #[must_use]
    pub fn is_bad(&self, ending: Ending) -> bool {
        match self.judges() {
            Judges::Nothing => false,
            Judges::Errors | Judges::Runs => ending.error,
            Judges::Times => ending.response_time > self.head.rule.slow_after(),
        }
    }

    /// Counts a good call in the case that is to be fast: nothing has changed since the call was admitted,
    /// the bucket is the present one, and it is known that no good call can trip the breaker. Says
    /// whether it did; if not, nothing has been done. [`Breaker::complete`] tries this first; by itself it
    /// is for callers who want it inlined.
    #[inline(always)]
    #[must_use]
    pub fn complete_good(&self, permit: Permit, now: u64) -> bool {
        let word = self.word();
        if !permit.holds(word) {
            return false;
        }
        let Some(place) = self.head.shape.hinted(now) else { return false };
        // Asked before the call is added: a bad call that comes in between is judged by itself.
        self.slack_at(word.life(), place).is_some_and(|slack| self.add_at_once(slack, place, false))
    }

    /// As [`Breaker::complete`], for callers who have tried [`Breaker::complete_good`], or know the call to be
    /// bad.
    #[inline(always)]
    pub fn complete_any(&self, permit: Permit, ending: Ending, now: u64) -> Completion {
        let (rule, bad) = match self.judges() {
            Judges::Nothing => return Completion::unchanged(false),
            Judges::Times => {
                let rule = self.head.rule.read();
                (Some(rule), rule.is_bad(ending.error, ending.response_time))
            }
            Judges::Errors | Judges::Runs => (None, ending.error),
        };
        loop {
            let word = self.word();
            if word.generation() != permit.generation() || word.state() != State::Closed {
                return self.complete_probe(permit, bad, now);
            }
            let Ok((place, known)) = self.count(word, now, bad) else { continue };
            if self.head.shape.judges() == Judges::Runs {
                return self.judge_run(word, place, bad, now);
            }
            let mark = match bad {
                true if known.is_some_and(|slack| self.take_known(slack)) => None,
                true => self.take_slack(word.life(), place),
                false if self.slack_at(word.life(), place).is_some() => None,
                false => Some(self.slack()),
            };
            return match mark {
                Some(mark) => self.judge(word, place, bad, rule, mark, now),
                None => Completion::unchanged(false),
            };
        }
    }

    /// Decides, after a call has been counted in CLOSED at `place`, whether the breaker trips.
    #[cold]
    #[inline(never)]
    fn judge(
        &self,
        word: Word,
        place: Place,
        bad: bool,
        given: Option<Rule>,
        mark: Slack,
        now: u64,
    ) -> Completion {
        // A rule that was given was read before the mark was: an edit may lie between.
        let present = self.head.rule.read();
        if !bad && !self.may_hold_bad(word.life(), place.lap) {
            // Of the good calls, which are not summed up, there may be more: they can only make room.
            self.leave_slack(mark, word.life(), place, present.room(Counts::default(), MAX_ROOM));
            return Completion::unchanged(false);
        }
        if word.mode() == Mode::Disabled {
            return Completion::unchanged(false);
        }
        let rule = given.unwrap_or(present);
        let generation = word.generation();
        let mut word = word;
        // The word may move to another life of the window without leaving its generation.
        while word.generation() == generation {
            let place = self.nearest(self.head.shape.place(now));
            let counts = self.counts(word, place);
            self.leave_slack(mark, word.life(), place, present.room(counts, MAX_ROOM));
            let Some(value) = rule.trips(counts) else { return Completion::unchanged(false) };
            if let Some(transition) = self.trip(word, &rule, value, counts, now) {
                return Completion::changed(transition);
            }
            word = self.word();
        }
        Completion::unchanged(false)
    }

    /// As `judge`, by the run of bad calls.
    #[cold]
    #[inline(never)]
    fn judge_run(&self, word: Word, place: Place, bad: bool, now: u64) -> Completion {
        let mark = self.slack();
        let run = self.count_run(word, bad);
        if !bad {
            // Until the next bad call no good one has a run to end.
            self.leave_slack(mark, word.life(), place, Some(0));
            return Completion::unchanged(false);
        }
        self.forget_slack();
        let rule = self.head.rule.read();
        let tripped = rule.trips_on_run(run).filter(|_| word.mode() != Mode::Disabled);
        let Some(value) = tripped else { return Completion::unchanged(false) };
        let (generation, mut word) = (word.generation(), word);
        while word.generation() == generation {
            let counts = Counts { good: 0, bad: run };
            if let Some(transition) = self.trip(word, &rule, value, counts, now) {
                return Completion::changed(transition);
            }
            word = self.word();
        }
        Completion::unchanged(false)
    }

    /// Opens the breaker, unless its word has moved.
    fn trip(&self, word: Word, rule: &Rule, value: f64, counts: Counts, now: u64) -> Option<Transition> {
        let next = word.then(State::Open);
        if !self.swap(word, next) {
            return None;
        }
        let open_until = Some(self.open(next, rule.wait(0), now, 0));
        let change = self.transition(word, next, now);
        Some(Transition { value: Some(value), counts, rule: *rule, open_until, ..change })
    }

    /// The run of bad calls after this one: 0 after a good one.
    fn count_run(&self, word: Word, bad: bool) -> u64 {
        let tag = word.generation() << RUN_BITS;
        loop {
            // Acquire: pairs with the exchange below, so that the word is seen to have moved where the run is
            // a later generation's.
            let stored = self.head.run.load(Ordering::Acquire);
            let run = run_of(stored, word.generation());
            let next = if bad { (run + 1).min(MAX_RUN) } else { 0 };
            if next == run || self.word().generation() != word.generation() {
                return next;
            }
            let swap =
                self.head.run.compare_exchange(stored, tag | next, Ordering::Release, Ordering::Relaxed);
            if swap.is_ok() {
                return next;
            }
        }
    }

    /// Forgets the run of an earlier generation, before the bits that tell it from `word`'s come again.
    pub(crate) fn clear_run(&self, word: Word) {
        // Relaxed: nothing is read by it, and the exchange fails where it is out of date.
        let stored = self.head.run.load(Ordering::Relaxed);
        if run_of(stored, word.generation()) == 0 {
            // Release: as in `count_run`. Losing means that a call of the present generation has begun a run.
            let _ = self.head.run.compare_exchange(stored, 0, Ordering::Release, Ordering::Relaxed);
        }
    }

    /// The outcome of a probe, or a late one.
    #[cold]
    #[inline(never)]
    fn complete_probe(&self, permit: Permit, bad: bool, now: u64) -> Completion {
        loop {
            let word = self.word();
            if word.generation() != permit.generation() || word.state() != State::HalfOpen {
                self.tally(permit, Tally::Late);
                return Completion::unchanged(true);
            }
            if bad {
                if let Some(transition) = self.reopen(word, now) {
                    self.tally(permit, Tally::Bad);
                    return Completion::changed(transition);
                }
                continue;
            }
            let probes = self.probes(word);
            if probes.out() > 0 && self.swap_probes(word, probes, probes.passed()) {
                self.tally(permit, Tally::Good);
                return Completion { late: false, transition: self.settle(word, now) };
            }
        }
    }

    /// A bad probe: back to open, for longer where the rule backs off.
    fn reopen(&self, word: Word, now: u64) -> Option<Transition> {
        let rule = self.head.rule.read();
        let (_, reopenings) = self.head.retry.last();
        let reopenings = reopenings + 1;
        let next = word.then(State::Open);
        if !self.swap(word, next) {
            return None;
        }
        let open_until = self.open(next, rule.wait(reopenings), now, reopenings);
        let change = Transition { value: Some(1.0), rule, ..self.transition(word, next, now) };
        Some(Transition { open_until: Some(open_until), ..change })
    }

    fn open(&self, word: Word, wait: u64, now: u64, reopenings: u64) -> u64 {
        self.head.retry.publish(&self.head.word, word.generation(), now, wait, reopenings);
        now.saturating_add(wait)
    }

    /// Ends the round of `word` where all its places have been used up: closed after the last good
    /// probe, back to open as it was where the last probe was given back.
    pub(crate) fn settle(&self, word: Word, now: u64) -> Option<Transition> {
        match self.probes(word).round() {
            Round::Running => None,
            Round::Passed => {
                let next = word.then(State::Closed).cleared();
                self.swap(word, next).then(|| {
                    self.sweep(next.life(), self.head.shape.place(now).lap);
                    self.clear_run(next);
                    self.transition(word, next, now)
                })
            }
            Round::Abandoned => {
                let next = word.then(State::Open);
                let (at, reopenings) = self.head.retry.last();
                self.swap(word, next).then(|| {
                    self.head.retry.restamp(next.generation(), reopenings);
                    let change = self.transition(word, next, now);
                    Transition { value: Some(1.0), given_back: true, open_until: Some(at), ..change }
                })
            }
        }
    }

    /// A call that gave up: it counts nowhere, and a probe gives its place back.
    pub fn cancel(&self, permit: Permit, now: u64) -> Option<Transition> {
        self.tally(permit, Tally::Cancelled);
        self.give_back(permit, now)
    }

    /// A call whose result does not matter: as [`Breaker::cancel`], but listed apart.
    pub fn ignore(&self, permit: Permit, now: u64) -> Option<Transition> {
        self.tally(permit, Tally::Ignored);
        self.give_back(permit, now)
    }

    /// Takes a permit back as if the call had never been admitted.
    pub fn give_back(&self, permit: Permit, now: u64) -> Option<Transition> {
        if !permit.is_probe() {
            return None;
        }
        loop {
            let word = self.word();
            if word.generation() != permit.generation() || word.state() != State::HalfOpen {
                return None;
            }
            let probes = self.probes(word);
            if probes.out() > 0 && self.swap_probes(word, probes, probes.given_back()) {
                return self.settle(word, now);
            }
        }
    }

    /// Lists a call that this breaker, or another one before it, decided on otherwise.
    pub fn count_blocked(&self) {
        self.head.tallies.add(Tally::Blocked, 1);
    }

    /// Lists a call that was admitted although this breaker would have rejected it.
    pub fn count_observed(&self) {
        self.head.tallies.add(Tally::Observed, 1);
    }

    /// Counts what became of a permit, unless the breaker has another rule since.
    fn tally(&self, permit: Permit, tally: Tally) {
        // Relaxed: whoever holds a permit of the present rule has read the word, which is changed after this.
        if permit.generation() >= self.head.born.load(Ordering::Relaxed) {
            self.head.tallies.add(tally, 1);
        }
    }

    /// A change from `from` to `to`, at `now`; whoever knows more adds it.
    pub(crate) fn transition(&self, from: Word, to: Word, now: u64) -> Transition {
        Transition {
            from: from.state(),
            to: to.state(),
            from_mode: from.mode(),
            to_mode: to.mode(),
            generation: to.generation(),
            at: now,
            value: None,
            counts: Counts::default(),
            rule: self.head.rule.read(),
            given_back: false,
            open_until: None,
        }
    }
}

impl Completion {
    /// Not a constant: that would be copied whole, absent transition and all.
    #[inline(always)]
    fn unchanged(late: bool) -> Self {
        Self { late, transition: None }
    }

    fn changed(transition: Transition) -> Self {
        Self { late: false, transition: Some(transition) }
    }
}

/// The run that is stored, where it was counted in `generation`.
#[inline]
pub(crate) fn run_of(stored: u64, generation: u64) -> u64 {
    if stored & !MAX_RUN == generation << RUN_BITS { stored & MAX_RUN } else { 0 }
}
