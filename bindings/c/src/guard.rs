//! The one place where panics stop.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::{TRIPCOIL_OK, TRIPCOIL_PANIC, tripcoil_status};

/// What a function comes to: the error is any status but [`TRIPCOIL_OK`].
pub(crate) type Result<T> = std::result::Result<T, tripcoil_status>;

/// Runs a function's body. A panic is a fault of the library; it is reported and goes no further.
#[inline]
pub(crate) fn guard(body: impl FnOnce() -> Result<()>) -> tripcoil_status {
    // What a panic leaves half done is behind the library's own locks and atomics, which survive it.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => TRIPCOIL_OK,
        Ok(Err(status)) => status,
        Err(payload) => {
            // Dropping it could panic again.
            std::mem::forget(payload);
            TRIPCOIL_PANIC
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::TRIPCOIL_BLOCKED;

    #[test]
    fn a_panic_becomes_a_status() {
        struct Spiteful;
        impl Drop for Spiteful {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        assert_eq!(guard(|| std::panic::resume_unwind(Box::new(Spiteful))), TRIPCOIL_PANIC);
        assert_eq!(guard(|| Err(TRIPCOIL_BLOCKED)), TRIPCOIL_BLOCKED);
        assert_eq!(guard(|| Ok(())), TRIPCOIL_OK);
    }
}
