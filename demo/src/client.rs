//! A client: has a call made whenever the script says so, and tells how it went.

use std::time::Duration;

use crate::script::{CALLS, Caller, SLOW, Script};
use crate::watch::Watch;

/// How a call went for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    Slow,
    Failed,
    Blocked,
}

/// One call, in story time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) outcome: Outcome,
    /// When the script wanted it made. A client that still waits for its last call makes it late.
    pub(crate) due: Duration,
    /// From then until the answer: what the caller spent waiting.
    pub(crate) waited: Duration,
}

/// One of the callers. It makes its calls one after the other.
pub(crate) struct Client {
    pub(crate) id: u32,
    pub(crate) script: Script,
    pub(crate) watch: Watch,
}

impl Client {
    /// Has every call of the script made by `make`, and reports each as it ends. Ends early where
    /// `make` can make no more, or `report` says that nobody listens.
    pub(crate) fn run(
        &self,
        mut make: impl FnMut(Caller) -> Option<Outcome>,
        mut report: impl FnMut(Sample) -> bool,
    ) {
        for call in 0..CALLS {
            let caller = Caller { client: self.id, call };
            let Some(sample) = self.call(caller, &mut make) else { return };
            if !report(sample) {
                return;
            }
        }
    }

    fn call(&self, caller: Caller, make: impl FnOnce(Caller) -> Option<Outcome>) -> Option<Sample> {
        let due = self.script.due(caller);
        self.watch.sleep_until(due);
        let begun = self.watch.now();
        let outcome = make(caller)?;
        let ended = self.watch.now();
        let outcome = match outcome {
            Outcome::Ok if ended.saturating_sub(begun) > SLOW => Outcome::Slow,
            as_it_was => as_it_was,
        };
        Some(Sample { outcome, due, waited: ended.saturating_sub(due) })
    }
}
