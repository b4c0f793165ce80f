//! What a resource may be called.

use std::error::Error;
use std::fmt;

/// Checks a resource's name: 1 to 1024 bytes, not blank, no NUL character.
///
/// Names are case-sensitive. Blank means nothing but Unicode white space.
///
/// # Errors
///
/// The first of these rules that the name breaks.
///
/// ```
/// # use tripcoil::{NameError, check_name};
/// assert_eq!(check_name("orders/create"), Ok(()));
/// assert_eq!(check_name(" \u{3000}"), Err(NameError::Blank));
/// ```
pub fn check_name(name: &str) -> Result<(), NameError> {
    if name.len() > MAX_BYTES {
        Err(NameError::TooLong { bytes: name.len() })
    } else if name.contains('\0') {
        Err(NameError::Nul)
    } else if name.trim().is_empty() {
        Err(NameError::Blank)
    } else {
        Ok(())
    }
}

/// Why a name cannot be a resource's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// It is empty, or nothing but Unicode white space.
    Blank,
    /// It has more than 1024 bytes.
    TooLong {
        /// The bytes that it has.
        bytes: usize,
    },
    /// It holds a NUL character.
    Nul,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::Blank => f.write_str("the name is blank")?,
            NameError::TooLong { bytes } => write!(f, "the name has {bytes} bytes")?,
            NameError::Nul => f.write_str("the name holds a NUL character")?,
        }
        write!(f, "; it must be {ALLOWED}")
    }
}

impl Error for NameError {}

/// What a name must be, for faults.
pub(super) const ALLOWED: &str = "a string of 1 to 1024 bytes of UTF-8, not blank, without NUL characters";

/// Of all texts of a rule.
pub(super) const MAX_BYTES: usize = 1024;
