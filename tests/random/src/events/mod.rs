//! Observers that come, go and act, while calls, reloads and manual control change breakers.

mod act;
mod ledger;
mod watcher;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arbitrary::Unstructured;
use tripcoil::{OwnedEntry, Registry, VirtualClock};
use tripcoil_model::ModelRule;

use self::act::Act;
use self::ledger::Ledger;
use self::watcher::{Habit, Watchers};

/// All that a registry goes through. Locks are never held while it is called: it calls back.
struct Life {
    registry: Registry,
    clock: VirtualClock,
    /// What is still to happen, as bytes.
    script: Mutex<Vec<u8>>,
    rules: Mutex<Rules>,
    entries: Mutex<Vec<Arc<OwnedEntry>>>,
    ledger: Mutex<Ledger>,
    watchers: Mutex<Watchers>,
    panics: AtomicU64,
}

/// The ordinary rules, each with a number of its own, which is its id and what makes it differ.
#[derive(Default)]
struct Rules {
    ordinary: Vec<ModelRule>,
    numbered: u64,
    /// How often any rules have been replaced.
    replaced: u64,
}

/// One life, as the bytes say: each change is told once and in order to whoever is registered, whatever
/// observers do meanwhile, and totals are exact.
///
/// # Panics
/// Where something is not as it must be.
pub fn live(bytes: &[u8]) {
    let (kind, script) = bytes.split_first().unwrap_or((&0, &[]));
    let clock = VirtualClock::new();
    let builder = Registry::builder().clock(clock.clone());
    let is_bounded = kind % 4 > 1;
    let registry =
        if is_bounded { builder.max_resources(usize::from(kind % 4) - 1).build() } else { builder.build() };
    let life = Arc::new(Life {
        registry,
        clock,
        script: Mutex::new(script.iter().rev().copied().collect()),
        rules: Mutex::default(),
        entries: Mutex::default(),
        ledger: Mutex::new(Ledger::new(is_bounded)),
        watchers: Mutex::default(),
        panics: AtomicU64::new(0),
    });
    let weak = Arc::downgrade(&life);
    life.registry.observe("ledger", move |change| {
        weak.upgrade().expect("is told while it lives").ledger.lock().unwrap().note(change);
    });
    while let Some(act) = life.next_act() {
        life.make(act);
    }
    life.end_all();
    life.check();
    let watchers = life.watchers.lock().unwrap().all.clone();
    drop(life);
    assert!(watchers.iter().all(|watcher| watcher.is_dropped()), "an observer is kept");
}

impl Life {
    /// The next thing to happen, where there is any left.
    fn next_act(&self) -> Option<Act> {
        let mut script = self.script.lock().unwrap();
        // The next bytes are the last ones.
        let some: Vec<u8> = script.iter().rev().take(200).copied().collect();
        let mut bytes = Unstructured::new(&some);
        let act = (!some.is_empty()).then(|| Act::draw(&mut bytes).expect("zeros will do"));
        let left = script.len() - (some.len() - bytes.len());
        script.truncate(left);
        act
    }

    fn observe(self: &Arc<Self>, name: u8, habit: Habit) {
        let told = self.ledger.lock().unwrap().told();
        let watcher = self.watchers.lock().unwrap().add(name, told);
        let token = watcher::Token::new(Arc::clone(&watcher), Arc::downgrade(self), habit.acts_when_dropped);
        let weak = Arc::downgrade(self);
        self.registry.observe(&name.to_string(), move |change| {
            let life = weak.upgrade().expect("is told while it lives");
            token.watcher().hear(change.sequence);
            if habit.acts {
                life.act();
            }
            if habit.panics {
                life.panics.fetch_add(1, Ordering::Relaxed);
                // Without the hook, which would end a fuzzer.
                resume_unwind(Box::new("an observer's"));
            }
        });
    }

    fn unobserve(&self, name: u8) {
        let told = self.ledger.lock().unwrap().told();
        let was = self.watchers.lock().unwrap().remove(name, told);
        assert_eq!(self.registry.unobserve(&name.to_string()), was);
    }

    /// The next thing, now.
    fn act(self: &Arc<Self>) {
        if let Some(act) = self.next_act() {
            self.make(act);
        }
    }

    fn check(&self) {
        self.ledger.lock().unwrap().check(&self.registry);
        let told = self.ledger.lock().unwrap().told();
        self.watchers.lock().unwrap().check(told);
        // One more were an assertion in an observer that has failed.
        assert_eq!(self.registry.observer_panics(), self.panics.load(Ordering::Relaxed), "panics");
    }
}
