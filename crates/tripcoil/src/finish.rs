//! How an admitted call ends on the breakers that admitted it.

use std::borrow::Borrow;
use std::sync::Arc;

use tripcoil_core::{Ending, Permit};

use crate::held::Held;
use crate::outcome::Outcome;
use crate::resource::{Inner, millis};
use crate::slot::Slot;

impl Inner {
    /// Ends a call on every breaker that admitted it. Without a response time of the caller's, it is
    /// the time since the call began.
    // Always inlined, like all on the way from a user's `enter` to it: so what an entry holds never goes
    // through memory. What seldom happens is not.
    #[inline(always)]
    pub(crate) fn finish(
        self: &Arc<Self>,
        held: impl Borrow<Held>,
        outcome: Outcome,
        response_time: Option<u64>,
    ) {
        let slot = held.borrow().is_quick().then(|| self.slot(held.borrow().first().0));
        self.finish_in(slot, held, outcome, response_time);
    }

    /// As [`Inner::finish`], with the slot that [`Inner::enter_quick`] gave, if it was that which admitted the
    /// call.
    #[inline(always)]
    pub(crate) fn finish_in(
        self: &Arc<Self>,
        slot: Option<&Slot>,
        held: impl Borrow<Held>,
        outcome: Outcome,
        response_time: Option<u64>,
    ) {
        let (number, permit) = held.borrow().first();
        match (slot, outcome, response_time) {
            (Some(slot), Outcome::Good, None) => {
                let now = self.shared.clock.coarse();
                if !slot.breaker().complete_good(permit, now) {
                    self.complete_any(number, permit, Ending { error: false, response_time: 0 }, now);
                }
            }
            (Some(_), Outcome::Bad, None) => self.finish_bad(number, permit),
            (_, Outcome::Good | Outcome::Bad, _) if held.borrow().is_one() => {
                let (error, started) = (outcome == Outcome::Bad, held.borrow().started());
                self.finish_one(number, permit, started, error, response_time);
            }
            _ => self.finish_any(held, outcome, response_time),
        }
    }

    #[inline(never)]
    fn finish_bad(self: &Arc<Self>, number: u32, permit: Permit) {
        let ending = Ending { error: true, response_time: 0 };
        self.complete_here(number, permit, ending, self.shared.clock.coarse());
    }

    #[inline(never)]
    fn finish_one(
        self: &Arc<Self>,
        number: u32,
        permit: Permit,
        started: Option<u64>,
        error: bool,
        response_time: Option<u64>,
    ) {
        let (ending, now) = self.ending(started, error, response_time);
        self.complete(number, permit, ending, now);
    }

    #[inline]
    fn complete(self: &Arc<Self>, number: u32, permit: Permit, ending: Ending, now: u64) {
        let breaker = self.slot(number).breaker();
        if breaker.is_bad(ending) || !breaker.complete_good(permit, now) {
            self.complete_any(number, permit, ending, now);
        }
    }

    #[inline(never)]
    fn complete_any(self: &Arc<Self>, number: u32, permit: Permit, ending: Ending, now: u64) {
        self.complete_here(number, permit, ending, now);
    }

    #[inline(always)]
    fn complete_here(self: &Arc<Self>, number: u32, permit: Permit, ending: Ending, now: u64) {
        if let Some(transition) = self.slot(number).breaker().complete_any(permit, ending, now).transition {
            self.tell(number, transition);
        }
    }

    // Takes what it is given as it is: a reference would keep what the caller holds out of registers.
    #[inline(never)]
    fn finish_any(self: &Arc<Self>, held: impl Borrow<Held>, outcome: Outcome, response_time: Option<u64>) {
        let held = held.borrow();
        let (ending, now) = self.ending(held.started(), outcome == Outcome::Bad, response_time);
        match held.both() {
            Some(both) if outcome.counts() => {
                both.into_iter().for_each(|(slot, permit)| self.complete(slot, permit, ending, now));
            }
            _ => self.finish_all(held, outcome, ending, now),
        }
    }

    #[cold]
    #[inline(never)]
    fn finish_all(self: &Arc<Self>, held: &Held, outcome: Outcome, ending: Ending, now: u64) {
        for (slot, permit) in held.permits() {
            let breaker = self.slot(slot).breaker();
            let transition = match outcome {
                Outcome::Good | Outcome::Bad => breaker.complete(permit, ending, now).transition,
                Outcome::Ignored => breaker.ignore(permit, now),
                Outcome::Cancelled => breaker.cancel(permit, now),
            };
            if let Some(transition) = transition {
                self.tell(slot, transition);
            }
        }
        if held.is_legacy() && outcome.counts() {
            self.legacy().exit(millis(now), millis(ending.response_time), ending.error);
        }
    }

    /// How a call ended, and when. The coarse clock does where no response time is judged.
    #[inline(always)]
    fn ending(&self, started: Option<u64>, error: bool, response_time: Option<u64>) -> (Ending, u64) {
        let clock = &self.shared.clock;
        let now = if started.is_some() { clock.now() } else { clock.coarse() };
        let elapsed = now.saturating_sub(started.unwrap_or(now));
        (Ending { error, response_time: response_time.unwrap_or(elapsed) }, now)
    }
}
