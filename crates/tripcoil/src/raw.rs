//! What a binding needs whose callers keep an admitted call in memory of their own, and promise what
//! the borrow checker would otherwise see to. Not for users, who have `Entry` and `OwnedEntry`.

use std::time::Duration;

use tripcoil_core::Rejection;

use crate::blocked::Blocked;
use crate::clock::to_nanos;
use crate::handle::Resource;
use crate::held::Held;
use crate::outcome::Outcome;
use crate::registry::Registry;

/// What an admitted call holds, without its resource. Owns memory only where more than two rules, or
/// the legacy check, guard the resource. Dropping it ends nothing: the call is then never heard of
/// again, and a probe's place becomes free when its lease ends.
///
/// Equal ones of [`Resource::enter_closed_raw`] stand for each other: each counts as many calls as it
/// ends. So whoever ends every call once may keep one for all that begin while nothing changes.
#[doc(hidden)]
#[derive(PartialEq)]
pub struct RawEntry(pub(crate) Held);

impl RawEntry {
    /// Whether somebody judges how long the call takes, from when it was admitted: then the entry stands for that
    /// call only.
    #[inline]
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.0.started().is_some()
    }
}

/// Why a call was rejected, without its resource.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum RawBlocked {
    /// By a breaker.
    Breaker {
        /// The breaker's place in the resource.
        slot: u32,
        /// What it said.
        rejection: Rejection,
    },
    /// By the legacy check, for so long.
    Legacy(Duration),
}

#[doc(hidden)]
impl Resource {
    /// As [`Resource::enter_owned`]; the call is ended by [`Resource::end_raw`] of this resource.
    ///
    /// # Errors
    /// [`Blocked`] where a breaker rejects: the call must not be made.
    #[inline]
    pub fn enter_raw(&self) -> Result<RawEntry, Blocked> {
        match self.enter_closed_raw() {
            Some(entry) => Ok(entry),
            None => self.enter_any_raw(),
        }
    }

    /// The short way of [`Resource::enter_raw`], for callers who make the entry where it stays: one
    /// healthy breaker. Where there is none, nothing has happened, and [`Resource::enter_any_raw`] is asked.
    #[inline]
    #[must_use]
    pub fn enter_closed_raw(&self) -> Option<RawEntry> {
        let quick = self.0.enter_quick().map(|(_, held)| held);
        quick.or_else(|| self.0.enter_closed()).map(RawEntry)
    }

    /// The long way of [`Resource::enter_raw`], apart so that the short one keeps all in registers.
    ///
    /// # Errors
    /// As there.
    #[inline(never)]
    pub fn enter_any_raw(&self) -> Result<RawEntry, Blocked> {
        if let Some(blocked) = self.0.reject_quick() {
            return Err(blocked);
        }
        let mut held = Held::new(None);
        self.0.enter(&mut held)?;
        Ok(RawEntry(held))
    }

    /// Ends a call that this very resource admitted. Without a response time of the caller's, it is the
    /// time since the call was admitted.
    #[inline(never)]
    pub fn end_raw(&self, entry: &RawEntry, outcome: Outcome, response_time: Option<Duration>) {
        self.0.finish(&entry.0, outcome, response_time.map(to_nanos));
    }

    /// The rejection that [`Blocked::raw`] took apart. None where the legacy check rejected.
    #[must_use]
    pub fn blocked(&self, raw: RawBlocked) -> Option<Blocked> {
        match raw {
            RawBlocked::Breaker { slot, rejection } => Some(Blocked::by_breaker(&self.0, slot, rejection)),
            RawBlocked::Legacy(_) => None,
        }
    }
}

#[doc(hidden)]
impl Registry {
    /// Has every thread that changes a breaker call `notice` before it goes on, also where another thread is to tell
    /// observers of the change, later: for those who keep what [`Resource::enter_closed_raw`] gives. Loads are not
    /// noticed. The first one stays; it must not panic, and not use the library.
    pub fn notice(&self, notice: fn()) {
        self.0.shared.observers.set_notice(notice);
    }
}
