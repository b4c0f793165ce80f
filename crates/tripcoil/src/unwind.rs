//! That handles may be used after a panic, so that calls can be guarded inside of `catch_unwind`.
//!
//! The compiler does not see it, for the locks and the user's clock and observers behind every handle. It
//! holds because no panic leaves anything half done: breakers change by single atomic steps; under a lock
//! only the library's own code changes anything, and a user's clock is at most asked before it does; what a
//! user's guarded calls, classifiers and observers do, they do while no lock is held. And the locks are
//! taken whether they are poisoned or not.

use std::panic::{RefUnwindSafe, UnwindSafe};

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
