//! Clocks that jump, and reading.

mod support;

use std::cell::Cell;
use std::time::Duration;

use serde_json::json;
use support::{World, call, is_blocked, ms, r0_with, snapshot, state, trip};
use tripcoil::{Clock, MonotonicClock, Outcome, Registry, State};

#[test]
fn a_clock_that_steps_back_while_open_never_leaves_more_than_the_wait() {
    let world = World::r0();
    let r = world.r();
    world.at(10_000);
    trip(&r);
    world.at(3_000);
    assert_eq!(snapshot(&r).retry_after, Some(ms(2_000)), "reading tells it, and moves nothing");
    world.at(10_500);
    assert_eq!(snapshot(&r).retry_after, Some(ms(1_500)));
    world.at(3_000);
    assert_eq!(r.enter().unwrap_err().retry_after(), Some(ms(2_000)));
    world.at(4_999);
    assert_eq!(r.enter().unwrap_err().retry_after(), Some(ms(1)), "asking has moved the deadline");
    world.at(5_000);
    call(&r, Outcome::Good);
    assert_eq!(state(&r), State::Closed);
}

#[test]
fn a_blocked_call_moves_a_deadline_that_the_clock_has_left_behind() {
    let other = json!({"resource": "r", "grade": 3, "count": 4, "timeWindow": 60, "id": "other"});
    let world = World::new(&json!([support::r0(), other]));
    let r = world.r();
    world.at(100_000);
    trip(&r);
    world.at(7_000);
    assert!(is_blocked(&r));
    let left = |at| {
        world.at(at);
        snapshot(&r).retry_after.unwrap()
    };
    assert_eq!(left(8_000), ms(1_000));
}

#[test]
fn a_clock_that_steps_back_while_half_open_never_leaves_more_than_the_lease() {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    world.at(20_000);
    let hanging = r.enter().unwrap();
    world.at(13_000);
    assert_eq!(r.enter().unwrap_err().retry_after(), Some(ms(2_000)));
    world.at(15_000);
    call(&r, Outcome::Good);
    assert_eq!(state(&r), State::Closed);
    hanging.end(Outcome::Bad);
    assert_eq!(state(&r), State::Closed);
}

#[test]
fn what_a_clock_that_steps_back_leaves_is_as_long_as_it_was_when_it_was_set() {
    let rule = |seconds: u64| r0_with(&json!({"id": 1, "timeWindow": seconds}));
    let world = World::new(&rule(2));
    let r = world.r();
    world.at(50_000);
    trip(&r);
    world.load(&rule(9));
    world.at(10_000);
    assert_eq!(r.enter().unwrap_err().retry_after(), Some(ms(2_000)), "not the edited 9 s");
    world.at(12_000);
    let _probe = r.enter().unwrap();
    world.load(&rule(1));
    world.at(3_000);
    assert_eq!(r.enter().unwrap_err().retry_after(), Some(ms(9_000)), "nor the lease's later 1 s");
}

#[test]
fn an_hour_forward_makes_an_open_breaker_due_and_empties_a_closed_window() {
    let world = World::r0();
    let r = world.r();
    for _ in 0..3 {
        call(&r, Outcome::Bad);
    }
    world.clock.advance(Duration::from_secs(3600));
    call(&r, Outcome::Bad);
    assert_eq!((state(&r), snapshot(&r).bad), (State::Closed, 1));
    for _ in 0..3 {
        call(&r, Outcome::Bad);
    }
    world.clock.advance(Duration::from_secs(3600));
    assert_eq!(snapshot(&r).retry_after, Some(Duration::ZERO));
    call(&r, Outcome::Good);
    assert_eq!(state(&r), State::Closed);
}

