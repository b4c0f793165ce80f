//! A thread's resources by number, and its calls that are out.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tripcoil::{Blocked, Outcome, RawBlocked, RawEntry, Resource};

use crate::entries::{Entries, NO_ENTRY};
use crate::mail::Mail;
use crate::names;
use crate::observer::Inbox;
use crate::passes::Passes;
use crate::pulse;
use crate::rule::limited;

/// Bits of the number that `enter` gives: the entry's number above, and below it room for the outcome.
mod token {
    /// Changes wait to be told.
    const CHANGED: i32 = 4;
    /// The number is that of a pass.
    const PASS: i32 = 1 << 30;
    const ENTRY: u32 = 3;

    pub(super) fn of_pass(pass: u32, changed: bool) -> i32 {
        of(pass, changed) | PASS
    }

    #[inline]
    pub(super) fn pass(token: i32) -> Option<u32> {
        (token & PASS != 0).then(|| entry(token & !PASS))
    }

    #[inline]
    pub(super) fn of(entry: u32, changed: bool) -> i32 {
        (entry << ENTRY).cast_signed() | if changed { CHANGED } else { 0 }
    }

    #[inline]
    pub(super) fn entry(token: i32) -> u32 {
        token.cast_unsigned() >> ENTRY
    }
}

/// How often a caller makes use of what it is given.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Leave {
    /// For one call.
    Once,
    /// For as many as it can be: that is a pass, where there is one.
    Often,
}

thread_local! {
    /// An environment has one thread all its life.
    static CALLS: Rc<Calls> = Rc::new(Calls {
        mail: Mail::default(),
        seats: RefCell::default(),
        entries: RefCell::new(Entries::new()),
        passes: Passes::new(),
    });
}

/// A thread's resources by number, and its calls that are out.
pub(crate) struct Calls {
    pub(crate) mail: Mail,
    seats: RefCell<Seats>,
    entries: RefCell<Entries<(RawEntry, Rc<Seat>)>>,
    passes: Passes,
}

#[derive(Default)]
struct Seats {
    all: Vec<Option<Rc<Seat>>>,
    free: Vec<u32>,
}

/// A resource as one environment uses it.
pub(crate) struct Seat {
    pub(crate) resource: Resource,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) rejections: Rejections,
    /// The number of the pass that was given last, if one was.
    pub(crate) pass: Cell<u32>,
}

impl Seat {
    pub(crate) fn new(resource: Resource, inbox: Arc<Inbox>) -> Rc<Self> {
        Rc::new(Self { resource, inbox, rejections: Rejections::default(), pass: Cell::new(NO_ENTRY) })
    }
}

impl Calls {
    /// Those of this thread.
    pub(crate) fn of_thread() -> Rc<Self> {
        CALLS.with(Rc::clone)
    }

    /// Those of this thread, for a function that only looks at them.
    #[inline]
    pub(crate) fn here<T>(look: impl FnOnce(&Self) -> T) -> T {
        CALLS.with(|calls| look(calls))
    }

    /// Gives a resource a number.
    pub(crate) fn seat(&self, seat: Rc<Seat>) -> u32 {
        let mut seats = self.seats.borrow_mut();
        if let Some(number) = seats.free.pop() {
            seats.all[number as usize] = Some(seat);
            return number;
        }
        seats.all.push(Some(seat));
        seats.all.len() as u32 - 1
    }

    /// Nobody uses the number any more; calls that are out keep their resource.
    pub(crate) fn unseat(&self, number: u32) {
        let mut seats = self.seats.borrow_mut();
        let left = seats.all.get_mut(number as usize).and_then(Option::take);
        if left.is_some() {
            seats.free.push(number);
        }
        // Dropped after the borrow: what it holds may be the last of a registry.
        drop(seats);
        drop(left);
    }

    #[inline]
    pub(crate) fn enter(&self, number: u32, leave: Leave) -> i32 {
        match self.seats.borrow().all.get(number as usize) {
            Some(Some(seat)) => self.enter_at(seat, leave),
            _ => token::of(NO_ENTRY, false),
        }
    }

