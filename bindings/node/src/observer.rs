//! Changes on their way to JavaScript.
//!
//! A change is made by some thread: this environment's, within one of its calls, or another's, of a
//! worker that uses the same registry. It is put into the environment's inbox. The environment empties
//! it right after a call of its own that found it filled; for changes that others make it is woken by a
//! threadsafe function, which keeps no event loop alive and does nothing once the environment is gone.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::bindgen_prelude::Function;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Result, Status};
use tripcoil::Registry;

/// The most changes that wait for an environment whose thread is busy; beyond that, the oldest is lost.
const MOST: usize = 1 << 16;

type Wake = ThreadsafeFunction<(), (), (), Status, false, true, 1>;

/// Changes that JavaScript has not been told of yet.
#[derive(Default)]
pub(crate) struct Inbox {
    filled: AtomicBool,
    lost: AtomicU64,
    changes: Mutex<VecDeque<tripcoil::Change>>,
}

impl Inbox {
    /// Whether there is something to tell. A stale answer only delays what the wake-up then tells.
    #[inline]
    pub(crate) fn is_filled(&self) -> bool {
        self.filled.load(Ordering::Relaxed)
    }

    /// How many changes were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn take(&self) -> Option<tripcoil::Change> {
        let mut changes = self.changes();
        let change = changes.pop_front();
        self.filled.store(!changes.is_empty(), Ordering::Relaxed);
        change
    }

    fn put(&self, change: tripcoil::Change) {
        let mut changes = self.changes();
        if changes.len() == MOST {
            changes.pop_front();
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        changes.push_back(change);
        self.filled.store(true, Ordering::Relaxed);
    }

    fn changes(&self) -> MutexGuard<'_, VecDeque<tripcoil::Change>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An environment's observer of a registry. Dropping it ends it.
pub(crate) struct Observer {
    registry: Registry,
    name: String,
}

impl Observer {
    /// Begins to fill the inbox, and to call `wake` for changes that other threads make.
    pub(crate) fn new(registry: &Registry, inbox: &Arc<Inbox>, wake: &Function<'_, (), ()>) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("node {}", NEXT.fetch_add(1, Ordering::Relaxed));
        let wake: Wake = wake.build_threadsafe_function().weak::<true>().max_queue_size::<1>().build()?;
        let inbox = Arc::clone(inbox);
        registry.observe(&name, move |change| {
            inbox.put(change.clone());
            // Full: it will be woken anyway. Closing: the environment is going, and wants nothing more.
            let _ = wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        });
        Ok(Self { registry: registry.clone(), name })
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.registry.unobserve(&self.name);
    }
}
