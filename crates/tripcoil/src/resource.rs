//! One resource: which breakers guard it. How a call passes them is in `admission`, how it ends in `finish`.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arc_swap::ArcSwapOption;
use compact_str::CompactString;
use tripcoil_core::{Judges, Transition};

use crate::Rule;
use crate::assigned::Assigned;
use crate::clock::Source;
use crate::legacy::{LegacyCheck, LegacyStatistics};
use crate::observers::{Observers, announce};
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
pub(crate) struct Rare {
    /// The slots in order, where the plan says many.
    pub(crate) order: ArcSwapOption<Vec<u32>>,
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
    pub(crate) fn wake(&self) {
        drop(self.awake());
    }

    #[inline]
    pub(crate) fn plan(&self) -> Plan {
        // Acquire: pairs with `publish`, so that the slots of a plan are found assigned.
        Plan(self.plan.load(Ordering::Acquire))
    }

    /// Whether calls take the long way round, whatever the number of breakers.
    fn is_special(&self) -> bool {
        self.has_legacy() || self.unguarded
    }

    pub(crate) fn rare(&self) -> &Rare {
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

    pub(crate) fn has_legacy(&self) -> bool {
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

pub(crate) fn millis(nanos: u64) -> u64 {
    nanos / 1_000_000
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource").field("name", &self.name).finish_non_exhaustive()
    }
}
