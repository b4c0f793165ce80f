//! Entries: admitted calls, in memory of the caller's.

use std::ffi::c_char;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tripcoil::{Blocked, Outcome, RawBlocked, RawEntry};

use crate::clock::nanos;
use crate::codes;
use crate::guard::{Result, guard};
use crate::handle::{Ticket, hold, place, redeem};
use crate::resource::tripcoil_resource;
use crate::status::{
    TRIPCOIL_ALREADY_ENDED, TRIPCOIL_BLOCKED, TRIPCOIL_INVALID_ENTRY, TRIPCOIL_NOT_FOUND, tripcoil_status,
};
use crate::text;

/// An admitted call, from `tripcoil_resource_enter` to `tripcoil_entry_end`: a plain struct, on the stack
/// or wherever the caller likes. It needs no clean-up but its end, and allocates nothing unless more than
/// two rules, or the legacy check, guard the resource. One that is never ended counts nowhere; a probe's
/// place is taken over when its lease ends.
///
/// It may be moved in memory, and ended on any thread, but only one copy may be ended: that two copies
/// are ended cannot be told. Of several ends of the same entry, also at the same time, the first counts.
#[repr(C)]
pub struct tripcoil_entry {
    /// The library's own.
    pub opaque: [u64; 8],
}

/// What a `tripcoil_entry` holds once it has been entered.
#[repr(C)]
struct Call {
    state: AtomicUsize,
    resource: Ticket<tripcoil_resource>,
    held: Held,
}

/// Which of them it is, the state says.
#[repr(C)]
union Held {
    admitted: ManuallyDrop<RawEntry>,
    blocked: RawBlocked,
}

const _: () = assert!(size_of::<Call>() <= size_of::<tripcoil_entry>());
const _: () = assert!(align_of::<Call>() <= align_of::<tripcoil_entry>());

// Chosen so that memory which has never been entered is unlikely to hold them.
const VOID: usize = 0;
const OPEN: usize = 0x7472_0001;
const OPEN_MARKED_BAD: usize = 0x7472_0002;
const ENDED: usize = 0x7472_0003;
const BLOCKED: usize = 0x7472_0004;

/// An entry's state.
///
/// # Safety
/// A pointer that is not NULL is to an entry that can be read and written.
#[inline]
unsafe fn state<'a>(entry: *mut tripcoil_entry) -> Result<&'a AtomicUsize> {
    // SAFETY: as promised by the caller.
    let call = unsafe { place(entry)? }.as_ptr().cast::<Call>();
    // SAFETY: the state is the first word of the entry; any bits are a number.
    Ok(unsafe { &*call.cast::<AtomicUsize>() })
}

fn not_open(state: usize) -> tripcoil_status {
    if matches!(state, ENDED | BLOCKED) { TRIPCOIL_ALREADY_ENDED } else { TRIPCOIL_INVALID_ENTRY }
}

/// Asks for leave to make a call, and begins it. `TRIPCOIL_BLOCKED`: the call must not be made;
/// `tripcoil_entry_blocked` and `tripcoil_entry_explain` tell why. Whatever was in `*entry` is
/// overwritten. The resource's handle must not be freed before the entry is ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_resource_enter(
    resource: *const tripcoil_resource,
    entry: *mut tripcoil_entry,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a place for an entry.
        let call = unsafe { place(entry)? }.as_ptr().cast::<Call>();
        // SAFETY: the state is the first word of the entry, which nobody else uses yet.
        unsafe { call.cast::<usize>().write(VOID) };
        // SAFETY: the contract: a handle.
        let (resource, ticket) = unsafe { hold(resource)? };
        match resource.0.enter_closed_raw() {
            Some(admitted) => {
                // SAFETY: an entry has the size and the alignment of a call, and nobody else uses it yet.
                unsafe { call.write(Call::admitted(ticket, admitted)) };
                Ok(())
            }
            // SAFETY: as above.
            None => unsafe { enter_any(resource, ticket, call) },
        }
    })
}

/// The long way in. Apart from the short one, which then keeps all in registers.
///
/// # Safety
/// The call can be written, and nobody else uses it.
#[inline(never)]
unsafe fn enter_any(
    resource: &tripcoil_resource,
    ticket: Ticket<tripcoil_resource>,
    call: *mut Call,
) -> Result<()> {
    match resource.0.enter_any_raw() {
        Ok(admitted) => {
            // SAFETY: as promised by the caller.
            unsafe { call.write(Call::admitted(ticket, admitted)) };
            Ok(())
        }
        Err(blocked) => {
            let held = Held { blocked: blocked.raw() };
            // SAFETY: as promised by the caller.
            unsafe { call.write(Call { state: AtomicUsize::new(BLOCKED), resource: ticket, held }) };
            Err(TRIPCOIL_BLOCKED)
        }
    }
}

impl Call {
    #[inline]
    fn admitted(resource: Ticket<tripcoil_resource>, entry: RawEntry) -> Self {
        Self { state: AtomicUsize::new(OPEN), resource, held: Held { admitted: ManuallyDrop::new(entry) } }
    }
}

/// Ends the call. Its response time is the time since it was entered. `outcome` is `TRIPCOIL_GOOD`,
/// `TRIPCOIL_BAD`, `TRIPCOIL_IGNORED` or `TRIPCOIL_CANCELLED`; after any other number the entry is still
/// open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_entry_end(entry: *mut tripcoil_entry, outcome: i32) -> tripcoil_status {
    // SAFETY: the contract: an entry.
    guard(|| unsafe { end(entry, outcome, None) })
}

