//! Leave that stands for many calls.
//!
//! A healthy breaker gives every call the same leave until something changes. So JavaScript keeps it, looks at the pulse
//! (`pulse.rs`) instead of asking, and crosses only at the end of a call.

use std::cell::RefCell;
use std::rc::Rc;

use tripcoil::{Outcome, RawEntry};

use crate::calls::Seat;
use crate::entries::Entries;

/// The passes of a thread, by number.
pub(crate) struct Passes(RefCell<Entries<(RawEntry, Rc<Seat>)>>);

impl Passes {
    pub(crate) fn new() -> Self {
        Self(RefCell::new(Entries::new()))
    }

    /// The number of a pass of this leave, which is the resource's last one if that is the same. None where there is
    /// no more room.
    pub(crate) fn of(&self, entry: RawEntry, seat: Rc<Seat>) -> Option<u32> {
        let mut all = self.0.borrow_mut();
        let last = seat.pass.get();
        if all.get(last).is_some_and(|(kept, owner)| *kept == entry && Rc::ptr_eq(owner, &seat)) {
            return Some(last);
        }
        let (number, place) = all.vacant()?;
        seat.pass.set(number);
        *place = Some((entry, seat));
        all.occupy();
        Some(number)
    }

    /// Ends one of the calls of a pass. Says whether changes wait to be told.
    #[inline]
    pub(crate) fn end(&self, number: u32, outcome: Outcome) -> bool {
        self.0.borrow().get(number).is_some_and(|(entry, seat)| {
            seat.resource.end_raw(entry, outcome, None);
            seat.inbox.is_filled()
        })
    }

    /// Nobody begins or ends a call by this pass any more.
    pub(crate) fn forget(&self, number: u32) {
        let gone = self.0.borrow_mut().take(number);
        // After the borrow: what it holds may be the last of a registry.
        drop(gone);
    }
}
