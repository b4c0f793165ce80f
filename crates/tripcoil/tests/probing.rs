//! Half-open breakers: who may probe, and what decides.

mod support;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::json;
use support::{
    World, breaker, call, is_blocked, ms, poll_once, r0, r0_with, ready, snapshot, state, states, trip,
};
use tripcoil::{AlreadyEnded, CallError, Outcome, Resource, State};

const ROUNDS: usize = 1000;

/// Ends the probe a thousand times in a row, each without an outcome; then the breaker still works.
fn gives_its_place_back(give_up: impl Fn(&Resource)) {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    world.at(2_500);
    for _ in 0..ROUNDS {
        give_up(&r);
        let after = snapshot(&r);
        assert_eq!((after.state, after.retry_after), (State::Open, Some(Duration::ZERO)));
    }
    assert_eq!(snapshot(&r).totals.passed as usize, 4 + ROUNDS);
    call(&r, Outcome::Good);
    assert_eq!(state(&r), State::Closed);
}

#[test]
fn a_probe_that_is_dropped_gives_its_place_back() {
    gives_its_place_back(|r| drop(r.enter().unwrap()));
    gives_its_place_back(|r| drop(r.enter_owned().unwrap()));
}

#[test]
fn a_probe_that_is_cancelled_or_ignored_gives_its_place_back() {
    gives_its_place_back(|r| call(r, Outcome::Cancelled));
    gives_its_place_back(|r| call(r, Outcome::Ignored));
}

#[test]
fn a_probe_whose_future_is_dropped_gives_its_place_back() {
    gives_its_place_back(|r| {
        let never = std::future::pending::<Result<(), io::Error>>();
        assert!(poll_once(r.call_async(never)).is_pending());
    });
}

#[test]
fn a_probe_that_an_early_return_leaves_gives_its_place_back() {
    fn early(r: &Resource) -> Result<u32, Box<dyn std::error::Error>> {
        let _entry = r.enter()?;
        let number = "seven".parse()?;
        Ok(number)
    }
    gives_its_place_back(|r| assert!(early(r).is_err()));
}

#[test]
fn a_probe_that_panics_has_failed_a_thousand_times_in_a_row() {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    for round in 1..=ROUNDS {
        world.at(2_000 * round as u64);
        let panicked = catch_unwind(AssertUnwindSafe(|| r.call(|| -> Result<(), io::Error> { panic!() })));
        assert!(panicked.is_err());
        assert_eq!((state(&r), snapshot(&r).retry_after), (State::Open, Some(ms(2_000))));
    }
    world.at(2_000 * (ROUNDS as u64 + 1));
    call(&r, Outcome::Good);
    assert_eq!(state(&r), State::Closed);
}

#[test]
fn a_round_with_other_probes_goes_on_without_the_one_that_is_given_up() {
    let world = World::new(&r0_with(&json!({"probeNum": 2})));
    let r = world.r();
    trip(&r);
    world.at(2_000);
    let (first, second) = (r.enter().unwrap(), r.enter().unwrap());
    assert!(is_blocked(&r));
    first.end(Outcome::Cancelled);
    assert_eq!(state(&r), State::HalfOpen);
    let third = r.enter().expect("the place is free at once");
    assert!(is_blocked(&r));
    second.end(Outcome::Good);
    third.end(Outcome::Ignored);
    assert_eq!(state(&r), State::HalfOpen, "a probe of the round has ended well");
    call(&r, Outcome::Good);
    assert_eq!(state(&r), State::Closed);
}

#[test]
fn a_probe_that_hangs_is_replaced_after_its_lease_and_then_ignored() {
    for late in [Outcome::Good, Outcome::Bad, Outcome::Ignored, Outcome::Cancelled] {
        let world = World::r0();
        let r = world.r();
        trip(&r);
        world.at(2_000);
        let hanging = r.enter().unwrap();
        let generation = snapshot(&r).generation;
        world.changes();
        world.at(3_999);
        assert_eq!(r.enter().unwrap_err().retry_after(), Some(ms(1)));
        world.at(4_000);
        let second = r.enter().expect("the lease has ended");
        assert_eq!((state(&r), snapshot(&r).generation), (State::HalfOpen, generation + 1));
        assert!(is_blocked(&r));
        hanging.end(late);
        assert_eq!(state(&r), State::HalfOpen, "{late:?}");
        assert!(is_blocked(&r), "the late probe has no place to give back");
        assert_eq!(world.moves(), [], "a forfeited round is no event");
        second.end(Outcome::Good);
        assert_eq!(world.moves(), [(State::HalfOpen, State::Closed)]);
    }
}

#[test]
fn a_late_success_closes_nothing() {
    let world = World::r0();
    let r = world.r();
    let early: Vec<_> = (0..3).map(|_| r.enter_owned().unwrap()).collect();
    trip(&r);
    world.changes();
    early[0].end(Outcome::Good).unwrap();
    assert_eq!((state(&r), snapshot(&r).retry_after), (State::Open, Some(ms(2_000))), "open");
    world.at(2_000);
    early[1].end(Outcome::Good).unwrap();
    assert_eq!((state(&r), snapshot(&r).retry_after), (State::Open, Some(ms(0))), "due");
    let probe = r.enter().unwrap();
    early[2].end(Outcome::Good).unwrap();
    assert_eq!(state(&r), State::HalfOpen);
    assert!(is_blocked(&r), "the probe's place is still its own");
    assert_eq!(world.moves(), [(State::Open, State::HalfOpen)]);
    assert_eq!(snapshot(&r).totals.late, 3);
    probe.end(Outcome::Bad);
    assert_eq!(state(&r), State::Open);
}

