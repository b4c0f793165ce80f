//! The virtual clock.

use std::time::Duration;

use tripcoil::VirtualClock;

use crate::guard::guard;
use crate::handle::{Handle, Pool, borrow, free, give, place};
use crate::status::tripcoil_status;

/// A clock that stands still until it is told otherwise: for tests of programs. Made by
/// `tripcoil_clock_new`, given to `tripcoil_registry_new`. Its handle may be freed before the registry's:
/// the time then stands still for ever.
pub struct tripcoil_clock(pub(crate) VirtualClock);

impl Handle for tripcoil_clock {
    const MARK: usize = 0x6b63_6f6c;

    fn pool() -> &'static Pool<Self> {
        static POOL: Pool<tripcoil_clock> = Pool::new();
        &POOL
    }
}

/// Makes a clock, at 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_clock_new(clock: *mut *mut tripcoil_clock) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a place for a handle.
        let clock = unsafe { place(clock)? };
        clock.set(give(tripcoil_clock(VirtualClock::new())));
        Ok(())
    })
}

/// Sets the time in ns, forward or back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_clock_set(clock: *const tripcoil_clock, time_ns: u64) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle.
        let clock = unsafe { borrow(clock)? };
        clock.0.set(Duration::from_nanos(time_ns));
        Ok(())
    })
}

/// Moves the time forward by so many ns; it stays at 2^64 - 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_clock_advance(clock: *const tripcoil_clock, by_ns: u64) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle.
        let clock = unsafe { borrow(clock)? };
        clock.0.advance(Duration::from_nanos(by_ns));
        Ok(())
    })
}

/// Reads the time in ns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_clock_time(
    clock: *const tripcoil_clock,
    time_ns: *mut u64,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for a number.
        let (clock, time_ns) = unsafe { (borrow(clock)?, place(time_ns)?) };
        time_ns.set(nanos(clock.0.time()));
        Ok(())
    })
}

/// Frees the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_clock_free(clock: *mut tripcoil_clock) -> tripcoil_status {
    // SAFETY: the contract: a handle that no call uses, or NULL.
    guard(|| unsafe { free(clock) })
}

/// A duration in ns, 2^64 - 1 at most.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
