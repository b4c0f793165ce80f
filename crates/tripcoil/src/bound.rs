//! A registry with a limit: who may take whose place.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use tripcoil_core::{Mode, State};

use crate::names::Names;
use crate::resource::Inner;

/// The names that a bounded registry has room for, the next candidate for eviction first.
pub(crate) struct Bound {
    limit: usize,
    names: VecDeque<Box<str>>,
}

impl Bound {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, names: VecDeque::new() }
    }

    /// Whether a resource that has just been looked up is still the registry's.
    ///
    /// The fence pairs with the one in `evict`: either this thread sees the mark, or the evicting one
    /// sees this thread's reference.
    pub(crate) fn is_kept(resource: &Arc<Inner>) -> bool {
        fence(Ordering::SeqCst);
        !resource.evicted.load(Ordering::Relaxed)
    }

    /// Makes room for a new name, and says whether there is some.
    pub(crate) fn make_room(&mut self, resources: &Names, name: &str, now: impl Fn() -> u64) -> bool {
        if self.names.len() >= self.limit {
            let now = now();
            let found = (0..self.names.len()).any(|_| {
                let Some(candidate) = self.names.pop_front() else { return false };
                let evicted = evict(resources, &candidate, now);
                if !evicted {
                    self.names.push_back(candidate);
                }
                evicted
            });
            if !found {
                return false;
            }
        }
        self.names.push_back(name.into());
        true
    }
}

fn evict(resources: &Names, name: &str, now: u64) -> bool {
    resources.with(name, |resource| mark_evicted(resource, now)).is_none_or(|evicted| {
        if evicted {
            resources.remove(name);
        }
        evicted
    })
}

/// Marks a resource that nobody uses, and says whether it is marked.
fn mark_evicted(resource: &Arc<Inner>, now: u64) -> bool {
    let unused = || {
        // Acquire: what was done through a handle that is gone is seen by those who find it gone.
        let alone = Arc::strong_count(resource) == 1;
        fence(Ordering::Acquire);
        alone && is_like_new(resource, now)
    };
    if !unused() {
        return false;
    }
    resource.evicted.store(true, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    // Look again: somebody may have taken a handle, and used it, before the mark could be seen.
    if !unused() {
        resource.evicted.store(false, Ordering::Relaxed);
        return false;
    }
    true
}

/// Whether every breaker equals a new one, and so does the legacy check.
fn is_like_new(resource: &Inner, now: u64) -> bool {
    let breakers = resource.assigned().slots().all(|slot| {
        let snapshot = resource.slot(slot).breaker().snapshot(now);
        snapshot.state == State::Closed
            && snapshot.mode == Mode::Normal
            && snapshot.window.total() == 0
            && snapshot.run == 0
    });
    breakers && resource.is_legacy_like_new(now)
}