    #[inline]
    pub(crate) fn enter_at(&self, seat: &Rc<Seat>, leave: Leave) -> i32 {
        let mut entries = self.entries.borrow_mut();
        let Some((number, place)) = entries.vacant() else {
            return token::of(NO_ENTRY, seat.inbox.is_filled());
        };
        // The short way by itself, so that there the entry is made in its place.
        if let Some(entry) = seat.resource.enter_closed_raw() {
            *place = Some((entry, Rc::clone(seat)));
            if leave == Leave::Often
                && let Some((entry, seat)) = place.take_if(|(entry, _)| !entry.is_timed())
            {
                let changed = seat.inbox.is_filled();
                let pass = self.passes.of(entry, seat);
                return pass
                    .map_or_else(|| token::of(NO_ENTRY, changed), |pass| token::of_pass(pass, changed));
            }
        } else {
            match seat.resource.enter_any_raw() {
                Ok(entry) => *place = Some((entry, Rc::clone(seat))),
                Err(blocked) => return seat.rejections.note(blocked),
            }
        }
        entries.occupy();
        token::of(number, seat.inbox.is_filled())
    }

    /// Ends a call; one that has ended is left alone.
    #[inline]
    pub(crate) fn exit(&self, token: i32, response_time: Option<Duration>) -> bool {
        if let Some(pass) = token::pass(token) {
            return self.passes.end(pass, names::outcome(token));
        }
        let end = |(entry, seat): &(RawEntry, Rc<Seat>)| {
            seat.resource.end_raw(entry, names::outcome(token), response_time);
            seat.inbox.is_filled()
        };
        self.entries.borrow_mut().end(token::entry(token), end).unwrap_or(false)
    }

    /// Nobody uses the token of a pass any more.
    pub(crate) fn forget(&self, token: i32) {
        if let Some(pass) = token::pass(token) {
            self.passes.forget(pass);
        }
    }

    /// How long, in ms, the last call that the resource of a number has blocked has to wait.
    pub(crate) fn retry_after(&self, number: u32) -> f64 {
        match self.seats.borrow().all.get(number as usize) {
            Some(Some(seat)) => seat.rejections.retry_after(),
            _ => f64::INFINITY,
        }
    }
}

/// The thread ends: calls that are out have no outcome, and probes give their places back.
impl Drop for Calls {
    fn drop(&mut self) {
        let end = |(entry, seat): &(RawEntry, Rc<Seat>)| {
            seat.resource.end_raw(entry, Outcome::Cancelled, None);
        };
        self.entries.get_mut().end_all(end);
    }
}

/// The last rejection, and a number for its reason.
#[derive(Default)]
pub(crate) struct Rejections {
    pub(crate) last: RefCell<Option<Blocked>>,
    reason: Cell<i32>,
}

impl Rejections {
    /// Notes a rejection. Its reason has a new number unless it is the one before.
    fn note(&self, blocked: Blocked) -> i32 {
        let mut last = self.last.borrow_mut();
        if !last.as_ref().is_some_and(|last| is_same(last, &blocked)) {
            self.reason.set(self.reason.get().checked_sub(1).unwrap_or(-1));
            // The thread that has made the change may be about to say so only now: no call by an older pass may
            // follow one that has been blocked.
            pulse::beat();
        }
        *last = Some(blocked);
        self.reason.get()
    }

    pub(crate) fn retry_after(&self) -> f64 {
        self.last.borrow().as_ref().map_or(f64::INFINITY, |last| limited(last.retry_after()))
    }
}

/// Whether one breaker has rejected two calls in one state.
fn is_same(one: &Blocked, other: &Blocked) -> bool {
    let (
        RawBlocked::Breaker { slot, rejection },
        RawBlocked::Breaker { slot: other_slot, rejection: other_rejection },
    ) = (one.raw(), other.raw())
    else {
        return false;
    };
    slot == other_slot && rejection.generation() == other_rejection.generation()
}
