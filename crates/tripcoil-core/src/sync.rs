//! The one door to atomics: loom's under `--cfg loom`, the core library's otherwise.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};

#[cfg(not(target_has_atomic = "64"))]
compile_error!("tripcoil-core packs its decisions into 64-bit atomics, which this target lacks");

/// Declares a `new` that makes zeroed atomics: `const`, except under loom, whose atomics cannot be.
macro_rules! zeroed {
    ($(#[$doc:meta])* $vis:vis $type:ident { $($field:ident : $value:expr),* $(,)? }) => {
        impl $type {
            $(#[$doc])*
            #[cfg(not(loom))]
            #[must_use]
            $vis const fn new() -> Self {
                Self { $($field: $value),* }
            }

            $(#[$doc])*
            #[cfg(loom)]
            #[must_use]
            $vis fn new() -> Self {
                Self { $($field: $value),* }
            }
        }
    };
    ($(#[$doc:meta])* $vis:vis $type:ident($value:expr)) => {
        impl $type {
            $(#[$doc])*
            #[cfg(not(loom))]
            #[must_use]
            $vis const fn new() -> Self {
                Self($value)
            }

            $(#[$doc])*
            #[cfg(loom)]
            #[must_use]
            $vis fn new() -> Self {
                Self($value)
            }
        }
    };
}
pub(crate) use zeroed;
