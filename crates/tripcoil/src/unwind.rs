//! That handles may be used after a panic, so that calls can be guarded inside of `catch_unwind`.
//!
//! The compiler does not see it, for the locks and the user's clock and observers behind every handle. It
//! holds because no panic leaves anything half done: breakers change by single atomic steps; under a lock
//! only the library's own code changes anything; what a user's guarded calls, classifiers and observers do,
//! they do while no lock is held; and a user's clock is asked where its panics go nowhere. The locks are
//! taken whether they are poisoned or not.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};

use crate::{Blocked, Breaker, Entry, OwnedEntry, Registry, Resource};

impl UnwindSafe for Registry {}
impl RefUnwindSafe for Registry {}
impl UnwindSafe for Resource {}
impl RefUnwindSafe for Resource {}
impl UnwindSafe for Breaker {}
impl RefUnwindSafe for Breaker {}
impl UnwindSafe for Entry<'_> {}
impl RefUnwindSafe for Entry<'_> {}
impl UnwindSafe for OwnedEntry {}
impl RefUnwindSafe for OwnedEntry {}
impl UnwindSafe for Blocked {}
impl RefUnwindSafe for Blocked {}

/// Drops what a contained panic carries. That may panic, too; what this carries is left alone.
pub(crate) fn discard(panic: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        mem::forget(again);
    }
}
