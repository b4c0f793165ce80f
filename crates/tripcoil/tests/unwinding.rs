//! Entries that are dropped: unfinished, while the stack unwinds, and in destructors.

mod support;

use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use support::{World, snapshot, state, trip};
use tripcoil::{Blocked, Breaker, Entry, Outcome, OwnedEntry, Registry, Resource, State};

/// Bad and cancelled calls after a use that may panic.
fn bad_and_cancelled(use_it: impl FnOnce(&Resource)) -> (u64, u64) {
    let world = World::r0();
    let r = world.r();
    let _ = catch_unwind(AssertUnwindSafe(|| use_it(&r)));
    let totals = snapshot(&r).totals;
    (totals.bad, totals.cancelled)
}

#[test]
fn handles_go_through_catch_unwind_as_they_are() {
    fn is_safe<T: UnwindSafe + RefUnwindSafe>() {}
    is_safe::<Registry>();
    is_safe::<Resource>();
    is_safe::<Breaker>();
    is_safe::<Entry<'_>>();
    is_safe::<OwnedEntry>();
    is_safe::<Blocked>();

    let world = World::r0();
    let r = world.r();
    let entry = catch_unwind(|| r.enter()).unwrap().unwrap();
    assert!(catch_unwind(|| entry.end(Outcome::Good)).is_ok());
    assert_eq!(snapshot(&r).totals.good, 1);
}

fn unwind() -> ! {
    resume_unwind(Box::new(()))
}

#[test]
fn an_entry_that_is_dropped_unfinished_is_cancelled() {
    assert_eq!(bad_and_cancelled(|r| drop(r.enter().unwrap())), (0, 1));
    assert_eq!(bad_and_cancelled(|r| drop(r.enter_owned().unwrap())), (0, 1));
}

#[test]
fn an_entry_that_is_marked_bad_and_dropped_is_cancelled() {
    assert_eq!(bad_and_cancelled(|r| r.enter().unwrap().mark_bad()), (0, 1));
}

#[test]
fn an_entry_that_is_dropped_while_the_stack_unwinds_ends_with_an_error() {
    let entered = |r: &Resource| {
        let _entry = r.enter().unwrap();
        unwind()
    };
    assert_eq!(bad_and_cancelled(entered), (1, 0));
    let owned = |r: &Resource| {
        let _entry = r.enter_owned().unwrap();
        unwind()
    };
    assert_eq!(bad_and_cancelled(owned), (1, 0));
}

#[test]
fn an_entry_that_has_ended_before_the_stack_unwinds_keeps_its_outcome() {
    let ended = |r: &Resource| {
        let entry = r.enter_owned().unwrap();
        entry.end(Outcome::Cancelled).unwrap();
        unwind()
    };
    assert_eq!(bad_and_cancelled(ended), (0, 1));
}

/// Makes calls in its destructor.
struct Cleanup<'r>(&'r Resource, Outcome);

impl Drop for Cleanup<'_> {
    fn drop(&mut self) {
        assert!(thread::panicking());
        // One is ended by hand, and one is given up: neither is what the stack unwinds for.
        self.0.enter().unwrap().end(self.1);
        drop(self.0.enter().unwrap());
    }
}

#[test]
fn a_destructors_own_calls_count_as_they_end_while_the_stack_unwinds() {
    let cleaned_up = |outcome| {
        bad_and_cancelled(move |r| {
            let _cleanup = Cleanup(r, outcome);
            unwind()
        })
    };
    assert_eq!(cleaned_up(Outcome::Good), (0, 1));
    assert_eq!(cleaned_up(Outcome::Bad), (1, 1));
}

#[test]
fn a_probe_that_unwinds_reopens_and_one_that_is_dropped_does_not() {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    world.at(2_000);
    drop(r.enter().unwrap());
    assert_eq!((state(&r), snapshot(&r).retry_after), (State::Open, Some(support::ms(0))));
    let probe = AssertUnwindSafe(|| {
        let _probe = r.enter().unwrap();
        unwind()
    });
    assert!(catch_unwind(probe).is_err());
    assert_eq!((state(&r), snapshot(&r).retry_after), (State::Open, Some(support::ms(2_000))));
}
