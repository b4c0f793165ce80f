//! The late outcome: what began in an earlier generation neither counts nor decides in a later one.
//!
//! Checked: an outcome that meets a reset, or a whole trip and recovery, is counted before it, or is
//! late; it is never seen in the window or the run that begins there, does not trip the breaker then,
//! and is in the totals once.
//!
//! Loom cannot see sequential consistency, load buffering, real time, or more threads and preemptions
//! than a model has: `loom_trip.rs` says more.
#![cfg(loom)]

mod loom_support;

use loom_support::*;
use tripcoil_core::{Breaker, Completion, Condition, Ending, Rule, State};

/// Resets the breaker, and counts one call after that.
fn begin_again(breaker: Breaker<'_>, ending: Ending) -> Completion {
    let _ = breaker.reset(0);
    call(breaker, ending, 0)
}

#[test]
fn a_good_outcome_that_meets_a_reset_is_not_in_the_window_after_it() {
    meets_a_reset(GOOD);
}

#[test]
fn a_bad_outcome_that_meets_a_reset_is_not_in_the_window_after_it() {
    meets_a_reset(BAD);
}

fn meets_a_reset(ending: Ending) {
    // After another call it is known of the place that no good one trips, and the outcome is counted at once.
    for before in [0, 1] {
        explore(2, 2, move |first| {
            let memory = Memory::of(&never_trips(1));
            (0..before).for_each(|_| assert!(!call(memory.breaker(), GOOD, 0).late));
            let p = memory.permit(0);
            let (end, next) =
                both(first, &memory, move |b| b.complete(p, ending, 0), |b| begin_again(b, GOOD));
            assert!(!next.late);
            assert_eq!(window(memory.breaker(), 0), (1, 0));
            let totals = memory.breaker().totals();
            assert_eq!((totals.passed, totals.late), (2 + before, u64::from(end.late)));
        });
    }
}

#[test]
fn an_outcome_of_before_a_reset_does_not_trip_the_breaker_after_it() {
    explore(2, 2, |first| {
        let memory =
            Memory::of(&Rule { min_request_amount: 1, ..Rule::new(Condition::ErrorCount(1.0), 1000) });
        let p = memory.permit(0);
        let (end, next) = both(first, &memory, move |b| b.complete(p, BAD, 0), |b| begin_again(b, BAD));
        assert_eq!((end.transition, next.transition), (None, None));
        assert_eq!((memory.breaker().state(), window(memory.breaker(), 0)), (State::Closed, (0, 1)));
    });
}

#[test]
fn an_error_of_before_a_reset_is_not_in_the_run_after_it() {
    is_not_in_the_run_after(2, |b| {
        let _ = b.reset(0);
    });
}

#[test]
fn an_error_of_before_another_rule_is_not_in_the_run_after_it() {
    is_not_in_the_run_after(1, |b| {
        b.assign(&two_in_a_row_trip()).expect("the models' rules are valid");
    });
}

fn two_in_a_row_trip() -> Rule {
    Rule::new(Condition::ConsecutiveErrors(2.0), 1000)
}

fn is_not_in_the_run_after(preemptions: usize, begin: fn(Breaker<'_>)) {
    explore(2, preemptions, move |first| {
        let memory = Memory::of(&two_in_a_row_trip());
        let p = memory.permit(0);
        let after = move |b: Breaker<'_>| {
            begin(b);
            call(b, BAD, 0)
        };
        let (end, next) = both(first, &memory, move |b| b.complete(p, BAD, 0), after);
        assert_eq!((end.transition, next.transition), (None, None));
        let now = memory.breaker().snapshot(0);
        assert_eq!((now.state, now.run), (State::Closed, 1));
    });
}

#[test]
fn a_run_that_meets_a_reset_trips_the_breaker_before_it_or_not_at_all() {
    explore(2, 2, |first| {
        let memory = Memory::of(&Rule::new(Condition::ConsecutiveErrors(1.0), 1000));
        let p = memory.permit(0);
        let (end, reset) = both(first, &memory, move |b| b.complete(p, BAD, 0), |b| b.reset(0));
        let changes = in_order(p.generation() + 1, [end.transition, Some(reset)]);
        assert_eq!(changes.last().map(|change| change.generation), Some(reset.generation));
        assert_eq!(memory.breaker().state(), State::Closed);
    });
}

/// The first call may make the trip itself: then the second may find no deadline yet, and is rejected.
#[test]
fn an_outcome_that_meets_a_trip_and_a_recovery_is_not_in_the_window_after_them() {
    explore(2, 1, |first| {
        let memory = Memory::of(&one_bad_trips());
        let (p, q) = (memory.permit(0), memory.permit(0));
        let recover = move |b: Breaker<'_>| {
            let _ = b.complete(q, BAD, 0);
            let probe = passed(admit(b, DUE))?;
            let closed = b.complete(probe, GOOD, DUE).transition?;
            let _ = call(b, GOOD, DUE);
            Some(closed.to)
        };
        let (end, recovered) = both(first, &memory, move |b| b.complete(p, GOOD, 0), recover);
        if let Some(state) = recovered {
            assert_eq!((state, window(memory.breaker(), DUE)), (State::Closed, (1, 0)));
            let totals = memory.breaker().totals();
            assert_eq!((totals.passed, totals.late), (4, u64::from(end.late)));
        }
    });
}
