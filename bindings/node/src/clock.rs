//! The virtual clock.

use std::time::Duration;

use napi::bindgen_prelude::BigInt;
use napi_derive::napi;
use tripcoil::VirtualClock;

use crate::time::{duration, millis};

/// A clock that stands still until it is told otherwise.
#[napi]
pub struct NativeClock(pub(crate) VirtualClock);

#[napi]
impl NativeClock {
    /// A clock at 0.
    #[napi(constructor, catch_unwind)]
    #[allow(clippy::new_without_default, reason = "made by JavaScript only")]
    pub fn new() -> Self {
        Self(VirtualClock::new())
    }

    /// Sets the time in ms.
    #[napi(catch_unwind)]
    pub fn set(&self, time: f64) {
        self.0.set(duration(time));
    }

    /// Sets the time in ns, 2^64 - 1 at most.
    #[napi(catch_unwind)]
    pub fn set_nanoseconds(&self, time: BigInt) {
        let (negative, time, lossless) = time.get_u64();
        let time = if lossless { time } else { u64::MAX };
        self.0.set(Duration::from_nanos(if negative { 0 } else { time }));
    }

    /// Moves the time forward by so many ms.
    #[napi(catch_unwind)]
    pub fn advance(&self, by: f64) {
        self.0.advance(duration(by));
    }

    /// The time in ms.
    #[napi(catch_unwind)]
    pub fn time(&self) -> f64 {
        millis(self.0.time())
    }
}
