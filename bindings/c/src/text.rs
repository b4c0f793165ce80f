//! Text across the border: pointer and length in, copied to the caller's buffer out.

use std::ffi::c_char;

use tripcoil::{Limits, check_name};

use crate::guard::Result;
use crate::handle::place;
use crate::status::{
    TRIPCOIL_BUFFER_TOO_SMALL, TRIPCOIL_INVALID_LENGTH, TRIPCOIL_INVALID_NAME, TRIPCOIL_NOT_UTF8,
    TRIPCOIL_NULL_POINTER,
};

const MAX_NAME: usize = 1024;

/// Bytes of the caller's, of no more than `max`.
///
/// # Safety
/// A pointer that is not NULL can be read for `len` bytes, if those are no more than `max`.
unsafe fn bytes<'a>(text: *const c_char, len: usize, max: usize) -> Result<&'a [u8]> {
    match (text.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(TRIPCOIL_NULL_POINTER),
        (false, _) if len > max => Err(TRIPCOIL_INVALID_LENGTH),
        // SAFETY: as promised by the caller; `max` is at most isize::MAX.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len) }),
    }
}

/// A rule document; a longer one than the limits allow is refused unread. Whether it is UTF-8 is the
/// library's to say, with the line.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn document<'a>(text: *const c_char, len: usize, limits: &Limits) -> Result<&'a [u8]> {
    // SAFETY: as promised by the caller.
    unsafe { bytes(text, len, limits.document_bytes.min(isize::MAX as usize)) }
}

/// A text that may be looked up as a name, valid or not.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn key<'a>(text: *const c_char, len: usize) -> Result<&'a str> {
    if len > MAX_NAME && !text.is_null() {
        return Err(TRIPCOIL_INVALID_NAME);
    }
    // SAFETY: as promised by the caller.
    let bytes = unsafe { bytes(text, len, MAX_NAME)? };
    std::str::from_utf8(bytes).map_err(|_| TRIPCOIL_NOT_UTF8)
}

/// A valid name.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn name<'a>(text: *const c_char, len: usize) -> Result<&'a str> {
    // SAFETY: as promised by the caller.
    let name = unsafe { key(text, len)? };
    check_name(name).map_err(|_| TRIPCOIL_INVALID_NAME)?;
    Ok(name)
}

/// Copies a text to the caller's buffer, whole or as much as fits, and ends it with NUL.
///
/// # Safety
/// The buffer, if it is not NULL, can be written for `capacity` bytes, and `needed`, if it is not NULL,
/// can be written.
pub(crate) unsafe fn put(text: &str, buffer: *mut c_char, capacity: usize, needed: *mut usize) -> Result<()> {
    if !needed.is_null() {
        // SAFETY: as promised by the caller.
        unsafe { place(needed)? }.set(text.len());
    }
    match (buffer.is_null(), capacity) {
        // Only the length was wanted.
        (true, 0) if !needed.is_null() => return Ok(()),
        (true, _) => return Err(TRIPCOIL_NULL_POINTER),
        (false, 0) => return Err(TRIPCOIL_BUFFER_TOO_SMALL),
        (false, _) => {}
    }
    let fits = &text[..boundary(text, capacity - 1)];
    // SAFETY: the text and its NUL are no more than `capacity` bytes, which can be written; the
    // library's memory and the caller's do not overlap.
    unsafe {
        std::ptr::copy_nonoverlapping(fits.as_ptr(), buffer.cast::<u8>(), fits.len());
        buffer.add(fits.len()).write(0);
    }
    if fits.len() == text.len() { Ok(()) } else { Err(TRIPCOIL_BUFFER_TOO_SMALL) }
}

/// The last boundary of a character at or before a position. (In std only since Rust 1.91.)
fn boundary(text: &str, position: usize) -> usize {
    let position = position.min(text.len());
    (0..=position).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
