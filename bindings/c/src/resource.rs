//! Resources: what is guarded.

use std::ffi::c_char;

use tripcoil::Resource;

use crate::breaker::tripcoil_breaker;
use crate::codes;
use crate::guard::guard;
use crate::handle::{Handle, Pool, borrow, free, give, place};
use crate::status::{TRIPCOIL_NOT_FOUND, tripcoil_status};
use crate::text;

/// A named thing to protect. Made by `tripcoil_registry_resource`; asked for a call by
/// `tripcoil_resource_enter`.
pub struct tripcoil_resource(pub(crate) Resource);

impl Handle for tripcoil_resource {
    const MARK: usize = 0x7273_6572;

    fn pool() -> &'static Pool<Self> {
        static POOL: Pool<tripcoil_resource> = Pool::new();
        &POOL
    }
}

/// What the legacy check counts: sums over the last second.
#[repr(C)]
pub struct tripcoil_legacy_statistics {
    /// Calls admitted.
    pub pass: u64,
    /// Calls rejected.
    pub block: u64,
    /// Calls that ended, with an error or without.
    pub success: u64,
    /// Calls that ended with an error.
    pub exception: u64,
    /// Response times of the calls that ended, in ms, each capped at 4900.
    pub rt: u64,
}

/// Copies the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_resource_name(
    resource: *const tripcoil_resource,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> tripcoil_status {
    // SAFETY: the contract: a handle, a buffer and a place for its length.
    guard(|| unsafe { text::put(borrow(resource)?.0.name(), buffer, capacity, needed) })
}

/// Counts the breakers that guard the resource.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_resource_breaker_count(
    resource: *const tripcoil_resource,
    count: *mut usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for a number.
        let (resource, count) = unsafe { (borrow(resource)?, place(count)?) };
        count.set(resource.0.breakers().len());
        Ok(())
    })
}

/// Gives a handle of a breaker, by its position in the order in which they are asked, from 0.
/// `TRIPCOIL_NOT_FOUND` beyond the last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_resource_breaker(
    resource: *const tripcoil_resource,
    position: usize,
    breaker: *mut *mut tripcoil_breaker,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for a handle.
        let (resource, place) = unsafe { (borrow(resource)?, place(breaker)?) };
        let breaker = resource.0.breakers().into_iter().nth(position).ok_or(TRIPCOIL_NOT_FOUND)?;
        place.set(give(tripcoil_breaker(breaker)));
        Ok(())
    })
}

/// Sets the mode of every breaker of the resource, and announces it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_resource_set_mode(
    resource: *const tripcoil_resource,
    mode: i32,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle.
        let resource = unsafe { borrow(resource)? };
        resource.0.set_mode(codes::mode(mode)?);
        Ok(())
    })
}

/// Closes every breaker of the resource and clears its window, within its mode, and announces it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_resource_reset(resource: *const tripcoil_resource) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle.
        unsafe { borrow(resource)? }.0.reset();
        Ok(())
    })
}

/// Tells whether calls pass unguarded (1, else 0) because a bounded registry had no place for the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_resource_is_unguarded(
    resource: *const tripcoil_resource,
    unguarded: *mut i32,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for a number.
        let (resource, unguarded) = unsafe { (borrow(resource)?, place(unguarded)?) };
        unguarded.set(i32::from(resource.0.is_unguarded()));
        Ok(())
    })
}

/// Reads what the legacy check counts. `TRIPCOIL_NOT_FOUND` where it is not in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_resource_legacy_statistics(
    resource: *const tripcoil_resource,
    statistics: *mut tripcoil_legacy_statistics,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for the struct.
        let (resource, place) = unsafe { (borrow(resource)?, place(statistics)?) };
        let counted = resource.0.legacy_statistics().ok_or(TRIPCOIL_NOT_FOUND)?;
        place.set(tripcoil_legacy_statistics {
            pass: counted.pass,
            block: counted.block,
            success: counted.success,
            exception: counted.exception,
            rt: counted.rt,
        });
        Ok(())
    })
}

/// Frees the handle. Its entries must have been ended: a later end is `TRIPCOIL_INVALID_HANDLE` and
/// counts nowhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_resource_free(resource: *mut tripcoil_resource) -> tripcoil_status {
    // SAFETY: the contract: a handle that no call uses, or NULL.
    guard(|| unsafe { free(resource) })
}
