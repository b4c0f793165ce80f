//! Handles of one kind, right ones and wrong ones.

use std::ptr;

use arbitrary::Arbitrary;

use crate::status::*;

/// Which handle a call is made with.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) struct Pick(u8);

/// What the call may say to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Live,
    /// Freed, foreign or not aligned.
    Wrong,
    Null,
}

impl Kind {
    /// A call that was made with such a handle came to `status`.
    pub(super) fn check(self, status: tripcoil_status) {
        assert_ne!(status, TRIPCOIL_PANIC);
        match self {
            Self::Live => assert_ne!(status, TRIPCOIL_INVALID_HANDLE),
            // Another argument may be wrong as well, and be looked at first.
            Self::Wrong | Self::Null => assert!(status >= TRIPCOIL_NULL_POINTER, "{status}"),
        }
    }
}

/// What is not a handle of any kind, but can be read.
static FOREIGN: [usize; 4] = [0x7472_0001; 4];

/// Handles of one kind, with whether each is live.
pub(super) struct Handles<T> {
    all: Vec<(*mut T, bool)>,
    free: unsafe extern "C" fn(*mut T) -> tripcoil_status,
}

impl<T> Handles<T> {
    pub(super) fn new(free: unsafe extern "C" fn(*mut T) -> tripcoil_status) -> Self {
        Self { all: Vec::new(), free }
    }

    /// No more are made in a life, so that no freed handle's memory serves another one.
    pub(super) fn are_many(&self) -> bool {
        self.all.len() >= 60
    }

    /// Takes in what a call gave.
    pub(super) fn add(&mut self, status: tripcoil_status, handle: *mut T) {
        assert_eq!(status == TRIPCOIL_OK, !handle.is_null());
        if !handle.is_null() {
            assert!(!self.all.contains(&(handle, true)), "given twice");
            self.all.push((handle, true));
        }
    }

    pub(super) fn pick(&self, pick: Pick) -> (*mut T, Kind) {
        match (pick.0, self.all.len()) {
            (0, _) => (ptr::null_mut(), Kind::Null),
            (1, _) => (FOREIGN.as_ptr().cast_mut().cast(), Kind::Wrong),
            (2, _) => (FOREIGN.as_ptr().cast_mut().wrapping_byte_add(3).cast(), Kind::Wrong),
            (_, 0) => (ptr::null_mut(), Kind::Null),
            (number, length) => match self.all[usize::from(number) % length] {
                (handle, true) => (handle, Kind::Live),
                (handle, false) => (handle, Kind::Wrong),
            },
        }
    }

    pub(super) fn free(&mut self, pick: Pick) {
        let (handle, kind) = self.pick(pick);
        let wanted = if kind == Kind::Wrong { TRIPCOIL_INVALID_HANDLE } else { TRIPCOIL_OK };
        // SAFETY: NULL, a handle that no other thread uses, or memory that can be read for a word.
        assert_eq!(unsafe { (self.free)(handle) }, wanted);
        for (any, live) in &mut self.all {
            *live &= *any != handle;
        }
    }

    pub(super) fn free_all(&mut self) {
        for (handle, live) in self.all.drain(..) {
            let wanted = if live { TRIPCOIL_OK } else { TRIPCOIL_INVALID_HANDLE };
            // SAFETY: a handle, live or freed, that no other thread uses.
            assert_eq!(unsafe { (self.free)(handle) }, wanted);
        }
    }
}
