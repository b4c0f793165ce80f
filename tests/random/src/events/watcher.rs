//! Observers, and what each must be told: every change from its registration to its removal.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use super::Life;

/// What an observer does when it is told of a change, and when it is dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habit {
    pub(super) acts: bool,
    pub(super) panics: bool,
    pub(super) acts_when_dropped: bool,
}

/// One observer. Sequence numbers of changes tell the time.
pub(super) struct Watcher {
    /// The last change before it was registered.
    from: u64,
    heard: AtomicU64,
    dropped: AtomicBool,
}

/// All observers there have been, and the registered ones by their names.
#[derive(Default)]
pub(super) struct Watchers {
    pub(super) all: Vec<Arc<Watcher>>,
    present: BTreeMap<u8, Arc<Watcher>>,
    /// Those that are removed, and the last change that they had to be told.
    removed: Vec<(Arc<Watcher>, u64)>,
}

impl Watcher {
    pub(super) fn hear(&self, sequence: u64) {
        let heard = self.heard.fetch_add(1, Ordering::Relaxed) + 1;
        assert_eq!(sequence, self.from + heard, "each change once, in order");
    }

    fn check(&self, until: u64) {
        assert_eq!(self.heard.load(Ordering::Relaxed), until - self.from, "told all that it had to be");
    }

    pub(super) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Watchers {
    /// One is about to be registered, when so many changes have been told.
    pub(super) fn add(&mut self, name: u8, told: u64) -> Arc<Watcher> {
        self.remove(name, told);
        let watcher =
            Arc::new(Watcher { from: told, heard: AtomicU64::new(0), dropped: AtomicBool::new(false) });
        self.present.insert(name, Arc::clone(&watcher));
        self.all.push(Arc::clone(&watcher));
        watcher
    }

    /// One is about to be removed. Whether there is one.
    pub(super) fn remove(&mut self, name: u8, told: u64) -> bool {
        let removed = self.present.remove(&name);
        let was = removed.is_some();
        self.removed.extend(removed.map(|watcher| (watcher, told)));
        was
    }

    pub(super) fn check(&self, told: u64) {
        self.removed.iter().for_each(|(watcher, until)| watcher.check(*until));
        self.present.values().for_each(|watcher| watcher.check(told));
    }
}

/// What an observer captures: tells when it is dropped, and may act then.
pub(super) struct Token {
    watcher: Arc<Watcher>,
    life: Weak<Life>,
    acts: bool,
}

impl Token {
    pub(super) fn new(watcher: Arc<Watcher>, life: Weak<Life>, acts: bool) -> Self {
        Self { watcher, life, acts }
    }

    pub(super) fn watcher(&self) -> &Watcher {
        &self.watcher
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        assert!(!self.watcher.dropped.swap(true, Ordering::Relaxed), "dropped twice");
        if let Some(life) = self.life.upgrade().filter(|_| self.acts) {
            life.act();
        }
    }
}
