//! How a call passes a resource's breakers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tripcoil_core::{Admission, Permit, Rejection, Verdict};

use crate::blocked::Blocked;
use crate::held::Held;
use crate::resource::{Inner, millis};
use crate::slot::Slot;

impl Inner {
    /// Leave for a call in the case that is to be fast: one breaker that judges no response times, and it is
    /// closed.
    #[inline(always)]
    pub(crate) fn enter_quick(&self) -> Option<(&Slot, Held)> {
        let plan = self.plan();
        let number = plan.quick()?;
        let slot = self.slot(number);
        let permit = slot.breaker().admit_closed()?;
        (self.plan() == plan).then(|| (slot, Held::quick(number, permit)))
    }

    /// As [`Inner::enter_quick`], of a breaker that judges response times.
    #[inline(always)]
    pub(crate) fn enter_timed(&self) -> Option<Held> {
        if self.plan().is_timed() { self.enter_closed() } else { None }
    }

    /// As [`Inner::enter_quick`], whatever the breaker judges.
    #[inline(always)]
    pub(crate) fn enter_closed(&self) -> Option<Held> {
        let plan = self.plan();
        let slot = plan.only()?;
        let started = plan.is_timed().then(|| self.shared.clock.now());
        let permit = self.slot(slot).breaker().admit_closed()?;
        (self.plan() == plan).then(|| Held::one(slot, permit, started))
    }

    /// The rejection of a breaker that is open, where one that is closed would give leave quickly.
    #[inline(always)]
    pub(crate) fn reject_quick(self: &Arc<Self>) -> Option<Blocked> {
        self.reject_open(self.plan().quick()?)
    }

    #[inline(never)]
    fn reject_open(self: &Arc<Self>, slot: u32) -> Option<Blocked> {
        let rejection = self.slot(slot).breaker().reject_open(self.shared.clock.coarse())?;
        Some(self.blocked(slot, rejection))
    }

    /// Asks all breakers for leave, and puts into `held` what they give. Out of line, with `held` in memory
    /// of the caller's that nothing else is in: so what the caller makes of it can stay in registers.
    #[inline(never)]
    pub(crate) fn enter(self: &Arc<Self>, held: &mut Held) -> Result<(), Blocked> {
        let mut counted = false;
        loop {
            let plan = self.plan();
            *held = match plan.only() {
                Some(slot) => self.pass_one(slot, plan.is_timed())?,
                None if plan.is_dormant() => {
                    self.wake();
                    continue;
                }
                None if plan.is_empty() => Held::new(None),
                None => match plan.pair().and_then(|slots| self.pass_pair(slots, plan.is_timed())) {
                    Some(held) => held,
                    None => self.pass_many(plan.is_timed(), &mut counted)?,
                },
            };
            if self.plan() == plan {
                return Ok(());
            }
            // The rules were replaced meanwhile: a slot may be another rule's by now.
            self.take_back(held);
        }
    }

    /// A breaker that rejects is moved by nothing, so where there is one it need not be asked first.
    #[inline]
    fn pass_one(self: &Arc<Self>, slot: u32, timed: bool) -> Result<Held, Blocked> {
        let breaker = self.slot(slot).breaker();
        let started = timed.then(|| self.shared.clock.now());
        if let Some(permit) = breaker.admit_closed() {
            return Ok(Held::one(slot, permit, started));
        }
        let now = started.unwrap_or_else(|| self.shared.clock.coarse());
        if let Some(rejection) = breaker.reject_open(now) {
            return Err(self.blocked(slot, rejection));
        }
        match self.take(slot, now) {
            Ok(Some(permit)) => Ok(Held::one(slot, permit, started)),
            Ok(None) => Ok(Held::new(started)),
            Err(rejection) => Err(self.blocked(slot, rejection)),
        }
    }

    /// The permits of two breakers that are both closed: they are moved by nobody's passing, so none has to
    /// be asked first.
    #[inline]
    fn pass_pair(&self, slots: [u32; 2], timed: bool) -> Option<Held> {
        let [first, second] = slots.map(|slot| self.slot(slot).breaker());
        let started = timed.then(|| self.shared.clock.now());
        Some(Held::pair(slots, [first.admit_closed()?, second.admit_closed()?], started))
    }