#[test]
fn a_clock_near_the_end_of_its_range_panics_nowhere() {
    let end = Duration::from_nanos(u64::MAX);
    for before_end in [0, 1, 999_999, 1_000_000, 1_500_000_000, 3_000_000_000] {
        let world = World::new(&r0_with(&json!({"probeNum": 2, "backoffFactor": 1.0e300})));
        let r = world.r();
        world.clock.set(end - Duration::from_nanos(before_end));
        trip(&r);
        assert!(snapshot(&r).retry_after.is_none_or(|left| left <= ms(2_000)), "{before_end} ns before");
        let _ = r.enter().map(|probe| probe.end(Outcome::Bad));
        world.clock.set(end);
        let _ = r.enter().map(|probe| probe.end(Outcome::Bad));
        let _ = r.enter().map(drop);
        r.reset();
        trip(&r);
        // Back at its origin, the wait is at most its whole length.
        world.clock.set(Duration::ZERO);
        let _ = r.enter();
        world.at(2_000);
        assert!(!is_blocked(&r), "{before_end} ns before the end");
    }
}

#[test]
fn a_clock_that_leaps_to_and_fro_counts_each_call_once() {
    let world = World::new(&r0_with(&json!({"minRequestAmount": 9_007_199_254_740_991_u64})));
    let r = world.r();
    let leaps = [0, 1, 999, 1_000, 60_000, 1 << 24, 1 << 34, 1 << 44, u64::MAX / 1_000_000];
    for from in leaps {
        for to in leaps {
            world.at(from);
            call(&r, Outcome::Bad);
            world.at(to);
            call(&r, Outcome::Good);
            let now = snapshot(&r);
            assert!(now.good >= 1, "from {from} to {to} ms: the last call is not in its window");
        }
    }
    let totals = snapshot(&r).totals;
    assert_eq!((totals.good, totals.bad, totals.passed), (81, 81, 162));
}

#[test]
fn reading_a_hundred_thousand_times_changes_nothing() {
    let world = World::r0();
    let r = world.r();
    let resource = r.breakers().remove(0);
    for (at, step) in [(0, "closed"), (100, "open"), (5_000, "due"), (5_000, "half-open")] {
        world.at(at);
        let mut probe = None;
        match step {
            "open" => trip(&r),
            "half-open" => probe = Some(r.enter().unwrap()),
            _ => {}
        }
        world.changes();
        let first = resource.snapshot();
        for _ in 0..25_000 {
            assert_eq!(resource.snapshot(), first, "{step}");
            let _ = (resource.state(), resource.mode(), resource.last_trip());
        }
        assert_eq!(world.moves(), [], "{step}");
        if let Some(probe) = probe {
            probe.end(Outcome::Good);
            assert_eq!(state(&r), State::Closed, "the probe still decides");
        }
    }
}

#[test]
fn reading_recycles_no_bucket() {
    let world = World::r0();
    let r = world.r();
    for _ in 0..3 {
        call(&r, Outcome::Bad);
    }
    world.at(1_000_000);
    assert_eq!(snapshot(&r).bad, 0);
    world.at(0);
    assert_eq!(snapshot(&r).bad, 3, "the same bucket, read from far and from near");
    call(&r, Outcome::Bad);
    assert_eq!(state(&r), State::Open);
}

#[test]
fn a_breaker_that_is_due_but_has_had_no_call_reads_open() {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    world.at(1_000_000);
    assert_eq!((state(&r), snapshot(&r).retry_after), (State::Open, Some(Duration::ZERO)));
}

#[test]
fn the_systems_clock_does_not_go_back_and_its_coarse_time_is_no_later() {
    let clock = MonotonicClock;
    let last = Cell::new(0);
    for _ in 0..100_000 {
        let (coarse, now) = (clock.coarse(), clock.now());
        assert!(last.get() <= now && coarse <= now);
        last.set(now);
    }
    let registry = Registry::new();
    registry.load_json(support::r0().to_string()).unwrap();
    let r = registry.resource("r").unwrap();
    trip(&r);
    let left = snapshot(&r).retry_after.unwrap();
    assert!(left <= ms(2_000));
}
