//! One resource: which breakers guard it, and how a call passes them.

use std::borrow::Borrow;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use compact_str::CompactString;
use tripcoil_core::{Admission, Ending, Judges, Permit, Rejection, Transition, Verdict};

use crate::Rule;
use crate::assigned::Assigned;
use crate::blocked::Blocked;
use crate::clock::Source;
use crate::held::Held;
use crate::legacy::{LegacyCheck, LegacyStatistics};
use crate::observers::{Observers, announce};
use crate::outcome::Outcome;
use crate::plan::{Guards, Plan};
use crate::slot::{Slot, Slots};

/// What all resources of a registry share.
pub(crate) struct Shared {
    pub(crate) clock: Source,
    pub(crate) observers: Observers,
    /// Calls on names beyond a bounded registry's limit.
    pub(crate) unguarded: AtomicU64,
}

/// A resource's memory. Lives as long as the registry keeps it or a handle does.
#[repr(C)]
pub(crate) struct Inner {
    /// First, and short ones in place: a look-up that finds it has the count of references, too.
    pub(crate) name: CompactString,
    pub(crate) shared: Arc<Shared>,
    /// Which slots guard calls: see [`Plan`].
    plan: AtomicU64,
    slots: Slots,
    /// What is assigned to the slots; the lock under which rules and modes change.
    assigned: Mutex<Assigned>,
    rare: OnceLock<Box<Rare>>,
    /// Set while a bounded registry gives the resource's place away, and for good when it has.
    pub(crate) evicted: AtomicBool,
    /// Whether a bounded registry had no place for the name: calls are counted, and admitted.
    pub(crate) unguarded: bool,
}

/// What few resources have, of which there may be millions: made where it is needed.
#[derive(Default)]
struct Rare {
    /// The slots in order, where the plan says many.
    order: ArcSwapOption<Vec<u32>>,
    legacy: OnceLock<Mutex<LegacyCheck>>,
    own_rules: ArcSwapOption<Vec<Arc<Rule>>>,
}

impl Inner {
    pub(crate) fn new(name: &str, shared: Arc<Shared>) -> Self {
        Self {
            name: name.into(),
            shared,
            plan: AtomicU64::new(0),
            slots: Slots::default(),
            assigned: Mutex::default(),
            rare: OnceLock::new(),
            evicted: AtomicBool::new(false),
            unguarded: false,
        }
    }

    /// A resource beyond a bounded registry's limit: its calls are counted, and admitted.
    pub(crate) fn unguarded(name: &str, shared: Arc<Shared>) -> Self {
        let inner = Self { unguarded: true, ..Self::new(name, shared) };
        inner.publish(&[]);
        inner
    }

    #[inline]
    pub(crate) fn slot(&self, number: u32) -> &Slot {
        self.slots.get(number)
    }

    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// What is assigned to the slots. Never held while foreign code runs.
    pub(crate) fn assigned(&self) -> MutexGuard<'_, Assigned> {
        self.assigned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is assigned to the slots, with all breakers made.
    pub(crate) fn awake(&self) -> MutexGuard<'_, Assigned> {
        let mut assigned = self.assigned();
        assigned.wake(self);
        assigned
    }

    /// Makes the breakers that this call is the first to want.
    #[cold]
    #[inline(never)]
    fn wake(&self) {
        drop(self.awake());
    }

    #[inline]
    fn plan(&self) -> Plan {
        // Acquire: pairs with `publish`, so that the slots of a plan are found assigned.
        Plan(self.plan.load(Ordering::Acquire))
    }

    /// Whether calls take the long way round, whatever the number of breakers.
    fn is_special(&self) -> bool {
        self.has_legacy() || self.unguarded
    }

    fn rare(&self) -> &Rare {
        self.rare.get_or_init(Box::default)
    }

    fn order(&self) -> Option<Arc<Vec<u32>>> {
        self.rare.get()?.order.load_full()
    }

    /// See [`Registry::set_own_rules`](crate::Registry::set_own_rules).
    pub(crate) fn own_rules(&self) -> Option<Arc<Vec<Arc<Rule>>>> {
        self.rare.get()?.own_rules.load_full()
    }

    /// Under the registry's lock.
    pub(crate) fn set_own_rules(&self, rules: Vec<Arc<Rule>>) {
        self.rare().own_rules.store((!rules.is_empty()).then(|| Arc::new(rules)));
    }

    /// Whether the plan is the one that [`Inner::publish`] would make for these slots, but for its version.
    pub(crate) fn follows_plan(&self, slots: &[u32]) -> bool {
        self.plan().is_for(self.guards(slots))
    }

    fn guards<'a>(&self, slots: &'a [u32]) -> Guards<'a> {
        let timed = slots.iter().any(|&slot| self.slot(slot).breaker().judges() == Judges::Times);
        Guards { slots, timed, special: self.is_special() }
    }

    /// Makes these the slots that guard calls. Under the lock of `assigned`.
    pub(crate) fn publish(&self, slots: &[u32]) {
        let guards = self.guards(slots);
        // A call that follows a plan of many must find an order until it can see the next plan.
        if slots.len() > 1 || guards.special || self.order().is_some() {
            self.rare().order.store(Some(Arc::new(slots.to_vec())));
        }
        let next = self.plan().next(guards);
        // Release: whoever acts on this plan finds its slots assigned and its order stored.
        self.plan.store(next.0, Ordering::Release);
    }

    /// Leaves it to the first call to make the breakers that are to guard it. Under the lock of `assigned`.
    pub(crate) fn publish_dormant(&self) {
        // Relaxed: whoever acts on this plan takes the lock first.
        self.plan.store(self.plan().next_dormant().0, Ordering::Relaxed);
    }

    /// The legacy check, made at first use.
    pub(crate) fn legacy(&self) -> MutexGuard<'_, LegacyCheck> {
        let check = self.rare().legacy.get_or_init(|| Mutex::new(LegacyCheck::new()));
        check.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_legacy(&self) -> bool {
        self.rare.get().is_some_and(|rare| rare.legacy.get().is_some())
    }

    /// What the legacy check counts, where it is in use.
    pub(crate) fn legacy_statistics(&self) -> Option<LegacyStatistics> {
        if !self.has_legacy() {
            return None;
        }
        // Before the lock is taken: a user's clock does not run under it.
        let now = millis(self.shared.clock.coarse());
        Some(self.legacy().statistics(now))
    }

    /// Whether the legacy check, if it is in use, equals a new one.
    pub(crate) fn is_legacy_like_new(&self, now: u64) -> bool {
        !self.has_legacy() || self.legacy().is_like_new(millis(now))
    }

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
        self.complete_any(number, permit, ending, self.shared.clock.coarse());
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

    /// Tells observers of a change that the caller has made.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell(self: &Arc<Self>, slot: u32, transition: Transition) {
        self.shared.observers.notice();
        let chosen = self.slot(slot).story().add(transition);
        if chosen {
            announce(self, slot);
        }
    }
}

fn millis(nanos: u64) -> u64 {
    nanos / 1_000_000
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource").field("name", &self.name).finish_non_exhaustive()
    }
}
