//! What can be read of a breaker, and what is told of its changes.

mod support;

use std::time::Duration;

use serde_json::json;
use support::{World, breaker, call, calls, ms, r0, r0_with, snapshot, state, trip};
use tripcoil::{Cause, Mode, Outcome, State, Totals};

#[test]
fn a_new_breaker_has_counted_nothing() {
    let world = World::r0();
    let now = snapshot(&world.r());
    assert_eq!((now.state, now.mode, now.retry_after), (State::Closed, Mode::Normal, None));
    assert_eq!((now.good, now.bad, now.run, now.totals), (0, 0, 0, Totals::default()));
}

#[test]
fn counts_are_those_of_the_window_and_slide_with_it() {
    let world = World::new(&r0_with(&json!({"minRequestAmount": 9})));
    let r = world.r();
    calls(&r, 2, Outcome::Bad);
    world.at(500);
    calls(&r, 3, Outcome::Good);
    let at = |at| {
        world.at(at);
        (snapshot(&r).good, snapshot(&r).bad)
    };
    assert_eq!(at(999), (3, 2));
    assert_eq!(at(1_000), (3, 0), "the first bucket has left");
    assert_eq!(at(1_499), (3, 0));
    assert_eq!(at(1_500), (0, 0));
    assert_eq!((snapshot(&r).totals.good, snapshot(&r).totals.bad), (3, 2));
}

#[test]
fn the_time_until_the_next_probe_is_told_open_and_half_open() {
    let world = World::new(&r0_with(&json!({"probeTimeoutMs": 700})));
    let r = world.r();
    let left = |at| {
        world.at(at);
        snapshot(&r).retry_after
    };
    assert_eq!(left(0), None);
    trip(&r);
    assert_eq!([0, 500, 1_999, 2_000, 9_000].map(left), [2_000, 1_500, 1, 0, 0].map(|at| Some(ms(at))));
    let probe = r.enter().unwrap();
    assert_eq!([9_000, 9_100, 9_700, 12_000].map(left), [700, 600, 0, 0].map(|at| Some(ms(at))));
    world.at(9_100);
    assert_eq!(r.enter().unwrap_err().retry_after(), Some(ms(600)));
    probe.end(Outcome::Good);
    assert_eq!(left(9_200), None);
}

#[test]
fn a_lease_that_never_ends_has_no_time_left_to_tell() {
    let world = World::new(&r0_with(&json!({"probeTimeoutMs": 0})));
    let r = world.r();
    trip(&r);
    world.at(2_000);
    let _probe = r.enter().unwrap();
    assert_eq!((state(&r), snapshot(&r).retry_after), (State::HalfOpen, None));
    world.at(1_000_000_000);
    let blocked = r.enter().unwrap_err();
    assert_eq!((blocked.state(), blocked.retry_after()), (State::HalfOpen, None));
}

#[test]
fn totals_list_every_way_in_which_a_call_can_go() {
    let world = World::r0();
    let r = world.r();
    let late = r.enter_owned().unwrap();
    call(&r, Outcome::Good);
    call(&r, Outcome::Ignored);
    call(&r, Outcome::Ignored);
    call(&r, Outcome::Cancelled);
    drop(r.enter().unwrap());
    drop(r.enter_owned().unwrap());
    calls(&r, 3, Outcome::Bad);
    (0..5).for_each(|_| assert!(r.enter().is_err()));
    late.end(Outcome::Good).unwrap();
    let totals = snapshot(&r).totals;
    let expected =
        Totals { passed: 10, blocked: 5, good: 1, bad: 3, ignored: 2, cancelled: 3, late: 1, observed: 0 };
    assert_eq!(totals, expected);
    r.set_mode(Mode::ObserveOnly);
    trip(&r);
    call(&r, Outcome::Bad);
    assert_eq!(snapshot(&r).totals, Totals { passed: 14, bad: 7, observed: 1, ..expected });
}

#[test]
fn probes_are_in_the_totals() {
    let world = World::new(&r0_with(&json!({"probeNum": 2})));
    let r = world.r();
    trip(&r);
    world.at(2_000);
    calls(&r, 2, Outcome::Good);
    world.at(4_000);
    trip(&r);
    world.at(6_000);
    call(&r, Outcome::Bad);
    let totals = snapshot(&r).totals;
    assert_eq!((totals.good, totals.bad, totals.passed), (2, 9, 11));
}

