//! Closed: what is counted, and what trips.

use tripcoil_core::time::{NEVER, millis};
use tripcoil_core::{Condition, Ending, Judges, Rule, State};

use super::{BAD, DUE, GOOD, Memory, change, counts, one_bad_trips};

fn rule(condition: Condition) -> Rule {
    Rule { min_request_amount: 4, ..Rule::new(condition, 1000) }
}

#[test]
fn a_ratio_trips_above_its_threshold_and_at_it_where_it_is_inclusive() {
    for (inclusive, bad) in [(false, 3), (true, 2)] {
        let memory = Memory::of(&Rule { inclusive, ..rule(Condition::ErrorRatio(0.5)) });
        memory.calls(2, GOOD, 0);
        memory.calls(bad - 1, BAD, 0);
        let trip = change(memory.call(BAD, 7));
        assert_eq!((trip.from, trip.to, trip.at), (State::Closed, State::Open, 7));
        assert_eq!((trip.counts, trip.value), (counts(2, bad as u64), Some(bad as f64 / (2 + bad) as f64)));
        assert_eq!((trip.open_until, trip.given_back), (Some(7 + DUE), false));
        assert!(!trip.is_forfeit());
    }
}

#[test]
fn a_ratio_of_one_trips_when_every_call_was_bad() {
    let memory = Memory::of(&rule(Condition::ErrorRatio(1.0)));
    memory.calls(3, BAD, 0);
    assert_eq!(change(memory.call(BAD, 0)).value, Some(1.0));
    let memory = Memory::of(&rule(Condition::ErrorRatio(1.0)));
    memory.calls(1, GOOD, 0);
    memory.calls(9, BAD, 0);
    assert_eq!(memory.state(), State::Closed);
}

#[test]
fn nothing_trips_without_a_bad_call_nor_with_too_few() {
    let memory = Memory::of(&Rule { inclusive: true, ..rule(Condition::ErrorRatio(0.0)) });
    memory.calls(9, GOOD, 0);
    assert_eq!(change(memory.call(BAD, 0)).counts, counts(9, 1));
    let memory = Memory::of(&rule(Condition::ErrorCount(0.0)));
    memory.calls(3, BAD, 0);
    // A good call may be the one that there were too few of.
    assert_eq!(change(memory.call(GOOD, 0)).counts, counts(1, 3));
}

#[test]
fn a_count_trips_above_its_threshold() {
    let memory = Memory::of(&rule(Condition::ErrorCount(5.0)));
    memory.calls(5, BAD, 0);
    memory.calls(5, GOOD, 0);
    let trip = change(memory.call(BAD, 0));
    assert_eq!((trip.value, trip.counts), (Some(6.0), counts(5, 6)));
}

#[test]
fn a_response_time_is_slow_above_the_limit_and_an_error_is_not_asked_for() {
    let memory = Memory::of(&rule(Condition::SlowRatio { threshold: 0.5, slow_after: 10 }));
    assert_eq!(memory.breaker().judges(), Judges::Times);
    memory.calls(3, Ending { error: true, response_time: 10 }, 0);
    memory.calls(3, Ending { error: false, response_time: 11 }, 0);
    assert_eq!(memory.window(0), counts(3, 3));
    let trip = change(memory.call(Ending { error: false, response_time: 11 }, 0));
    assert_eq!(trip.value, Some(4.0 / 7.0));
}

#[test]
fn a_run_trips_at_its_length_and_a_good_call_ends_it() {
    let memory = Memory::of(&rule(Condition::ConsecutiveErrors(3.0)));
    assert_eq!(memory.breaker().judges(), Judges::Runs);
    memory.calls(2, BAD, 0);
    assert_eq!(memory.breaker().snapshot(0).run, 2);
    memory.calls(1, GOOD, 0);
    assert_eq!(memory.breaker().snapshot(0).run, 0);
    memory.calls(2, BAD, 0);
    let trip = change(memory.call(BAD, 0));
    assert_eq!((trip.value, trip.counts), (Some(3.0), counts(0, 3)));
}

#[test]
fn a_good_call_ends_a_run_in_whatever_way_the_ones_before_were_counted() {
    let memory = Memory::of(&rule(Condition::ConsecutiveErrors(2.0)));
    for now in [0, 0, 1, millis(1), millis(1000)] {
        memory.calls(2, GOOD, now);
        memory.calls(1, BAD, now);
        assert_eq!(memory.breaker().snapshot(now).run, 1);
        memory.calls(1, GOOD, now);
        assert_eq!(memory.breaker().snapshot(now).run, 0);
        memory.calls(1, BAD, now);
    }
    assert_eq!(change(memory.call(BAD, millis(1000))).to, State::Open);
}