#[test]
fn a_late_failure_moves_no_deadline_and_makes_no_event() {
    let world = World::r0();
    let r = world.r();
    let early: Vec<_> = (0..4).map(|_| r.enter_owned().unwrap()).collect();
    trip(&r);
    world.changes();
    world.at(1_500);
    early[0].end(Outcome::Bad).unwrap();
    assert_eq!(snapshot(&r).retry_after, Some(ms(500)));
    world.at(2_700);
    early[1].end(Outcome::Bad).unwrap();
    assert_eq!(snapshot(&r).retry_after, Some(ms(0)));
    assert_eq!(world.moves(), []);
    let probe = r.enter().unwrap();
    early[2].end(Outcome::Bad).unwrap();
    assert_eq!(state(&r), State::HalfOpen);
    probe.end(Outcome::Good);
    early[3].end(Outcome::Bad).unwrap();
    assert_eq!(world.moves(), [(State::Open, State::HalfOpen), (State::HalfOpen, State::Closed)]);
    let closed = snapshot(&r);
    assert_eq!((closed.bad, closed.totals.late), (0, 4), "nor does it count in the new window");
}

#[test]
fn a_call_ends_once() {
    let world = World::r0();
    let r = world.r();
    let entry = r.enter_owned().unwrap();
    assert!(!entry.has_ended());
    assert_eq!(entry.end(Outcome::Bad), Ok(()));
    assert!(entry.has_ended());
    assert_eq!(entry.end(Outcome::Bad), Err(AlreadyEnded));
    assert_eq!(entry.end_with(Outcome::Good, ms(1)), Err(AlreadyEnded));
    entry.mark_bad();
    drop(entry);
    let after = snapshot(&r);
    assert_eq!((after.good, after.bad, after.totals.passed, after.totals.cancelled), (0, 1, 1, 0));
}

#[test]
fn two_rules_give_one_answer_in_either_order_and_twice_over() {
    let run = json!({"resource": "r", "grade": 3, "count": 4, "timeWindow": 5});
    for rules in [json!([r0(), run]), json!([run, r0()]), json!([r0(), run, r0(), run, r0()])] {
        let world = World::new(&rules);
        let r = world.r();
        assert_eq!(r.breakers().len(), 2);
        trip(&r);
        assert_eq!(states(&r), [State::Open, State::Open]);
        let counted = |at| {
            world.at(at);
            let blocked =
                |r: &Resource| r.breakers().iter().map(|b| b.snapshot().totals.blocked).sum::<u64>();
            let before = blocked(&r);
            assert!(is_blocked(&r));
            blocked(&r) - before
        };
        assert_eq!(counted(1_000), 1, "one rejection, whoever makes it");
        assert_eq!(counted(3_000), 1, "R0 is due, the other is not");
        world.at(5_000);
        call(&r, Outcome::Good);
        assert_eq!(states(&r), [State::Closed, State::Closed]);
    }
}

#[test]
fn a_blocked_call_leaves_no_trace_on_the_breakers_before_and_after() {
    let slow_to_retry = |id| r0_with(&json!({"id": id, "timeWindow": 9, "count": 0.6}));
    for rules in [json!([r0(), slow_to_retry("b")]), json!([slow_to_retry("b"), r0()])] {
        let world = World::new(&rules);
        let r = world.r();
        trip(&r);
        assert_eq!(states(&r), [State::Open, State::Open]);
        world.at(2_000);
        world.changes();
        let due = r.breakers().into_iter().find(|b| b.rule().id().is_none()).unwrap();
        let before = due.snapshot();
        assert_eq!(before.retry_after, Some(Duration::ZERO));
        let blocked = r.enter().unwrap_err();
        assert_eq!(blocked.rule().unwrap().id(), Some("b"), "the one that rejects is named");
        assert_eq!(blocked.retry_after(), Some(ms(7_000)));
        assert_eq!(due.snapshot(), before);
        assert_eq!(world.moves(), []);
    }
}

#[test]
fn the_first_that_rejects_is_named_and_those_after_it_are_not_asked() {
    let world = World::new(&json!([r0_with(&json!({"id": 1})), r0_with(&json!({"id": 2, "timeWindow": 3}))]));
    let r = world.r();
    trip(&r);
    assert_eq!(r.enter().unwrap_err().rule().unwrap().id(), Some("1"));
    let blocked: Vec<_> = r.breakers().iter().map(|b| b.snapshot().totals.blocked).collect();
    assert_eq!(blocked, [1, 0]);
}

#[test]
fn a_blocked_call_is_not_made() {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    let result = r.call(|| -> Result<(), io::Error> { panic!("the call was made") });
    let Err(CallError::Blocked(blocked)) = result else { panic!("{result:?}") };
    assert_eq!((blocked.resource(), blocked.state()), ("r", State::Open));
    assert_eq!(blocked.rule().as_deref(), Some(&**breaker(&r).rule()));
    let never = async { panic!("the future was polled") };
    assert!(ready(r.call_async::<(), io::Error, _>(never)).unwrap_err().blocked().is_some());
}
