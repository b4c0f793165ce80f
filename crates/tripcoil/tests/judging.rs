//! When a breaker trips: what completions come to.

mod support;

use std::time::Duration;

use serde_json::json;
use support::{World, call, calls, ms, r0_with, snapshot, state, trip};
use tripcoil::{Outcome, Rule, State};

/// The state after so many bad calls, then good ones up to ten.
fn after_ten(rule: &serde_json::Value, bad: usize) -> State {
    let world = World::new(rule);
    let r = world.r();
    calls(&r, bad, Outcome::Bad);
    calls(&r, 10 - bad, Outcome::Good);
    state(&r)
}

#[test]
fn a_ratio_that_binary_floats_cannot_hold_trips_at_exactly_its_share() {
    for (ratio, bad) in [(0.3, 3), (0.1, 1), (0.7, 7)] {
        let rule = r0_with(&json!({"count": ratio, "minRequestAmount": 10}));
        assert_eq!(after_ten(&rule, bad), State::Open, "{bad} of 10 at {ratio}");
        assert_eq!(after_ten(&rule, bad - 1), State::Closed, "{} of 10 at {ratio}", bad - 1);
    }
}

#[test]
fn a_rule_that_must_be_exceeded_holds_at_exactly_its_share() {
    for (ratio, bad) in [(0.3, 3), (0.1, 1), (0.7, 7)] {
        let rule = r0_with(&json!({"count": ratio, "minRequestAmount": 10, "inclusive": false}));
        assert_eq!(after_ten(&rule, bad), State::Closed, "{bad} of 10 at {ratio}");
        assert_eq!(after_ten(&rule, bad + 1), State::Open, "{} of 10 at {ratio}", bad + 1);
    }
}

#[test]
fn a_good_call_is_judged_too() {
    let world = World::new(&r0_with(&json!({"minRequestAmount": 3})));
    let r = world.r();
    calls(&r, 2, Outcome::Bad);
    assert_eq!(state(&r), State::Closed);
    call(&r, Outcome::Good);
    assert_eq!(state(&r), State::Open);
}

#[test]
fn nine_good_seconds_outweigh_a_bad_one_at_every_phase() {
    for start in [0, 333, 999] {
        let world = World::new(&r0_with(&json!({"statIntervalMs": 10_000, "minRequestAmount": 20})));
        let r = world.r();
        for i in 0..1000 {
            world.at(start + i * 10);
            call(&r, if i < 900 { Outcome::Good } else { Outcome::Bad });
        }
        let snapshot = snapshot(&r);
        assert_eq!((snapshot.state, snapshot.bad), (State::Closed, 100), "from {start} ms");
        // What has left the window is less than one bucket.
        assert!((800..=900).contains(&snapshot.good), "from {start} ms: {} good", snapshot.good);
    }
}

#[test]
fn idle_time_is_skipped_at_once_however_long_it_was() {
    // A step for each window that has passed would be 10^12 steps, and the test would not end.
    let rule =
        r0_with(&json!({"statIntervalMs": 1, "statSlidingWindowBucketCount": 1, "minRequestAmount": 2}));
    let world = World::new(&rule);
    let r = world.r();
    for _ in 0..18 {
        call(&r, Outcome::Bad);
        world.clock.advance(ms(1_000_000_000_000));
        assert_eq!((snapshot(&r).bad, state(&r)), (0, State::Closed));
    }
    calls(&r, 2, Outcome::Bad);
    assert_eq!(state(&r), State::Open);
}

#[test]
fn every_distance_of_idle_time_empties_the_window() {
    let world = World::new(&r0_with(&json!({"minRequestAmount": 2})));
    let r = world.r();
    // 2^34 windows of a second are just below 2^64 ns.
    for windows in (0..=34).flat_map(|power| [1_u64 << power, (1 << power) + 1]) {
        world.at(0);
        r.reset();
        call(&r, Outcome::Bad);
        world.at(1000 * windows);
        assert_eq!(snapshot(&r).bad, 0, "after {windows} windows");
        call(&r, Outcome::Bad);
        assert_eq!((snapshot(&r).bad, state(&r)), (1, State::Closed), "after {windows} windows");
    }
}

#[test]
fn a_call_longer_than_the_window_counts_when_it_ends() {
    let world = World::r0();
    let r = world.r();
    let long = r.enter().unwrap();
    world.at(5_000);
    assert_eq!(snapshot(&r).bad, 0);
    long.end(Outcome::Bad);
    assert_eq!(snapshot(&r).bad, 1);
    calls(&r, 3, Outcome::Bad);
    assert_eq!(state(&r), State::Open);
}

fn slow_rule(limit: Duration) -> Rule {
    let slow = Rule::slow_ratio("r").threshold(1.0).max_allowed_rt(limit);
    slow.min_request_amount(1).retry_timeout(ms(2000)).build().unwrap()
}

