//! The functions through which every call of an environment goes.
//!
//! They are made once for all resources, which they are told by number: an engine that always finds the
//! same function calls it twice as fast as one that finds a different one for each resource.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::Function;
use napi::{Env, Result};
use napi_derive::napi;
use tripcoil::{Blocked, Outcome, RawBlocked, RawEntry, Resource};

use crate::entries::{Entries, NO_ENTRY};
use crate::names;
use crate::observer::Inbox;
use crate::rule::limited;

/// Bits of the number that `enter` gives: the entry's number above, and below it room for the outcome.
mod token {
    /// Changes wait to be told.
    const CHANGED: i32 = 4;
    const ENTRY: u32 = 3;

    #[inline]
    pub(super) fn of(entry: u32, changed: bool) -> i32 {
        (entry << ENTRY).cast_signed() | if changed { CHANGED } else { 0 }
    }

    #[inline]
    pub(super) fn entry(token: i32) -> u32 {
        token.cast_unsigned() >> ENTRY
    }
}

/// The functions through which calls go.
#[napi(object, object_from_js = false)]
pub(crate) struct Doors<'env> {
    /// Begins a call on the resource of a number. Not negative: a token for `exit`, in which the bit 4
    /// says that changes wait. Negative: blocked, for a reason that has this number.
    pub enter: Function<'env, u32, i32>,
    /// Ends a call: its token plus 0 for good, 1 for bad, 2 for ignored, 3 for cancelled. Says whether
    /// changes wait.
    pub exit: Function<'env, i32, bool>,
    /// How long, in ms, the last call that the resource of a number has blocked has to wait.
    pub retry_after: Function<'env, u32, f64>,
}

/// Makes the functions of an environment.
#[napi(catch_unwind)]
pub(crate) fn doors(env: &Env) -> Result<Doors<'_>> {
    let (entering, exiting, asking) = (Calls::of_thread(), Calls::of_thread(), Calls::of_thread());
    Ok(Doors {
        enter: env.create_function_from_closure("enter", move |call| Ok(entering.enter(call.get(0)?)))?,
        exit: env.create_function_from_closure("exit", move |call| Ok(exiting.exit(call.get(0)?, None)))?,
        retry_after: env
            .create_function_from_closure("retryAfter", move |call| Ok(asking.retry_after(call.get(0)?)))?,
    })
}

thread_local! {
    /// An environment has one thread all its life; nothing in here is JavaScript's.
    static CALLS: Rc<Calls> = Rc::new(Calls {
        seats: RefCell::default(),
        entries: RefCell::new(Entries::new()),
    });
}

/// A thread's resources by number, and its calls that are out.
pub(crate) struct Calls {
    seats: RefCell<Seats>,
    entries: RefCell<Entries<(RawEntry, Rc<Seat>)>>,
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
}

impl Seat {
    pub(crate) fn new(resource: Resource, inbox: Arc<Inbox>) -> Rc<Self> {
        Rc::new(Self { resource, inbox, rejections: Rejections::default() })
    }
}

impl Calls {
    /// Those of this thread.
    pub(crate) fn of_thread() -> Rc<Self> {
        CALLS.with(Rc::clone)
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
    fn enter(&self, number: u32) -> i32 {
        match self.seats.borrow().all.get(number as usize) {
            Some(Some(seat)) => self.enter_at(seat),
            _ => token::of(NO_ENTRY, false),
        }
    }

    #[inline]
    pub(crate) fn enter_at(&self, seat: &Rc<Seat>) -> i32 {
        let mut entries = self.entries.borrow_mut();
        let Some((number, place)) = entries.vacant() else {
            return token::of(NO_ENTRY, seat.inbox.is_filled());
        };
        // The short way by itself, so that there the entry is made in its place.
        if let Some(entry) = seat.resource.enter_closed_raw() {
            *place = Some((entry, Rc::clone(seat)));
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
        let end = |(entry, seat): &(RawEntry, Rc<Seat>)| {
            seat.resource.end_raw(entry, names::outcome(token), response_time);
            seat.inbox.is_filled()
        };
        self.entries.borrow_mut().end(token::entry(token), end).unwrap_or(false)
    }

    fn retry_after(&self, number: u32) -> f64 {
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
