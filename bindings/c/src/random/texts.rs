//! Texts in, right and wrong, and buffers for texts out.

use std::ffi::c_char;
use std::ptr;

use arbitrary::Arbitrary;

use crate::status::*;

/// A text with a length.
#[derive(Arbitrary, Debug)]
pub(super) enum Text {
    Name(u8),
    Rules(u8),
    /// The first bytes of one of the others, perhaps cut within a character.
    Cut(u8, u8),
    Bytes(Vec<u8>),
    Null(u8),
    Absurd(u8),
}

impl Text {
    pub(super) fn with<T>(&self, call: impl FnOnce(*const c_char, usize) -> T) -> T {
        // A copy of its own, so that a sanitiser sees whether more is read.
        let own = |text: &[u8]| text.to_vec().into_boxed_slice();
        let bytes = match self {
            Self::Name(which) => own(of(&NAMES, *which).as_bytes()),
            Self::Rules(which) => own(of(&RULES, *which).as_bytes()),
            Self::Cut(which, length) => {
                let whole = of(&RULES, *which).as_bytes();
                own(&whole[..usize::from(*length).min(whole.len())])
            }
            Self::Bytes(bytes) => own(bytes),
            Self::Null(length) => return call(ptr::null(), usize::from(*length)),
            Self::Absurd(which) => return call(c"x".as_ptr(), of(&ABSURD, *which)),
        };
        call(bytes.as_ptr().cast(), bytes.len())
    }
}

pub(super) fn of<T: Copy>(values: &[T], which: u8) -> T {
    values[usize::from(which) % values.len()]
}

pub(super) const NAMES: [&str; 8] = ["stock", "price", "shop", "*", " ", "a\0b", "λ", ""];

pub(super) const RULES: [&str; 12] = [
    r#"[{"resource":"stock","grade":2,"count":1,"timeWindow":1,"minRequestAmount":1}]"#,
    r#"[{"resource":"stock","grade":1,"count":0.5,"timeWindow":1,"minRequestAmount":2},
        {"resource":"stock","count":5,"timeWindow":2},
        {"resource":"s[a-z]*","grade":3,"count":2,"timeWindow":1,"regex":true}]"#,
    r#"[{"resource":"stock","grade":3,"count":1,"timeWindow":1,"id":1},
        {"resource":"stock","grade":2,"count":0,"timeWindow":2,"minRequestAmount":1,"probeNum":2},
        {"resource":"stock","grade":1,"count":0,"timeWindow":1,"minRequestAmount":1},
        {"resource":"stock","count":0,"timeWindow":3,"statSlidingWindowBucketCount":10}]"#,
    r#"[{"resource":"price","strategy":2,"threshold":1,"retryTimeoutMs":1,"probeNum":0}]"#,
    r#"{"resource":"*","grade":2,"count":0,"timeWindow":1,"x":1}"#,
    r#"[{"resource":"*","grade":3,"count":1,"timeWindow":1,"backoffFactor":1e300}]"#,
    r#"[{"resource":"stock","grade":9,"count":-1}]"#,
    r#"[{"resource":"stock","grade":0,"count":1e400,"timeWindow":"λ"}, 1, {"a":1,"a":2}]"#,
    r#"[{"resource":"stock","grade":0,"count":1,"timeWindow":1,"rtSlowRequestAmount":1}]"#,
    r#"[{"resource":"(","regex":true,"grade":2,"count":1,"timeWindow":1}]"#,
    "[]",
    "[{",
];

const ABSURD: [usize; 6] =
    [(16 << 20) + 1, 1 << 31, 1 << 32, isize::MAX as usize, isize::MAX as usize + 1, usize::MAX];

/// A buffer for a text.
#[derive(Arbitrary, Debug)]
pub(super) struct Buffer {
    capacity: u8,
    /// Whether there is no buffer, and no place for the length.
    null: (bool, bool),
}

impl Buffer {
    pub(super) fn with(
        &self,
        call: impl FnOnce(*mut c_char, usize, *mut usize) -> tripcoil_status,
    ) -> tripcoil_status {
        let mut memory = vec![0x55_u8; usize::from(self.capacity)].into_boxed_slice();
        let mut length = usize::MAX;
        let buffer = if self.null.0 { ptr::null_mut() } else { memory.as_mut_ptr().cast() };
        let needed = if self.null.1 { ptr::null_mut() } else { &raw mut length };
        let status = call(buffer, memory.len(), needed);
        if !buffer.is_null() && !needed.is_null() {
            match status {
                // A faulty document has valid rules to tell of, too.
                TRIPCOIL_OK | TRIPCOIL_INVALID_RULES => {
                    assert_eq!(memory.get(length), Some(&0), "ended by NUL")
                }
                TRIPCOIL_BUFFER_TOO_SMALL => assert!(memory.len() <= length),
                _ => assert!(memory.iter().all(|byte| *byte == 0x55), "untouched: {status}"),
            }
        }
        if status == TRIPCOIL_BUFFER_TOO_SMALL && !memory.is_empty() {
            let end = memory.iter().position(|byte| *byte == 0).expect("ended by NUL");
            assert!(std::str::from_utf8(&memory[..end]).is_ok(), "whole characters");
        }
        status
    }
}