#[test]
fn a_call_leaves_the_window_with_its_bucket() {
    let rule = Rule { buckets: 10, ..rule(Condition::ErrorCount(9.0)) };
    let memory = Memory::of(&rule);
    memory.calls(1, BAD, millis(199));
    memory.calls(1, GOOD, millis(200));
    assert_eq!(memory.window(millis(1099)), counts(1, 1));
    assert_eq!(memory.window(millis(1100)), counts(1, 0));
    assert_eq!(memory.window(millis(1199)), counts(1, 0));
    assert_eq!(memory.window(millis(1200)), counts(0, 0));
    let totals = memory.breaker().totals();
    assert_eq!((totals.good, totals.bad, totals.passed), (1, 1, 2));
}

#[test]
fn an_outcome_of_before_the_trip_is_late() {
    let memory = Memory::of(&one_bad_trips());
    let (held, ignored, cancelled) = (memory.permit(0), memory.permit(0), memory.permit(0));
    let _ = memory.call(BAD, 0);
    let end = memory.breaker().complete(held, GOOD, 0);
    assert_eq!((end.late, end.transition), (true, None));
    assert_eq!(memory.breaker().ignore(ignored, 0), None);
    assert_eq!(memory.breaker().cancel(cancelled, 0), None);
    let totals = memory.breaker().totals();
    assert_eq!((totals.late, totals.ignored, totals.cancelled, totals.passed), (1, 1, 1, 4));
}

#[test]
fn the_good_end_in_the_fast_case_says_whether_it_did_anything() {
    let memory = Memory::of(&one_bad_trips());
    let breaker = memory.breaker();
    let (one, other) = (memory.permit(0), memory.permit(0));
    // The first call of a bucket takes the long way.
    memory.calls(1, GOOD, 0);
    assert!(breaker.complete_good(one, 0));
    assert_eq!(memory.window(0), counts(2, 0));
    let _ = breaker.reset(0);
    assert!(!breaker.complete_good(other, 0));
}

#[test]
fn a_rejection_tells_how_long_it_lasts() {
    let memory = Memory::open(&one_bad_trips());
    let rejection = memory.rejection(DUE - 3);
    assert_eq!((rejection.state(), rejection.retry_after()), (State::Open, 3));
    assert_eq!(rejection.generation(), memory.breaker().snapshot(0).generation);
    assert_eq!(format!("{rejection:?}"), format!("{:?}", memory.breaker().reject_open(DUE - 3).unwrap()));
    assert!(format!("{rejection:?}").contains("retry_after: 3"));
    assert_eq!(memory.breaker().reject_open(DUE), None);
    assert_eq!(memory.breaker().snapshot(DUE - 3).retry_after, Some(3));
    assert_eq!(memory.breaker().snapshot(DUE + 3).retry_after, Some(0));
}

#[test]
fn a_clock_that_goes_back_makes_nobody_wait_for_longer_than_the_whole_wait() {
    let memory = Memory::of(&one_bad_trips());
    let _ = memory.call(BAD, millis(5000));
    assert_eq!(memory.rejection(millis(4900)).retry_after(), DUE);
    assert_eq!(memory.breaker().snapshot(millis(4900)).retry_after, Some(DUE));
    assert_eq!(memory.rejection(millis(5899)).retry_after(), millis(1));
    assert!(memory.permit(millis(5900)).is_probe());
}

#[test]
fn a_caller_that_was_held_up_since_it_read_the_clock_moves_no_deadline() {
    let memory = Memory::of(&one_bad_trips());
    let _ = memory.call(BAD, millis(5000));
    let _ = memory.breaker().admit(millis(10), || millis(5100));
    assert_eq!(memory.rejection(millis(5999)).retry_after(), millis(1));
}

#[test]
fn a_wait_beyond_the_clocks_end_never_ends() {
    let memory = Memory::of(&one_bad_trips());
    let _ = memory.call(BAD, NEVER - 5);
    assert_eq!(memory.rejection(NEVER).retry_after(), DUE);
}

#[test]
fn a_good_call_ends_a_run_whose_errors_are_out_of_the_window() {
    let memory = Memory::of(&Rule { buckets: 2, ..rule(Condition::ConsecutiveErrors(3.0)) });
    memory.calls(1, GOOD, millis(5000));
    // The clock goes back, and forward again to a bucket that is in place.
    memory.calls(2, BAD, millis(500));
    memory.calls(1, GOOD, millis(5000));
    assert_eq!(memory.breaker().snapshot(millis(5000)).run, 0);
    memory.calls(2, BAD, millis(5000));
}
