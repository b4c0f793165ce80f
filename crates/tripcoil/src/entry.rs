//! An admitted call, from admission to its end.

use std::borrow::Borrow;
use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::clock::to_nanos;
use crate::held::Held;
use crate::outcome::Outcome;
use crate::resource::Inner;
use crate::slot::Slot;

/// An admitted call. Made by [`Resource::enter`](crate::Resource::enter).
///
/// End it with [`Entry::end`]. Dropped unfinished it counts as cancelled, and dropped while the thread
/// unwinds as an error.
#[must_use = "an entry that is dropped at once is a cancelled call"]
pub struct Entry<'r> {
    resource: &'r Arc<Inner>,
    /// Where the only permit in `held` is of, if nothing else is to be done with it.
    slot: Option<&'r Slot>,
    held: Held,
    /// Bits of `marks`, in a word: entries are moved by words, and moving single bytes is slower.
    marks: Cell<usize>,
}

mod marks {
    pub(super) const BAD: usize = 1;
    /// The thread was unwinding already when the call began, in some destructor.
    pub(super) const WAS_UNWINDING: usize = 2;
}

/// An admitted call that owns what it needs: it may be kept anywhere and ended on any thread. Made by
/// [`Resource::enter_owned`](crate::Resource::enter_owned).
///
/// It ends once, however many threads try. Dropping it is as for [`Entry`].
#[must_use = "an entry that is dropped at once is a cancelled call"]
pub struct OwnedEntry {
    resource: Arc<Inner>,
    held: Held,
    bad: AtomicBool,
    was_unwinding: bool,
    ended: AtomicBool,
}

/// The entry had been ended before; this end counts nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyEnded;

impl fmt::Display for AlreadyEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the entry has been ended already; this outcome counts nowhere")
    }
}

impl Error for AlreadyEnded {}

fn judged(outcome: Outcome, marked_bad: bool) -> Outcome {
    if outcome == Outcome::Good && marked_bad { Outcome::Bad } else { outcome }
}

/// The end of a call that nobody has ended.
#[cold]
#[inline(never)]
fn abandon(resource: &Arc<Inner>, held: impl Borrow<Held>, was_unwinding: bool) {
    let unwinds = std::thread::panicking() && !was_unwinding;
    resource.finish(held, if unwinds { Outcome::Bad } else { Outcome::Cancelled }, None);
}

impl<'r> Entry<'r> {
    #[inline(always)]
    pub(crate) fn new(resource: &'r Arc<Inner>, slot: Option<&'r Slot>, held: Held) -> Self {
        let marks = if std::thread::panicking() { marks::WAS_UNWINDING } else { 0 };
        Self { resource, slot, held, marks: Cell::new(marks) }
    }

    /// Ends the call. The response time is the time since it was admitted.
    #[inline(always)]
    pub fn end(self, outcome: Outcome) {
        self.end_once(outcome, None);
    }

    /// Ends the call with a response time that the caller has measured.
    pub fn end_with(self, outcome: Outcome, response_time: Duration) {
        self.end_once(outcome, Some(to_nanos(response_time)));
    }

    #[inline(always)]
    fn end_once(self, outcome: Outcome, response_time: Option<u64>) {
        // Not to be dropped: its memory is taken out, and nothing is left to be ended.
        let mut entry = ManuallyDrop::new(self);
        let outcome = judged(outcome, entry.marks.get() & marks::BAD != 0);
        entry.resource.finish_in(entry.slot, entry.take(), outcome, response_time);
    }

    /// What is still to be ended: nothing, once it has been taken.
    #[inline(always)]
    fn take(&mut self) -> Held {
        std::mem::replace(&mut self.held, Held::new(None))
    }

    /// The same call as an entry that may outlive this frame: for bindings, which learn too late that it has to.
    #[doc(hidden)]
    pub fn into_owned(self) -> OwnedEntry {
        let mut entry = ManuallyDrop::new(self);
        let owned = OwnedEntry::new(Arc::clone(entry.resource), entry.take());
        if entry.marks.get() & marks::BAD != 0 {
            owned.mark_bad();
        }
        owned
    }

    /// Makes a later good end of this call count as bad: for errors that do not show in what the call
    /// returns, as with Sentinel's `Tracer`.
    pub fn mark_bad(&self) {
        self.marks.set(self.marks.get() | marks::BAD);
    }

    /// The caller ends it in the same function: dropped unfinished, it is because the stack unwinds out
    /// of the call, whatever the thread was doing before.
    #[inline]
    pub(crate) fn ends_here(&self) {
        self.marks.set(self.marks.get() & !marks::WAS_UNWINDING);
    }

    /// The resource's name.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource.name
    }
}

impl Drop for Entry<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.held.is_empty() {
            abandon(self.resource, self.take(), self.marks.get() & marks::WAS_UNWINDING != 0);
        }
    }
}

impl OwnedEntry {
    pub(crate) fn new(resource: Arc<Inner>, held: Held) -> Self {
        let (bad, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { resource, held, bad, was_unwinding: std::thread::panicking(), ended }
    }

    /// Ends the call. The response time is the time since it was admitted.
    ///
    /// # Errors
    /// [`AlreadyEnded`] at every call but the first.
    pub fn end(&self, outcome: Outcome) -> Result<(), AlreadyEnded> {
        self.end_once(outcome, None)
    }

    /// Ends the call with a response time that the caller has measured.
    ///
    /// # Errors
    /// [`AlreadyEnded`] at every call but the first.
    pub fn end_with(&self, outcome: Outcome, response_time: Duration) -> Result<(), AlreadyEnded> {
        self.end_once(outcome, Some(response_time))
    }

    fn end_once(&self, outcome: Outcome, response_time: Option<Duration>) -> Result<(), AlreadyEnded> {
        // Relaxed, as all here: one of those who try finds it false, and the others need nothing that it does.
        // A mark came before the end only by what the threads have done to agree on that, and is seen by it.
        if self.ended.swap(true, Ordering::Relaxed) {
            return Err(AlreadyEnded);
        }
        let outcome = judged(outcome, self.bad.load(Ordering::Relaxed));
        self.resource.finish(&self.held, outcome, response_time.map(to_nanos));
        Ok(())
    }

    /// As [`Entry::mark_bad`]. Of no effect once the entry has ended.
    pub fn mark_bad(&self) {
        self.bad.store(true, Ordering::Relaxed);
    }

    /// Whether the entry has been ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// The resource's name.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource.name
    }
}

impl Drop for OwnedEntry {
    fn drop(&mut self) {
        if !*self.ended.get_mut() {
            abandon(&self.resource, &self.held, self.was_unwinding);
        }
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("resource", &self.resource()).finish_non_exhaustive()
    }
}

impl fmt::Debug for OwnedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = self.has_ended();
        f.debug_struct("OwnedEntry").field("resource", &self.resource()).field("ended", &ended).finish()
    }
}
