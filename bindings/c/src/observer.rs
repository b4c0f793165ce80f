//! Observers: callbacks of the caller's.

use std::ffi::{c_char, c_void};
use std::ptr;

use tripcoil::Change;

use crate::breaker::tripcoil_trip;
use crate::clock::nanos;
use crate::codes;
use crate::guard::guard;
use crate::handle::borrow;
use crate::registry::tripcoil_registry;
use crate::status::{TRIPCOIL_NOT_FOUND, TRIPCOIL_NULL_POINTER, tripcoil_status};
use crate::text;

/// One change of a breaker's state or mode. It and its texts are the library's, and gone when the
/// callback returns.
#[repr(C)]
pub struct tripcoil_change {
    /// The resource's own name, also where a regex or default rule guards it. Not ended by NUL.
    pub resource: *const c_char,
    /// Its length in bytes.
    pub resource_len: usize,
    /// The rule, normalised, as JSON. Not ended by NUL.
    pub rule: *const c_char,
    /// Its length in bytes.
    pub rule_len: usize,
    /// The breaker's position among its resource's, from 0.
    pub position: usize,
    /// The state before.
    pub from: i32,
    /// The state after.
    pub to: i32,
    /// The mode before.
    pub from_mode: i32,
    /// The mode after: the same, except for manual control.
    pub to_mode: i32,
    /// 1 where there is a snapshot, else 0.
    pub has_snapshot: i32,
    /// The value that tripped the breaker, a ratio or a count; 1.0 where it reopened; else 0.
    pub snapshot: f64,
    /// When, on the registry's clock.
    pub at_ns: u64,
    /// Grows by one with every change that the registry announces, from 1.
    pub sequence: u64,
    /// The breaker's generation that began.
    pub generation: u64,
    /// Where the breaker opened: why. Else NULL.
    pub trip: *const tripcoil_trip,
    /// The same as a sentence. Not ended by NUL; NULL where there is none.
    pub explanation: *const c_char,
    /// Its length in bytes.
    pub explanation_len: usize,
}

/// Is told of a change, on the thread that made it or on one that is telling of that breaker already.
/// Several threads may call it at once.
pub type tripcoil_observer =
    Option<unsafe extern "C" fn(user_data: *mut c_void, change: *const tripcoil_change)>;

/// Frees an observer's user data.
pub type tripcoil_destructor = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// What was registered. The destructor runs when the last thread has let go of it.
struct Registered {
    callback: unsafe extern "C" fn(*mut c_void, *const tripcoil_change),
    user_data: *mut c_void,
    destructor: tripcoil_destructor,
}

// SAFETY: the contract: the callback may be called, and the destructor run, on any thread.
unsafe impl Send for Registered {}
// SAFETY: the contract: the callback may be called by several threads at once.
unsafe impl Sync for Registered {}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(destructor) = self.destructor {
            // SAFETY: the contract: the destructor takes the user data, once, after the last callback.
            unsafe { destructor(self.user_data) }
        }
    }
}

impl Registered {
    fn tell(&self, change: &Change) {
        let rule = change.rule.to_json();
        let explanation = change.trip.as_ref().map(ToString::to_string);
        let trip = change.trip.clone().map(tripcoil_trip::from);
        let told = tripcoil_change {
            resource: change.resource.as_ptr().cast(),
            resource_len: change.resource.len(),
            rule: rule.as_ptr().cast(),
            rule_len: rule.len(),
            position: change.position,
            from: codes::of_state(change.from),
            to: codes::of_state(change.to),
            from_mode: codes::of_mode(change.from_mode),
            to_mode: codes::of_mode(change.to_mode),
            has_snapshot: i32::from(change.snapshot.is_some()),
            snapshot: change.snapshot.unwrap_or(0.0),
            at_ns: nanos(change.at),
            sequence: change.sequence,
            generation: change.generation,
            trip: trip.as_ref().map_or(ptr::null(), ptr::from_ref),
            explanation: explanation.as_ref().map_or(ptr::null(), |text| text.as_ptr().cast()),
            explanation_len: explanation.as_ref().map_or(0, String::len),
        };
        // SAFETY: the contract: a callback that takes its user data and a change, and returns.
        unsafe { (self.callback)(self.user_data, &raw const told) }
    }
}

/// Registers an observer under a name of 1 to 1024 bytes; one of the same name is replaced. `callback` is
/// told of every change of the registry's breakers after it has been made, once, and each breaker's in
/// their order; it may use the library, and changes that it makes are told when it has returned.
///
/// `destructor`, if it is not NULL, is called once with `user_data` when the observer has been removed or
/// replaced, or the registry is gone, and no thread is in the callback; on any thread. Only after
/// `TRIPCOIL_OK`: otherwise the user data stay the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_observe(
    registry: *const tripcoil_registry,
    name: *const c_char,
    name_len: usize,
    callback: tripcoil_observer,
    user_data: *mut c_void,
    destructor: tripcoil_destructor,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle and a text.
        let (registry, name) = unsafe { (borrow(registry)?, text::name(name, name_len)?) };
        let callback = callback.ok_or(TRIPCOIL_NULL_POINTER)?;
        let registered = Registered { callback, user_data, destructor };
        registry.0.observe(name, move |change| registered.tell(change));
        Ok(())
    })
}

/// Removes an observer. `TRIPCOIL_NOT_FOUND` where there is none of the name. A thread that is in the
/// callback goes on to its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_unobserve(
    registry: *const tripcoil_registry,
    name: *const c_char,
    name_len: usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle and a text.
        let (registry, name) = unsafe { (borrow(registry)?, text::key(name, name_len)?) };
        if registry.0.unobserve(name) { Ok(()) } else { Err(TRIPCOIL_NOT_FOUND) }
    })
}