    /// As spec section 5, D6: all are asked before any is moved. `counted` is whether the legacy check,
    /// which counts whom it admits, has admitted the call before a reload made it start again.
    #[cold]
    #[inline(never)]
    fn pass_many(self: &Arc<Self>, timed: bool, counted: &mut bool) -> Result<Held, Blocked> {
        if self.unguarded {
            self.shared.unguarded.fetch_add(1, Ordering::Relaxed);
            return Ok(Held::new(None));
        }
        let order = self.rare().order.load();
        let slots: &[u32] = order.as_ref().map_or(&[], |order| order);
        let legacy = self.has_legacy();
        let started = (legacy || timed).then(|| self.shared.clock.now());
        let now = started.unwrap_or_else(|| self.shared.clock.coarse());
        if !legacy && let Some(held) = self.pass_closed(slots, started) {
            return Ok(held);
        }
        let again = || self.shared.clock.now();
        let asked = slots.iter().find_map(|&slot| match self.slot(slot).breaker().ask(now, again) {
            Verdict::Pass => None,
            Verdict::Reject(rejection) => Some((slot, rejection)),
        });
        if let Some((slot, rejection)) = asked {
            return Err(self.blocked(slot, rejection));
        }
        if legacy && !*counted {
            self.pass_legacy(now)?;
            *counted = true;
        }
        let mut held = self.admit(slots, now, started)?;
        if legacy {
            held.set_legacy();
        }
        Ok(held)
    }

    /// As [`Inner::pass_pair`], of any number.
    fn pass_closed(&self, slots: &[u32], started: Option<u64>) -> Option<Held> {
        let mut held = Held::new(started);
        for &slot in slots {
            held.push(slot, self.slot(slot).breaker().admit_closed()?);
        }
        Some(held)
    }

    /// The check before Sentinel 1.8: after all breakers have been asked, and before any is moved.
    fn pass_legacy(self: &Arc<Self>, now: u64) -> Result<(), Blocked> {
        let checked = self.legacy().enter(millis(now));
        checked.map_err(|block| {
            let retry_after = Duration::from_millis(block.retry_after_ms);
            Blocked::by_legacy(self, block.rule, retry_after)
        })
    }

    /// Takes a permit of each breaker, or gives back those that it had where one rejects after all.
    fn admit(self: &Arc<Self>, slots: &[u32], now: u64, started: Option<u64>) -> Result<Held, Blocked> {
        let mut held = Held::new(started);
        for &slot in slots {
            match self.take(slot, now) {
                Ok(Some(permit)) => held.push(slot, permit),
                Ok(None) => {}
                Err(rejection) => {
                    self.take_back(&held);
                    return Err(self.blocked(slot, rejection));
                }
            }
        }
        Ok(held)
    }

    /// One breaker's permit; none where it only observes what it would have rejected.
    #[inline(never)]
    fn take(self: &Arc<Self>, slot: u32, now: u64) -> Result<Option<Permit>, Rejection> {
        let breaker = self.slot(slot).breaker();
        loop {
            match breaker.admit(now, || self.shared.clock.now()) {
                Admission::Rejected(rejection) => return Err(rejection),
                Admission::Observed(_) => {
                    breaker.count_observed();
                    return Ok(None);
                }
                Admission::Settled(transition) => self.tell(slot, transition),
                Admission::Passed(permit, transition) => {
                    if let Some(transition) = transition {
                        self.tell(slot, transition);
                    }
                    return Ok(Some(permit));
                }
            }
        }
    }

    #[inline]
    fn blocked(self: &Arc<Self>, slot: u32, rejection: Rejection) -> Blocked {
        self.slot(slot).breaker().count_blocked();
        Blocked::by_breaker(self, slot, rejection)
    }

    /// Undoes an admission as if it had never been.
    #[cold]
    #[inline(never)]
    fn take_back(self: &Arc<Self>, held: &Held) {
        for (slot, permit) in held.permits() {
            let now = self.shared.clock.coarse();
            if let Some(transition) = self.slot(slot).breaker().give_back(permit, now) {
                self.tell(slot, transition);
            }
        }
    }
}
