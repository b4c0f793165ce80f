//! What functions return: one table of numbers, names and sentences.

use std::ffi::{CStr, c_char};

/// What a function came to: one of the `TRIPCOIL_` numbers below. Numbers are never given a new meaning.
pub type tripcoil_status = i32;

/// It was done.
pub const TRIPCOIL_OK: tripcoil_status = 0;
/// A breaker rejects the call, which must not be made. Not a fault.
pub const TRIPCOIL_BLOCKED: tripcoil_status = 1;
/// The entry has been ended before, or was blocked; this end counts nowhere.
pub const TRIPCOIL_ALREADY_ENDED: tripcoil_status = 2;
/// There is nothing of the kind: no such position, observer or trip.
pub const TRIPCOIL_NOT_FOUND: tripcoil_status = 3;
/// The buffer is too small for the text: as much as fits was copied.
pub const TRIPCOIL_BUFFER_TOO_SMALL: tripcoil_status = 4;
/// A reload has removed the breaker's rule; nothing was done.
pub const TRIPCOIL_REMOVED: tripcoil_status = 5;
/// A pointer that must not be NULL is NULL.
pub const TRIPCOIL_NULL_POINTER: tripcoil_status = 10;
/// The pointer is no handle of the kind, or one that has been freed, or is not aligned.
pub const TRIPCOIL_INVALID_HANDLE: tripcoil_status = 11;
/// The entry has never been entered, or its memory has been overwritten.
pub const TRIPCOIL_INVALID_ENTRY: tripcoil_status = 12;
/// A number is none of those that the function knows.
pub const TRIPCOIL_INVALID_VALUE: tripcoil_status = 13;
/// A length is beyond what the function reads; nothing was read.
pub const TRIPCOIL_INVALID_LENGTH: tripcoil_status = 14;
/// A text is not UTF-8.
pub const TRIPCOIL_NOT_UTF8: tripcoil_status = 15;
/// A name has not 1 to 1024 bytes, is blank, or holds NUL.
pub const TRIPCOIL_INVALID_NAME: tripcoil_status = 16;
/// A rule document has faults, which the report lists; nothing was changed.
pub const TRIPCOIL_INVALID_RULES: tripcoil_status = 17;
/// A fault of the library: it has been reported to the standard error stream.
pub const TRIPCOIL_PANIC: tripcoil_status = 99;

const TABLE: [(tripcoil_status, &CStr, &CStr); 15] = [
    (TRIPCOIL_OK, c"TRIPCOIL_OK", c"it was done"),
    (TRIPCOIL_BLOCKED, c"TRIPCOIL_BLOCKED", c"a breaker rejects the call"),
    (TRIPCOIL_ALREADY_ENDED, c"TRIPCOIL_ALREADY_ENDED", c"the entry has been ended already"),
    (TRIPCOIL_NOT_FOUND, c"TRIPCOIL_NOT_FOUND", c"there is nothing of the kind"),
    (TRIPCOIL_BUFFER_TOO_SMALL, c"TRIPCOIL_BUFFER_TOO_SMALL", c"the buffer is too small for the text"),
    (TRIPCOIL_REMOVED, c"TRIPCOIL_REMOVED", c"a reload has removed the breaker's rule"),
    (TRIPCOIL_NULL_POINTER, c"TRIPCOIL_NULL_POINTER", c"a pointer is NULL that must not be"),
    (TRIPCOIL_INVALID_HANDLE, c"TRIPCOIL_INVALID_HANDLE", c"the handle is foreign, freed or not aligned"),
    (TRIPCOIL_INVALID_ENTRY, c"TRIPCOIL_INVALID_ENTRY", c"the entry has never been entered"),
    (TRIPCOIL_INVALID_VALUE, c"TRIPCOIL_INVALID_VALUE", c"the number has no meaning here"),
    (TRIPCOIL_INVALID_LENGTH, c"TRIPCOIL_INVALID_LENGTH", c"the length is beyond what is read"),
    (TRIPCOIL_NOT_UTF8, c"TRIPCOIL_NOT_UTF8", c"the text is not UTF-8"),
    (TRIPCOIL_INVALID_NAME, c"TRIPCOIL_INVALID_NAME", c"a name has 1 to 1024 bytes, not blank, without NUL"),
    (TRIPCOIL_INVALID_RULES, c"TRIPCOIL_INVALID_RULES", c"the rule document has faults"),
    (TRIPCOIL_PANIC, c"TRIPCOIL_PANIC", c"a fault of the library"),
];

fn entry(status: tripcoil_status) -> Option<(&'static CStr, &'static CStr)> {
    TABLE.iter().find(|(number, ..)| *number == status).map(|(_, name, message)| (*name, *message))
}

/// The name of a status, as it is spelt here: "TRIPCOIL_BLOCKED". Static; "unknown" for other numbers.
#[unsafe(no_mangle)]
pub extern "C" fn tripcoil_status_name(status: tripcoil_status) -> *const c_char {
    entry(status).map_or(c"unknown", |(name, _)| name).as_ptr()
}

/// What a status means, in a few words. Static; "unknown status" for other numbers.
#[unsafe(no_mangle)]
pub extern "C" fn tripcoil_status_message(status: tripcoil_status) -> *const c_char {
    entry(status).map_or(c"unknown status", |(_, message)| message).as_ptr()
}
