//! Manual control (spec section 11).

mod support;

use std::time::Duration;

use serde_json::json;
use support::{World, breaker, call, calls, is_blocked, ms, r0, r0_with, snapshot, state, states, trip};
use tripcoil::{Breaker, Mode, Outcome, State};

const MODES: [Mode; 4] = [Mode::Normal, Mode::ForcedOpen, Mode::Disabled, Mode::ObserveOnly];

#[test]
fn forced_open_rejects_whatever_the_clock_or_late_results_say() {
    let world = World::r0();
    let r = world.r();
    let early: Vec<_> = (0..2).map(|_| r.enter_owned().unwrap()).collect();
    r.set_mode(Mode::ForcedOpen);
    for at in [0, 2_000, 1_000_000_000] {
        world.at(at);
        let blocked = r.enter().unwrap_err();
        assert_eq!((blocked.mode(), blocked.state()), (Mode::ForcedOpen, State::Closed));
        assert_eq!(blocked.retry_after(), None, "without a limit");
        assert!(blocked.to_string().contains("forced open"), "{blocked}");
    }
    early[0].end(Outcome::Good).unwrap();
    early[1].end(Outcome::Bad).unwrap();
    assert!(is_blocked(&r));
    let now = snapshot(&r);
    assert_eq!((now.good, now.bad, now.retry_after, now.totals.late), (0, 0, None, 2));
}

#[test]
fn disabled_admits_and_counts_and_never_trips() {
    let world = World::new(&json!([r0(), {"resource": "r", "grade": 3, "count": 2, "timeWindow": 2}]));
    let r = world.r();
    r.set_mode(Mode::Disabled);
    world.changes();
    calls(&r, 100, Outcome::Bad);
    assert_eq!(states(&r), [State::Closed, State::Closed]);
    assert_eq!((snapshot(&r).bad, r.breakers()[1].snapshot().run), (100, 100));
    assert_eq!(world.changes(), []);
    r.set_mode(Mode::Normal);
    assert_eq!((snapshot(&r).bad, r.breakers()[1].snapshot().run), (0, 0), "it starts anew");
}

#[test]
fn observe_only_decides_and_announces_but_rejects_nothing() {
    let world = World::r0();
    let r = world.r();
    r.set_mode(Mode::ObserveOnly);
    world.changes();
    trip(&r);
    let before = snapshot(&r);
    for _ in 0..5 {
        call(&r, Outcome::Good);
        call(&r, Outcome::Bad);
    }
    let after = snapshot(&r);
    assert_eq!((after.state, after.retry_after), (State::Open, Some(ms(2_000))));
    assert_eq!(after.totals.observed, 10, "counted as calls that it would have rejected");
    assert_eq!((after.totals.passed, after.totals.blocked), (before.totals.passed, 0), "and nowhere else");
    world.at(2_000);
    let probe = r.enter().unwrap();
    assert_eq!(state(&r), State::HalfOpen);
    call(&r, Outcome::Bad);
    assert_eq!((state(&r), snapshot(&r).totals.observed), (State::HalfOpen, 11), "it has no permit");
    probe.end(Outcome::Good);
    let told: Vec<_> = world.changes().iter().map(|c| (c.from, c.to, c.from_mode, c.to_mode)).collect();
    let as_normal =
        [(State::Closed, State::Open), (State::Open, State::HalfOpen), (State::HalfOpen, State::Closed)];
    assert_eq!(told, as_normal.map(|(from, to)| (from, to, Mode::ObserveOnly, Mode::ObserveOnly)));
}

#[test]
fn an_observing_breaker_lets_the_next_one_decide() {
    let world =
        World::new(&json!([r0_with(&json!({"id": "a"})), r0_with(&json!({"id": "b", "timeWindow": 9}))]));
    let r = world.r();
    r.breakers()[0].set_mode(Mode::ObserveOnly);
    calls(&r, 4, Outcome::Bad);
    assert_eq!(r.enter().unwrap_err().rule().unwrap().id(), Some("b"));
    r.breakers()[1].set_mode(Mode::Disabled);
    call(&r, Outcome::Good);
    let totals = r.breakers().iter().map(Breaker::snapshot).map(|s| s.totals).collect::<Vec<_>>();
    assert_eq!((totals[0].observed, totals[1].good), (1, 1));
}

#[test]
fn any_mode_may_follow_any_from_every_state() {
    for from in MODES {
        for to in MODES {
            for state_before in [State::Closed, State::Open, State::HalfOpen] {
                let world = World::r0();
                let r = world.r();
                r.set_mode(from);
                if matches!(from, Mode::Normal | Mode::ObserveOnly) && state_before != State::Closed {
                    trip(&r);
                    world.at(2_000);
                    let _probe = (state_before == State::HalfOpen).then(|| r.enter_owned().unwrap());
                    follows(&world, from, to);
                } else {
                    follows(&world, from, to);
                }
            }
        }
    }
}

