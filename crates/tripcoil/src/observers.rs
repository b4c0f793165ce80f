//! Telling observers of changes: exactly once, in order, with no lock held.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;

use crate::change::Change;
use crate::resource::Inner;
use crate::unwind::discard;

type Observer = dyn Fn(&Change) + Send + Sync;

/// What a registry's resources share for announcing changes.
#[derive(Default)]
pub(crate) struct Observers {
    list: ArcSwap<Vec<(Arc<str>, Arc<Observer>)>>,
    sequence: AtomicU64,
    panics: AtomicU64,
    /// See `Registry::notice`.
    notice: OnceLock<fn()>,
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list.load().iter().map(|(name, _)| name)).finish()
    }
}

impl Observers {
    /// Adds an observer, or replaces the one of the same name in its place.
    pub(crate) fn set(&self, name: &str, observer: Arc<Observer>) {
        let entry = (Arc::from(name), observer);
        self.list.rcu(|list| {
            let mut list = Vec::clone(list);
            match list.iter_mut().find(|(present, _)| **present == *name) {
                Some(present) => *present = entry.clone(),
                None => list.push(entry.clone()),
            }
            list
        });
    }

    /// Removes an observer, and says whether there was one.
    pub(crate) fn remove(&self, name: &str) -> bool {
        let kept = |list: &Vec<(Arc<str>, Arc<Observer>)>| {
            list.iter().filter(|(present, _)| **present != *name).cloned().collect::<Vec<_>>()
        };
        let before = self.list.rcu(|list| kept(list));
        before.iter().any(|(present, _)| **present == *name)
    }

    /// What whoever makes a change calls at once. The first stays.
    pub(crate) fn set_notice(&self, notice: fn()) {
        let _ = self.notice.set(notice);
    }

    pub(crate) fn notice(&self) {
        if let Some(notice) = self.notice.get() {
            notice();
        }
    }

    /// How many observer calls have panicked.
    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    fn tell(&self, change: &Change) {
        let list = self.list.load_full();
        for (_, observer) in list.iter() {
            // Whatever the observer leaves half done is its own; nothing of the library's is in reach.
            let Err(panic) = catch_unwind(AssertUnwindSafe(|| observer(change))) else { continue };
            self.panics.fetch_add(1, Ordering::Relaxed);
            discard(panic);
        }
        // An observer that was removed meanwhile is dropped here, with what it has captured.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(list))) {
            self.panics.fetch_add(1, Ordering::Relaxed);
            discard(panic);
        }
    }
}

thread_local! {
    static TELLING: Cell<bool> = const { Cell::new(false) };
    /// What an observer on this thread has changed: told when it has been told.
    static LATER: RefCell<VecDeque<(Arc<Inner>, u32)>> = const { RefCell::new(VecDeque::new()) };
}

/// Tells all changes of a breaker that are ready. The caller has been chosen to by its story.
#[cold]
pub(crate) fn announce(resource: &Arc<Inner>, slot: u32) {
    if TELLING.get() {
        let later = (Arc::clone(resource), slot);
        // Once the thread's locals are gone there is nobody to defer to.
        if LATER.try_with(|all| all.borrow_mut().push_back(later)).is_err() {
            drain(resource, slot);
        }
        return;
    }
    TELLING.set(true);
    drain(resource, slot);
    let next = || LATER.try_with(|later| later.borrow_mut().pop_front());
    while let Ok(Some((resource, slot))) = next() {
        drain(&resource, slot);
    }
    TELLING.set(false);
}

fn drain(resource: &Arc<Inner>, slot: u32) {
    let story = || resource.slot(slot).story();
    loop {
        let Some(told) = story().pop() else { return };
        let observers = &resource.shared.observers;
        let sequence = observers.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        observers.tell(&Change::new(&resource.name, &told, sequence));
    }
}
