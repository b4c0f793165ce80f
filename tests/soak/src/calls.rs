//! Calls in every way that there is, each counted by its caller.

use std::future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tripcoil::{CallError, Outcome, OwnedEntry, Resource};

use crate::Random;
use crate::tally::Tally;

const OUTCOMES: [Outcome; 4] = [Outcome::Good, Outcome::Bad, Outcome::Ignored, Outcome::Cancelled];

/// What most calls come to: in phases of 256 calls, in which the dependency is well or ill.
fn outcome(random: &mut Random, step: u64) -> Outcome {
    let ill = (step / 256).is_multiple_of(3);
    match random.below(16) {
        0 => OUTCOMES[random.below(4) as usize],
        n if ill && n < 12 => Outcome::Bad,
        _ => Outcome::Good,
    }
}

fn io_result(outcome: Outcome) -> io::Result<()> {
    if outcome == Outcome::Bad { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
}

/// One call, in one of the ways.
pub(crate) fn call(resource: &Resource, tally: &Tally, random: &mut Random, step: u64) {
    let outcome = outcome(random, step);
    match random.below(32) {
        0 => guarded(resource, tally, outcome),
        1 => unwinding(resource, tally),
        2 => abandoned(resource, tally),
        3 => asynchronous(resource, tally, random.below(2) == 0),
        _ => by_hand(resource, tally, outcome, random.below(60)),
    }
}

fn by_hand(resource: &Resource, tally: &Tally, outcome: Outcome, ms: u64) {
    let Ok(entry) = resource.enter() else { return tally.blocked() };
    tally.admitted();
    tally.ended(outcome);
    entry.end_with(outcome, Duration::from_millis(ms));
}

fn guarded(resource: &Resource, tally: &Tally, outcome: Outcome) {
    let result = resource.call(|| {
        tally.admitted();
        io_result(outcome)
    });
    match result {
        Err(CallError::Blocked(blocked)) => {
            assert!(blocked.to_string().contains(resource.name()));
            tally.blocked();
        }
        Err(CallError::Failed(_)) => tally.ended(Outcome::Bad),
        Ok(()) => tally.ended(Outcome::Good),
    }
}

fn unwinding(resource: &Resource, tally: &Tally) {
    let call = || {
        resource.call(|| -> io::Result<()> {
            tally.admitted();
            // As a panic, but not reported.
            resume_unwind(Box::new(()))
        })
    };
    match catch_unwind(AssertUnwindSafe(call)) {
        Err(_) => tally.ended(Outcome::Bad),
        Ok(_) => tally.blocked(),
    }
}

fn abandoned(resource: &Resource, tally: &Tally) {
    let Ok(entry) = resource.enter_owned() else { return tally.blocked() };
    tally.admitted();
    drop(entry);
    tally.ended(Outcome::Cancelled);
}

/// One that is ready at once, or one that is dropped before it is.
fn asynchronous(resource: &Resource, tally: &Tally, ready: bool) {
    let mut calls = pin!(resource.call_async(async {
        tally.admitted();
        if !ready {
            future::pending::<()>().await;
        }
        Ok::<(), io::Error>(())
    }));
    match calls.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Pending => tally.ended(Outcome::Cancelled),
        Poll::Ready(Ok(())) => tally.ended(Outcome::Good),
        Poll::Ready(_) => tally.blocked(),
    }
}

/// Calls that are open over several rounds, across whatever the breakers go through meanwhile.
#[derive(Default)]
pub(crate) struct Held(Vec<OwnedEntry>);

impl Held {
    /// Ends the oldest of eight, or begins one more.
    pub(crate) fn step(&mut self, resource: &Resource, tally: &Tally, random: &mut Random) {
        if self.0.len() == 8 {
            let outcome = OUTCOMES[random.below(4) as usize];
            self.0.remove(0).end(outcome).expect("nobody else ends it");
            tally.ended(outcome);
        } else if let Ok(entry) = resource.enter_owned() {
            tally.admitted();
            self.0.push(entry);
        } else {
            tally.blocked();
        }
    }

    pub(crate) fn open(&self) -> u64 {
        self.0.len() as u64
    }
}
