//! Breakers: what one rule makes of one resource.

use std::ffi::c_char;

use tripcoil::{Breaker, Trip};

use crate::clock::nanos;
use crate::codes;
use crate::guard::guard;
use crate::handle::{Handle, Pool, borrow, free, place};
use crate::status::{TRIPCOIL_NOT_FOUND, TRIPCOIL_REMOVED, tripcoil_status};
use crate::text;

/// One rule's breaker on one resource. Made by `tripcoil_resource_breaker`. One whose rule has been
/// removed since reads as one that has never been used, and cannot be controlled.
pub struct tripcoil_breaker(pub(crate) Breaker);

impl Handle for tripcoil_breaker {
    const MARK: usize = 0x6b61_7262;

    fn pool() -> &'static Pool<Self> {
        static POOL: Pool<tripcoil_breaker> = Pool::new();
        &POOL
    }
}

/// In a time in ns: there is none, or no limit.
pub const TRIPCOIL_NEVER: u64 = u64::MAX;

/// A breaker at one time. While calls run, parts of it may be a call apart.
#[repr(C)]
pub struct tripcoil_snapshot {
    /// `TRIPCOIL_CLOSED`, `TRIPCOIL_OPEN`, or `TRIPCOIL_HALF_OPEN`.
    pub state: i32,
    /// `TRIPCOIL_NORMAL`, `TRIPCOIL_FORCED_OPEN`, `TRIPCOIL_DISABLED`, or `TRIPCOIL_OBSERVE_ONLY`.
    pub mode: i32,
    /// Grows with every change of state or mode, and every forfeited probe round.
    pub generation: u64,
    /// Calls in the window that were not bad.
    pub good: u64,
    /// Calls in the window that were bad.
    pub bad: u64,
    /// Failed calls since the last good one, for consecutive-errors rules; else 0.
    pub run: u64,
    /// Time until the next probe may go; `TRIPCOIL_NEVER` without a limit, and where none is waited for.
    pub retry_after_ns: u64,
    /// Since the rule was loaded: calls that were admitted and have ended.
    pub total_passed: u64,
    /// Calls rejected.
    pub total_blocked: u64,
    /// Outcomes that counted as good.
    pub total_good: u64,
    /// Outcomes that counted as bad.
    pub total_bad: u64,
    /// Outcomes ignored.
    pub total_ignored: u64,
    /// Calls given up.
    pub total_cancelled: u64,
    /// Outcomes that came after the breaker had moved on.
    pub total_late: u64,
    /// Calls that an observing breaker would have rejected.
    pub total_observed: u64,
}

/// Why a breaker opened.
#[repr(C)]
pub struct tripcoil_trip {
    /// One of the `TRIPCOIL_CAUSE_` numbers.
    pub cause: i32,
    /// The value that was compared: a ratio, or a count; 1.0 where the breaker reopened.
    pub value: f64,
    /// The threshold as the decision used it.
    pub threshold: f64,
    /// Calls in the window that were not bad.
    pub good: u64,
    /// Calls in the window that were bad; for consecutive errors, the run.
    pub bad: u64,
    /// Length of the window.
    pub window_ns: u64,
    /// The generation that began.
    pub generation: u64,
    /// When, on the registry's clock.
    pub at_ns: u64,
    /// Until when the breaker is open, on the registry's clock; `TRIPCOIL_NEVER` for ever.
    pub open_until_ns: u64,
}

/// Reads the state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_breaker_state(
    breaker: *const tripcoil_breaker,
    state: *mut i32,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for a number.
        let (breaker, state) = unsafe { (borrow(breaker)?, place(state)?) };
        state.set(codes::of_state(breaker.0.state()));
        Ok(())
    })
}

/// Reads state, counts, deadlines and totals, and changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_breaker_snapshot(
    breaker: *const tripcoil_breaker,
    snapshot: *mut tripcoil_snapshot,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for the struct.
        let (breaker, place) = unsafe { (borrow(breaker)?, place(snapshot)?) };
        let taken = breaker.0.snapshot();
        place.set(tripcoil_snapshot {
            state: codes::of_state(taken.state),
            mode: codes::of_mode(taken.mode),
            generation: taken.generation,
            good: taken.good,
            bad: taken.bad,
            run: taken.run,
            retry_after_ns: taken.retry_after.map_or(TRIPCOIL_NEVER, nanos),
            total_passed: taken.totals.passed,
            total_blocked: taken.totals.blocked,
            total_good: taken.totals.good,
            total_bad: taken.totals.bad,
            total_ignored: taken.totals.ignored,
            total_cancelled: taken.totals.cancelled,
            total_late: taken.totals.late,
            total_observed: taken.totals.observed,
        });
        Ok(())
    })
}

impl From<Trip> for tripcoil_trip {
    fn from(trip: Trip) -> Self {
        Self {
            cause: codes::of_cause(trip.cause),
            value: trip.value,
            threshold: trip.threshold,
            good: trip.good,
            bad: trip.bad,
            window_ns: nanos(trip.window),
            generation: trip.generation,
            at_ns: nanos(trip.at),
            open_until_ns: trip.open_until.map_or(TRIPCOIL_NEVER, nanos),
        }
    }
}

/// Reads why the breaker last opened. `TRIPCOIL_NOT_FOUND` where it never has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_breaker_last_trip(
    breaker: *const tripcoil_breaker,
    trip: *mut tripcoil_trip,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for the struct.
        let (breaker, place) = unsafe { (borrow(breaker)?, place(trip)?) };
        place.set(breaker.0.last_trip().ok_or(TRIPCOIL_NOT_FOUND)?.into());
        Ok(())
    })
}

/// Copies a sentence that explains the last trip. `TRIPCOIL_NOT_FOUND` where there has been none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_breaker_explain(
    breaker: *const tripcoil_breaker,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle.
        let trip = unsafe { borrow(breaker)? }.0.last_trip().ok_or(TRIPCOIL_NOT_FOUND)?;
        // SAFETY: the contract: a buffer and a place for its length.
        unsafe { text::put(&trip.to_string(), buffer, capacity, needed) }
    })
}

/// Copies the rule as it was when the handle was asked for, normalised, as JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_breaker_rule(
    breaker: *const tripcoil_breaker,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> tripcoil_status {
    // SAFETY: the contract: a handle, a buffer and a place for its length.
    guard(|| unsafe { text::put(&borrow(breaker)?.0.rule().to_json(), buffer, capacity, needed) })
}

/// Sets the mode, which closes the breaker and clears its window, and announces it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_breaker_set_mode(
    breaker: *const tripcoil_breaker,
    mode: i32,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle.
        let breaker = unsafe { borrow(breaker)? };
        if breaker.0.set_mode(codes::mode(mode)?) { Ok(()) } else { Err(TRIPCOIL_REMOVED) }
    })
}

/// Closes the breaker and clears its window within its mode, and announces it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_breaker_reset(breaker: *const tripcoil_breaker) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle.
        let breaker = unsafe { borrow(breaker)? };
        if breaker.0.reset() { Ok(()) } else { Err(TRIPCOIL_REMOVED) }
    })
}

/// Frees the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_breaker_free(breaker: *mut tripcoil_breaker) -> tripcoil_status {
    // SAFETY: the contract: a handle that no call uses, or NULL.
    guard(|| unsafe { free(breaker) })
}
