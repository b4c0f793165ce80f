//! What has been told and counted, breaker by breaker.

use std::collections::{BTreeMap, BTreeSet};

use tripcoil::{Breaker, Change, Mode, Registry, Resource, State};

/// A resource's name, and the number of a rule.
type Key = (String, String);

/// The first observer: it sees every change before all others do.
pub(super) struct Ledger {
    is_bounded: bool,
    told: u64,
    last: BTreeMap<Key, Last>,
    /// What calls came to: admitted, blocked.
    calls: BTreeMap<Key, (u64, u64)>,
    /// Resources whose rules were replaced while a call asked for leave: which breakers it passed is not known.
    unsure: BTreeSet<String>,
    unguarded: u64,
}

/// A breaker after the last change that was told of it.
struct Last {
    generation: u64,
    is: (State, Mode),
}

fn key(breaker: &Breaker) -> Key {
    (breaker.resource().to_owned(), breaker.rule().id().expect("every rule has one").to_owned())
}

impl Ledger {
    pub(super) fn new(is_bounded: bool) -> Self {
        let (last, calls, unsure) = <(BTreeMap<_, _>, BTreeMap<_, _>, BTreeSet<_>)>::default();
        Self { is_bounded, told: 0, last, calls, unsure, unguarded: 0 }
    }

    /// How many changes have been told, to this observer at least.
    pub(super) fn told(&self) -> u64 {
        self.told
    }

    pub(super) fn note(&mut self, change: &Change) {
        self.told += 1;
        assert_eq!(change.sequence, self.told, "no change is left out or told twice");
        let id = change.rule.id().expect("every rule has one");
        let (from, is) = ((change.from, change.from_mode), (change.to, change.to_mode));
        let generation = change.generation;
        let fresh = from == (State::Closed, Mode::Normal);
        let last = self.last.insert((change.resource.to_string(), id.to_owned()), Last { generation, is });
        let follows = last.as_ref().is_some_and(|last| (last.generation + 1, last.is) == (generation, from));
        // Breakers of other rules, and of a resource that gave its place away, may begin anew.
        let stays = !self.is_bounded && !change.rule.regex() && change.rule.resource() == &*change.resource;
        assert!(follows || fresh && (last.is_none() || !stays), "{change:?} does not follow the last one");
    }

    pub(super) fn admitted(&mut self, resource: &Resource, unsure: bool) {
        self.unguarded += u64::from(resource.is_unguarded());
        if unsure {
            self.unsure.insert(resource.name().to_owned());
        }
        for breaker in resource.breakers() {
            self.calls.entry(key(&breaker)).or_default().0 += 1;
        }
    }

    pub(super) fn blocked(&mut self, resource: &str, by: Option<&str>, unsure: bool) {
        if unsure {
            self.unsure.insert(resource.to_owned());
        }
        if let Some(id) = by {
            self.calls.entry((resource.to_owned(), id.to_owned())).or_default().1 += 1;
        }
    }

    /// When no call is out: what was told last is what is, and every call is counted once.
    pub(super) fn check(&self, registry: &Registry) {
        assert_eq!(registry.unguarded_calls(), self.unguarded, "unguarded calls");
        for resource in registry.resources() {
            for breaker in resource.breakers() {
                self.check_breaker(&breaker);
            }
        }
    }

    fn check_breaker(&self, breaker: &Breaker) {
        let (key, rule, seen) = (key(breaker), breaker.rule(), breaker.snapshot());
        if self.is_bounded || rule.regex() || rule.resource() != breaker.resource() {
            return;
        }
        if let Some(last) = self.last.get(&key) {
            assert_eq!((seen.generation, (seen.state, seen.mode)), (last.generation, last.is), "{breaker:?}");
        }
        if !self.unsure.contains(&key.0) {
            let (admitted, blocked) = self.calls.get(&key).copied().unwrap_or_default();
            let totals = seen.totals;
            assert_eq!((totals.passed + totals.observed, totals.blocked), (admitted, blocked), "{breaker:?}");
        }
    }
}
