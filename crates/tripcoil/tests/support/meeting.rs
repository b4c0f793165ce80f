//! A barrier that lets everybody go when one of them fails, so that a failing test ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;

/// Where threads meet, round after round.
pub(crate) struct Meeting {
    size: usize,
    arrived: Mutex<(usize, u64)>,
    all: Condvar,
    broken: AtomicBool,
}

/// One thread's place. Dropped while the thread unwinds, it breaks the meeting up.
pub(crate) struct Member<'a>(&'a Meeting);

impl Meeting {
    pub(crate) fn of(size: usize) -> Self {
        Self { size, arrived: Mutex::default(), all: Condvar::new(), broken: AtomicBool::new(false) }
    }

    pub(crate) fn join(&self) -> Member<'_> {
        Member(self)
    }
}

impl Member<'_> {
    /// Waits for all the others, and says whether this thread came last. Panics where one has failed.
    pub(crate) fn wait(&self) -> bool {
        let mut arrived = self.0.arrived.lock().unwrap();
        arrived.0 += 1;
        if arrived.0 == self.0.size {
            *arrived = (0, arrived.1 + 1);
            self.0.all.notify_all();
            return true;
        }
        let round = arrived.1;
        let arrived = self.0.all.wait_while(arrived, |now| now.1 == round && !self.is_broken()).unwrap();
        drop(arrived);
        assert!(!self.is_broken(), "another thread has failed");
        false
    }

    /// Whether one of the others has failed.
    pub(crate) fn is_broken(&self) -> bool {
        self.0.broken.load(Ordering::Relaxed)
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let _arrived = self.0.arrived.lock();
            self.0.broken.store(true, Ordering::Relaxed);
            self.0.all.notify_all();
        }
    }
}