/// Ends the call with a response time that the caller has measured.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_entry_end_with(
    entry: *mut tripcoil_entry,
    outcome: i32,
    response_time_ns: u64,
) -> tripcoil_status {
    // SAFETY: the contract: an entry.
    guard(|| unsafe { end(entry, outcome, Some(Duration::from_nanos(response_time_ns))) })
}

/// # Safety
/// As for [`state`].
#[inline(always)]
unsafe fn end(entry: *mut tripcoil_entry, outcome: i32, response_time: Option<Duration>) -> Result<()> {
    let outcome = codes::outcome(outcome)?;
    // SAFETY: as promised by the caller.
    let state = unsafe { state(entry)? };
    let open = |state| matches!(state, OPEN | OPEN_MARKED_BAD).then_some(ENDED);
    // AcqRel: of several threads one goes on, and it sees a mark that came before.
    let before = state.fetch_update(Ordering::AcqRel, Ordering::Acquire, open).map_err(not_open)?;
    let call = entry.cast::<Call>();
    // SAFETY: the entry was open, so a call is in it, and only this thread has just ended it. Others may
    // still look at the state, so no reference is made to the whole.
    let (ticket, admitted) = unsafe { (&(*call).resource, &mut (*call).held.admitted) };
    // SAFETY: `tripcoil_resource_enter` took the ticket; the contract: the handle is not being freed.
    let resource = unsafe { redeem(ticket) };
    if let Ok(resource) = &resource {
        let marked = before == OPEN_MARKED_BAD && outcome == Outcome::Good;
        resource.0.end_raw(admitted, if marked { Outcome::Bad } else { outcome }, response_time);
    }
    // SAFETY: it was entered, and ended by this thread alone; nobody looks at it again.
    unsafe { ManuallyDrop::drop(admitted) };
    resource.map(|_| ())
}

/// Makes a later good end of this call count as bad: for errors that do not show in what it returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_entry_mark_bad(entry: *mut tripcoil_entry) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: an entry.
        let state = unsafe { state(entry)? };
        match state.compare_exchange(OPEN, OPEN_MARKED_BAD, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) | Err(OPEN_MARKED_BAD) => Ok(()),
            Err(other) => Err(not_open(other)),
        }
    })
}

/// Why a call was blocked.
#[repr(C)]
pub struct tripcoil_blocked {
    /// The state that rejected it.
    pub state: i32,
    /// The mode: `TRIPCOIL_FORCED_OPEN` rejects whatever the state.
    pub mode: i32,
    /// Time until the next probe may go; `TRIPCOIL_NEVER` without a limit.
    pub retry_after_ns: u64,
}

/// What an entry holds of its rejection, and where: none if the call was not blocked.
///
/// # Safety
/// As for [`state`].
unsafe fn rejection(entry: *const tripcoil_entry) -> Result<(RawBlocked, Result<Option<Blocked>>)> {
    // SAFETY: as promised by the caller; nothing is written.
    let state = unsafe { state(entry.cast_mut())? }.load(Ordering::Acquire);
    match state {
        BLOCKED => {}
        OPEN | OPEN_MARKED_BAD | ENDED => return Err(TRIPCOIL_NOT_FOUND),
        _ => return Err(TRIPCOIL_INVALID_ENTRY),
    }
    // SAFETY: the state says what is held, and a blocked entry is not written to any more.
    unsafe {
        let call = &*entry.cast::<Call>();
        let raw = call.held.blocked;
        Ok((raw, redeem(&call.resource).map(|resource| resource.0.blocked(raw))))
    }
}

/// Reads why the call was blocked. `TRIPCOIL_NOT_FOUND` where it was not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_entry_blocked(
    entry: *const tripcoil_entry,
    blocked: *mut tripcoil_blocked,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: an entry, and a place for the struct.
        let ((raw, _), place) = unsafe { (rejection(entry)?, place(blocked)?) };
        place.set(match raw {
            RawBlocked::Breaker { rejection, .. } => tripcoil_blocked {
                state: codes::of_state(rejection.state()),
                mode: codes::of_mode(rejection.mode()),
                retry_after_ns: rejection.retry_after(),
            },
            RawBlocked::Legacy(retry_after) => tripcoil_blocked {
                state: codes::TRIPCOIL_OPEN,
                mode: codes::TRIPCOIL_NORMAL,
                retry_after_ns: nanos(retry_after),
            },
        });
        Ok(())
    })
}

/// Copies a sentence that says why the call was blocked. `TRIPCOIL_NOT_FOUND` where it was not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_entry_explain(
    entry: *const tripcoil_entry,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: an entry.
        let (raw, blocked) = unsafe { rejection(entry)? };
        let sentence = match (blocked?, raw) {
            (Some(blocked), _) => blocked.to_string(),
            (None, RawBlocked::Legacy(after)) => {
                format!("call blocked: the legacy check has cut it, next call in {after:?}")
            }
            (None, RawBlocked::Breaker { .. }) => return Err(TRIPCOIL_NOT_FOUND),
        };
        // SAFETY: the contract: a buffer and a place for its length.
        unsafe { text::put(&sentence, buffer, capacity, needed) }
    })
}

/// Copies the rule whose breaker rejected the call, normalised, as JSON. `TRIPCOIL_NOT_FOUND` where the
/// call was not blocked, for the legacy check, and where the rules have been replaced several times since.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_entry_rule(
    entry: *const tripcoil_entry,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: an entry.
        let (_, blocked) = unsafe { rejection(entry)? };
        let rule = blocked?.and_then(|blocked| blocked.rule()).ok_or(TRIPCOIL_NOT_FOUND)?;
        // SAFETY: the contract: a buffer and a place for its length.
        unsafe { text::put(&rule.to_json(), buffer, capacity, needed) }
    })
}