/// Sets the mode, and asserts that it has its whole effect.
fn follows(world: &World, from: Mode, to: Mode) {
    let r = world.r();
    world.changes();
    let before = snapshot(&r);
    assert!(breaker(&r).set_mode(to));
    let change = world.changes().pop().expect("it is announced, also where nothing differs");
    assert_eq!((change.from, change.to), (before.state, State::Closed));
    assert_eq!((change.from_mode, change.to_mode), (from, to));
    assert_eq!((change.snapshot, change.generation), (None, before.generation + 1));
    let after = snapshot(&r);
    assert_eq!((after.state, after.mode, after.generation), (State::Closed, to, before.generation + 1));
    assert_eq!((after.good, after.bad, after.run, after.retry_after), (0, 0, 0, None));
    assert_eq!(is_blocked(&r), to == Mode::ForcedOpen);
}

#[test]
fn a_reset_closes_and_clears_within_the_mode_and_is_announced() {
    for mode in MODES {
        let world = World::r0();
        let r = world.r();
        let early = r.enter_owned().unwrap();
        r.set_mode(mode);
        if mode != Mode::ForcedOpen {
            calls(&r, 4, Outcome::Bad);
        }
        let before = snapshot(&r);
        world.changes();
        r.reset();
        let change = world.changes().pop().unwrap();
        assert_eq!((change.from, change.to), (before.state, State::Closed));
        assert_eq!((change.from_mode, change.to_mode), (mode, mode));
        let after = snapshot(&r);
        assert_eq!((after.state, after.mode, after.bad), (State::Closed, mode, 0));
        assert_eq!(after.totals, before.totals, "totals are kept");
        early.end(Outcome::Bad).unwrap();
        assert_eq!((snapshot(&r).bad, snapshot(&r).totals.late), (0, before.totals.late + 1));
    }
}

#[test]
fn one_breaker_or_all_of_a_resources_can_be_set() {
    let world = World::new(&json!([r0_with(&json!({"id": 1})), r0_with(&json!({"id": 2, "timeWindow": 3}))]));
    let r = world.r();
    let modes = || r.breakers().iter().map(Breaker::mode).collect::<Vec<_>>();
    r.breakers()[1].set_mode(Mode::ForcedOpen);
    assert_eq!(modes(), [Mode::Normal, Mode::ForcedOpen]);
    assert_eq!(r.enter().unwrap_err().rule().unwrap().id(), Some("2"));
    r.set_mode(Mode::ObserveOnly);
    assert_eq!(modes(), [Mode::ObserveOnly, Mode::ObserveOnly]);
    r.breakers()[0].reset();
    r.reset();
    assert_eq!(modes(), [Mode::ObserveOnly, Mode::ObserveOnly]);
    let positions: Vec<_> = world.changes().iter().map(|change| change.position).collect();
    assert_eq!(positions, [1, 0, 1, 0, 0, 1]);
}

#[test]
fn a_mode_outlives_a_reload_that_keeps_the_breaker_and_no_other() {
    let with = |seconds: u64, interval: u64| {
        r0_with(&json!({"id": 1, "timeWindow": seconds, "statIntervalMs": interval}))
    };
    let world = World::new(&with(2, 1_000));
    let r = world.r();
    r.set_mode(Mode::ForcedOpen);
    world.load(&with(2, 1_000));
    world.load(&with(7, 1_000));
    assert_eq!((snapshot(&r).mode, breaker(&r).rule().retry_timeout()), (Mode::ForcedOpen, ms(7_000)));
    world.load(&with(7, 2_000));
    assert_eq!(snapshot(&r).mode, Mode::Normal);
}

#[test]
fn a_breaker_that_a_reload_has_removed_cannot_be_controlled() {
    let world = World::r0();
    let r = world.r();
    let old = breaker(&r);
    trip(&r);
    world.load(&r0_with(&json!({"timeWindow": 9})));
    world.changes();
    assert!(old.is_removed() && !old.set_mode(Mode::ForcedOpen) && !old.reset());
    assert_eq!((old.snapshot().totals.passed, old.last_trip()), (0, None));
    assert_eq!(world.changes(), []);
    assert_eq!((snapshot(&r).mode, breaker(&r).is_removed()), (Mode::Normal, false));
}

#[test]
fn backoff_begins_anew_after_manual_control() {
    let world = World::new(&r0_with(&json!({"backoffFactor": 10.0})));
    let r = world.r();
    trip(&r);
    world.at(2_000);
    call(&r, Outcome::Bad);
    assert_eq!(snapshot(&r).retry_after, Some(Duration::from_secs(20)));
    r.reset();
    trip(&r);
    assert_eq!(snapshot(&r).retry_after, Some(ms(2_000)));
    world.at(4_000);
    call(&r, Outcome::Bad);
    assert_eq!(snapshot(&r).retry_after, Some(Duration::from_secs(20)));
}