#[test]
fn a_trip_explains_itself() {
    let world = World::new(&json!([r0_with(&json!({"id": "first", "count": 1.0})), r0()]));
    let r = world.r();
    let second = r.breakers().remove(1);
    assert_eq!(second.last_trip(), None);
    world.at(100);
    calls(&r, 2, Outcome::Good);
    world.at(400);
    calls(&r, 2, Outcome::Bad);
    let change = world.changes().pop().unwrap();
    let trip = change.trip.clone().unwrap();
    assert_eq!(second.last_trip().as_ref(), Some(&trip));
    assert_eq!((&*trip.resource, &trip.rule), ("r", second.rule()));
    assert_eq!((trip.cause, trip.value, trip.threshold), (Cause::Condition, 0.5, 0.5));
    assert_eq!((trip.good, trip.bad, trip.window), (2, 2, ms(1_000)));
    assert_eq!((trip.at, trip.open_until), (ms(400), Some(ms(2_400))));
    assert_eq!(trip.generation, second.snapshot().generation);
    assert_eq!((&*change.resource, change.position, change.snapshot), ("r", 1, Some(0.5)));
    assert_eq!((change.from, change.to, change.at), (State::Closed, State::Open, ms(400)));
    assert_eq!((change.from_mode, change.to_mode), (Mode::Normal, Mode::Normal));
    assert_eq!((&change.rule, change.generation), (second.rule(), trip.generation));
    let sentence = trip.to_string();
    for part in ["\"r\"", "400ms", "2 of 4", "0.5", "at the threshold", "1s", "2.4s"] {
        assert!(sentence.contains(part), "{part} is not in {sentence}");
    }
}

#[test]
fn every_kind_of_rule_tells_the_value_that_tripped_it() {
    let slow = json!({"resource": "r", "count": 50, "slowRatioThreshold": 0.4, "timeWindow": 2});
    let count = json!({"resource": "r", "grade": 2, "count": 3, "timeWindow": 2});
    let run = json!({"resource": "r", "grade": 3, "count": 4, "timeWindow": 2});
    let cases = [(slow, 0.8, 0.4, 1, 4), (count, 4.0, 3.0, 1, 4), (run, 4.0, 4.0, 0, 4)];
    for (rule, value, threshold, good, bad) in cases {
        let world = World::new(&rule);
        let r = world.r();
        call(&r, Outcome::Good);
        (0..4).for_each(|_| r.enter().unwrap().end_with(Outcome::Bad, ms(51)));
        let trip = breaker(&r).last_trip().unwrap_or_else(|| panic!("{rule} has not tripped"));
        assert_eq!(
            (trip.value, trip.threshold, trip.good, trip.bad),
            (value, threshold, good, bad),
            "{rule}"
        );
        assert_eq!(world.changes().pop().unwrap().snapshot, Some(value));
    }
}

#[test]
fn the_last_trip_is_by_a_condition_or_a_bad_probe() {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    let first = breaker(&r).last_trip().unwrap();
    world.at(2_000);
    drop(r.enter().unwrap());
    let given_back = world.changes().pop().unwrap();
    let trip = given_back.trip.unwrap();
    assert_eq!((given_back.snapshot, trip.cause), (Some(1.0), Cause::ProbeGivenBack));
    assert_eq!(trip.open_until, Some(ms(2_000)), "as it was");
    assert_eq!(breaker(&r).last_trip(), Some(first));
    world.at(2_500);
    call(&r, Outcome::Bad);
    let last = breaker(&r).last_trip().unwrap();
    assert_eq!((last.cause, last.value, last.at), (Cause::ProbeFailed, 1.0, ms(2_500)));
    assert_eq!(last.open_until, Some(ms(4_500)));
    world.at(4_500);
    call(&r, Outcome::Good);
    assert_eq!(breaker(&r).last_trip(), Some(last), "it outlives the closing");
}

#[test]
fn changes_that_are_no_trip_have_no_value_and_are_numbered_from_one() {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    world.at(2_000);
    call(&r, Outcome::Good);
    r.set_mode(Mode::Disabled);
    let changes = world.changes();
    assert_eq!(changes.iter().map(|c| c.sequence).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(changes[1..].iter().all(|change| change.snapshot.is_none() && change.trip.is_none()));
}

#[test]
fn reopenings_wait_longer_by_the_factor_and_not_beyond_the_limit() {
    let world = World::new(&r0_with(&json!({"backoffFactor": 3.0, "maxRetryTimeoutMs": 20_000})));
    let r = world.r();
    trip(&r);
    for wait in [2_000, 6_000, 18_000, 20_000, 20_000] {
        assert_eq!(snapshot(&r).retry_after, Some(ms(wait)));
        world.clock.advance(ms(wait - 1));
        assert!(r.enter().is_err());
        world.clock.advance(Duration::from_millis(1));
        call(&r, Outcome::Bad);
    }
}

#[test]
fn a_rejection_reads_as_a_sentence() {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    let open = r.enter().unwrap_err().to_string();
    assert!(open.contains("\"r\" is open, next probe in 2s"), "{open}");
    assert!(open.contains(&breaker(&r).rule().to_string()), "{open}");
    world.at(2_500);
    let _probe = r.enter().unwrap();
    let half_open = r.enter().unwrap_err().to_string();
    assert!(half_open.contains("half-open") && half_open.contains("in 2s"), "{half_open}");
}
