//! Where time comes from: a monotonic clock, or a virtual one for tests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::unwind::discard;

/// A monotonic source of time, in ns since an origin of its own.
///
/// A clock that goes back is survived (spec section 5), but wanted by nobody. So is one that panics: calls
/// begin and end at the time that it told last, and [`Registry::clock_panics`](crate::Registry::clock_panics)
/// counts it.
pub trait Clock: Send + Sync {
    /// The time, as exact as the clock can tell it. Asked where a response time is measured.
    fn now(&self) -> u64;

    /// The time, as cheaply as the clock can tell it: it may lag behind [`Clock::now`] by some ms.
    /// Asked where only a bucket or a deadline is wanted.
    fn coarse(&self) -> u64 {
        self.now()
    }
}

/// The system's monotonic clock. Setting the wall clock has no effect on it.
///
/// On Linux the coarse time is that of the last timer tick, 1 to 10 ms old at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use rustix::time::{ClockId, Timespec, clock_gettime};

    pub(super) fn now() -> u64 {
        nanos(clock_gettime(ClockId::Monotonic))
    }

    #[inline]
    pub(super) fn coarse() -> u64 {
        nanos(clock_gettime(ClockId::MonotonicCoarse))
    }

    #[inline]
    fn nanos(time: Timespec) -> u64 {
        (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use std::sync::OnceLock;
    use std::time::Instant;

    #[allow(clippy::disallowed_methods, reason = "the one place where the clock is read")]
    pub(super) fn now() -> u64 {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        let origin = ORIGIN.get_or_init(Instant::now);
        super::to_nanos(origin.elapsed())
    }

    pub(super) fn coarse() -> u64 {
        now()
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> u64 {
        system::now()
    }

    #[inline]
    fn coarse(&self) -> u64 {
        system::coarse()
    }
}

/// A clock that stands still until it is told otherwise. Clones share one time; whoever reads it sees
/// what was done before it was set.
///
/// ```
/// use std::time::Duration;
/// use tripcoil::{Registry, VirtualClock};
///
/// let clock = VirtualClock::new();
/// let registry = Registry::builder().clock(clock.clone()).build();
/// clock.advance(Duration::from_secs(3600));
/// assert_eq!(clock.time(), Duration::from_secs(3600));
/// ```
#[derive(Clone, Debug, Default)]
pub struct VirtualClock(Arc<AtomicU64>);

impl VirtualClock {
    /// A clock at 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time since the origin, forward or back. Beyond 2^64 - 1 ns it stays there.
    pub fn set(&self, time: Duration) {
        self.0.store(to_nanos(time), Ordering::Release);
    }

    /// Moves the time forward, to 2^64 - 1 ns at most.
    pub fn advance(&self, by: Duration) {
        let by = to_nanos(by);
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |now| Some(now.saturating_add(by)));
    }

    /// The time since the origin.
    #[must_use]
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Acquire))
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// A duration in ns, 2^64 - 1 at most.
pub(crate) fn to_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The registry's clock. The system's own is called without going through a table.
pub(crate) enum Source {
    System,
    Given(Given),
}

impl Source {
    pub(crate) fn given(clock: impl Clock + 'static) -> Self {
        Self::Given(Given { clock: Box::new(clock), last: AtomicU64::new(0), panics: AtomicU64::new(0) })
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        match self {
            Source::System => MonotonicClock.now(),
            Source::Given(given) => given.ask(|clock| clock.now()),
        }
    }

    #[inline]
    pub(crate) fn coarse(&self) -> u64 {
        match self {
            Source::System => MonotonicClock.coarse(),
            Source::Given(given) => given.ask(|clock| clock.coarse()),
        }
    }

    pub(crate) fn panics(&self) -> u64 {
        match self {
            Source::System => 0,
            Source::Given(given) => given.panics.load(Ordering::Relaxed),
        }
    }
}

/// A user's clock, whose panics go nowhere: a call that could not be ended for want of the time would never
/// be counted, and its probe's place never be free.
pub(crate) struct Given {
    clock: Box<dyn Clock>,
    last: AtomicU64,
    panics: AtomicU64,
}

impl Given {
    // Out of line: the system's clock is what calls are made short for.
    #[inline(never)]
    fn ask(&self, ask: impl FnOnce(&dyn Clock) -> u64) -> u64 {
        match catch_unwind(AssertUnwindSafe(|| ask(&*self.clock))) {
            Ok(now) => {
                // Written only where it differs: threads that read the same time share the line.
                if self.last.load(Ordering::Relaxed) != now {
                    self.last.store(now, Ordering::Relaxed);
                }
                now
            }
            Err(panic) => {
                self.panics.fetch_add(1, Ordering::Relaxed);
                discard(panic);
                self.last.load(Ordering::Relaxed)
            }
        }
    }
}