#[test]
fn the_longest_duration_overflows_nothing() {
    let longest = [Duration::MAX, Duration::from_nanos(u64::MAX), Duration::from_millis(u64::MAX)];
    for duration in longest {
        let world = World::new(&json!([]));
        world.registry.load_rules([slow_rule(ms(50))]).unwrap();
        let r = world.r();
        r.enter().unwrap().end_with(Outcome::Good, duration);
        assert_eq!(state(&r), State::Open, "{duration:?}");
        world.clock.set(Duration::MAX);
        r.enter_owned().unwrap().end_with(Outcome::Good, duration).unwrap();
        assert_eq!(state(&r), State::Open, "{duration:?}");
    }
}

#[test]
fn response_times_are_compared_at_the_clocks_own_resolution() {
    for (limit, took, slow) in [
        (ms(50), Duration::from_micros(50_400), true),
        (ms(50), ms(50), false),
        (ms(50), Duration::from_nanos(50_000_001), true),
        (Duration::from_micros(49_500), Duration::from_micros(49_600), true),
        (Duration::from_micros(49_500), Duration::from_micros(49_500), false),
    ] {
        let world = World::new(&json!([]));
        world.registry.load_rules([slow_rule(limit)]).unwrap();
        let r = world.r();
        let entry = r.enter().unwrap();
        world.clock.advance(took);
        entry.end(Outcome::Good);
        assert_eq!(state(&r) == State::Open, slow, "{took:?} for {limit:?}");
    }
}

#[test]
fn sentinels_form_rounds_the_limit_half_up_and_the_go_form_does_not() {
    let sentinel = json!({"resource": "r", "count": 49.5, "timeWindow": 2, "minRequestAmount": 1});
    let go = json!({
        "resource": "r", "strategy": 0, "threshold": 1.0, "maxAllowedRtMs": 49.5,
        "retryTimeoutMs": 2000, "minRequestAmount": 1,
    });
    for (rule, slow) in [(&sentinel, false), (&go, true)] {
        let world = World::new(rule);
        let r = world.r();
        r.enter().unwrap().end_with(Outcome::Good, Duration::from_micros(49_900));
        assert_eq!(state(&r) == State::Open, slow, "{rule}");
    }
}

#[test]
fn a_response_time_that_the_caller_measured_stands_in_for_the_clocks() {
    let world = World::new(&json!([]));
    world.registry.load_rules([slow_rule(ms(50))]).unwrap();
    let r = world.r();
    let entry = r.enter().unwrap();
    world.at(400);
    entry.end_with(Outcome::Bad, ms(3));
    assert_eq!((snapshot(&r).good, snapshot(&r).bad), (1, 0));
}

#[test]
fn closing_and_a_reset_wipe_every_bucket() {
    let world = World::new(&r0_with(&json!({"minRequestAmount": 8})));
    let r = world.r();
    let errors_in_every_bucket = |from: u64| {
        for bucket in 0..7 {
            world.at(from + bucket * 100);
            call(&r, Outcome::Bad);
        }
    };
    errors_in_every_bucket(0);
    r.reset();
    assert_eq!(snapshot(&r).bad, 0);
    errors_in_every_bucket(0);
    assert_eq!(state(&r), State::Closed, "the seven before the reset do not count");
    call(&r, Outcome::Bad);
    assert_eq!(state(&r), State::Open);
    // The window of ten buckets would still hold them here: the clock goes back to just after.
    world.at(2_600);
    call(&r, Outcome::Good);
    world.at(650);
    assert_eq!((state(&r), snapshot(&r).bad), (State::Closed, 0));
    calls(&r, 7, Outcome::Bad);
    assert_eq!(state(&r), State::Closed, "the eight before the trip do not count");
}

#[test]
fn probes_never_show_in_the_closed_counts() {
    let world = World::new(&r0_with(&json!({"probeNum": 3})));
    let r = world.r();
    trip(&r);
    world.at(2_000);
    calls(&r, 2, Outcome::Good);
    assert_eq!((snapshot(&r).good, state(&r)), (0, State::HalfOpen));
    call(&r, Outcome::Good);
    let closed = snapshot(&r);
    assert_eq!((closed.state, closed.good, closed.bad), (State::Closed, 0, 0));
    calls(&r, 3, Outcome::Bad);
    assert_eq!(state(&r), State::Closed, "three of three, not three of six: but at least four are wanted");
    call(&r, Outcome::Bad);
    assert_eq!(state(&r), State::Open);
}

#[test]
fn a_run_of_errors_trips_whatever_the_window_and_tells_its_length() {
    let world =
        World::new(&json!({"resource": "r", "grade": 3, "count": 3, "timeWindow": 2, "statIntervalMs": 10}));
    let r = world.r();
    for hour in 0..3 {
        assert_eq!(snapshot(&r).run, hour);
        world.at(hour * 3_600_000);
        call(&r, Outcome::Bad);
    }
    let trip = world.changes().pop().unwrap();
    assert_eq!((trip.to, trip.snapshot), (State::Open, Some(3.0)));
}
