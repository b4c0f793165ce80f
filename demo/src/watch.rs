//! Story time: the script's own seconds, however fast they are played.

use std::thread;
use std::time::{Duration, Instant};

/// A stopwatch that runs `speed` times as fast as the world. Script, server, clients and breaker
/// all read this one, so a story told faster is the same story.
#[derive(Clone, Copy)]
pub(crate) struct Watch {
    start: Instant,
    speed: f64,
}

#[expect(clippy::disallowed_methods, reason = "real sockets need real time; it enters only here")]
impl Watch {
    /// Starts at 0. `speed` is finite and above 0.
    pub(crate) fn start(speed: f64) -> Self {
        Self { start: Instant::now(), speed }
    }

    /// Story time since the start.
    pub(crate) fn now(&self) -> Duration {
        self.start.elapsed().mul_f64(self.speed)
    }

    /// How long `story` takes in the world.
    pub(crate) fn real(&self, story: Duration) -> Duration {
        story.div_f64(self.speed)
    }

    /// Waits until the watch reads `due`; not at all if it is past.
    pub(crate) fn sleep_until(&self, due: Duration) {
        thread::sleep(self.real(due.saturating_sub(self.now())));
    }
}

impl tripcoil::Clock for Watch {
    fn now(&self) -> u64 {
        // Ns in 64 bits are enough for 584 years.
        Self::now(self).as_nanos() as u64
    }
}
