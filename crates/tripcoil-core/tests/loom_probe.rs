//! The probe round: its places are never given out twice, whoever ends, gives back or forfeits.
//!
//! Checked: never more probes are out or done well in a round than its number, also while the round's
//! beginning is not published yet; a place that is given back goes to one other call; the end of a round
//! is made once, by its last probe or by the admission that comes upon it; a round that outlived its
//! lease gives way to one other, whose lease is whole.
//!
//! Loom cannot see sequential consistency, load buffering, real time, or more threads and preemptions
//! than a model has: `loom_trip.rs` says more.
#![cfg(loom)]

mod loom_support;

use core::sync::atomic::{AtomicBool, Ordering};
use loom_support::*;
use tripcoil_core::time::millis;
use tripcoil_core::{Admission, Breaker, Rule, State};

fn probes(number: u32) -> Rule {
    Rule { probe_num: number, ..one_bad_trips() }
}

/// How many more calls pass at `now` before one is rejected.
fn places(breaker: Breaker<'_>, now: u64) -> usize {
    std::iter::from_fn(|| passed(admit(breaker, now))).take(9).count()
}

#[test]
fn two_calls_at_the_deadline_get_the_one_place() {
    explore(1, 3, |first| {
        let memory = Memory::open(&probes(1));
        let generation = memory.breaker().snapshot(0).generation;
        let (a, b) = both(first, &memory, |b| admit(b, DUE), |b| admit(b, DUE));
        assert_eq!(in_order(generation + 1, [change(a), change(b)]).len(), 1);
        assert_eq!([a, b].into_iter().filter_map(passed).count(), 1);
        assert_eq!(places(memory.breaker(), DUE), 0);
    });
}

#[test]
fn two_calls_at_the_deadline_get_both_places_and_a_third_none() {
    explore(1, 3, |first| {
        let memory = Memory::open(&probes(2));
        let generation = memory.breaker().snapshot(0).generation;
        let (a, b) = both(first, &memory, |b| admit(b, DUE), |b| admit(b, DUE));
        assert_eq!(in_order(generation + 1, [change(a), change(b)]).len(), 1);
        let (a, b) = (passed(a).unwrap(), passed(b).unwrap());
        assert_eq!((a.generation(), b.generation()), (generation + 1, generation + 1));
        assert_eq!(places(memory.breaker(), DUE), 0);
    });
}

#[test]
fn two_calls_get_the_one_place_that_is_left() {
    explore(1, 3, |first| {
        let (memory, p) = Memory::half_open(&probes(2), DUE);
        let (a, b) = both(first, &memory, |b| admit(b, DUE), |b| admit(b, DUE));
        let permits: Vec<_> = [a, b].into_iter().filter_map(passed).collect();
        assert!(permits.len() == 1 && permits[0].generation() == p.generation());
        assert_eq!(places(memory.breaker(), DUE), 0);
    });
}

#[test]
fn a_probe_that_ends_well_leaves_the_other_place_to_one_call() {
    explore(2, 3, |first| {
        let (memory, p) = Memory::half_open(&probes(2), DUE);
        let (end, admission) = both(first, &memory, move |b| b.complete(p, GOOD, DUE), |b| admit(b, DUE));
        let q = passed(admission).expect("a place was free all the time");
        assert_eq!((end.late, end.transition, q.generation()), (false, None, p.generation()));
        assert_eq!(places(memory.breaker(), DUE), 0);
        let closed = memory.breaker().complete(q, GOOD, DUE).transition;
        assert_eq!(closed.map(|change| change.to), Some(State::Closed));
    });
}

#[test]
fn two_last_probes_that_end_well_close_it_once() {
    explore(2, 3, |first| {
        let (memory, p) = Memory::half_open(&probes(2), DUE);
        let q = memory.permit(DUE);
        let (a, b) =
            both(first, &memory, move |b| b.complete(p, GOOD, DUE), move |b| b.complete(q, GOOD, DUE));
        assert!(!a.late && !b.late);
        let changes = in_order(p.generation() + 1, [a.transition, b.transition]);
        assert_eq!(changes.iter().map(|change| change.to).collect::<Vec<_>>(), [State::Closed]);
    });
}

/// The round ends with the give-back, or goes on where the admission came first: then the place that
/// was given back is free again.
#[test]
fn the_last_probe_is_given_back_while_another_is_admitted() {
    for number in [1, 2] {
        explore(2, 3, move |first| {
            let (memory, p) = Memory::half_open(&probes(number), DUE);
            let (back, admission) = both(first, &memory, move |b| b.cancel(p, DUE), |b| admit(b, DUE));
            let changes = in_order(p.generation() + 1, [back, change(admission)]);
            let opened = changes.iter().filter(|change| change.given_back).count();
            assert!(opened <= 1 && changes.iter().all(|c| !c.given_back || c.open_until == Some(DUE)));
            let breaker = memory.breaker();
            match passed(admission) {
                Some(q) if q.generation() == p.generation() => assert!(number == 2 && opened == 0),
                Some(_) => assert_eq!((changes.len(), breaker.state()), (2, State::HalfOpen)),
                None => assert_eq!((changes.len(), breaker.state()), (1, State::Open)),
            }
            let out = usize::from(passed(admission).is_some());
            assert_eq!(places(breaker, DUE), number as usize - out);
        });
    }
}

/// Whether an exploration came upon the case that it is for.
static SETTLED: AtomicBool = AtomicBool::new(false);

#[test]
fn a_round_that_has_passed_is_closed_once_by_its_last_probe_or_by_an_admission() {
    explore(2, 3, |first| {
        let (memory, p) = Memory::half_open(&probes(1), DUE);
        let (end, admission) = both(first, &memory, move |b| b.complete(p, GOOD, DUE), |b| admit(b, DUE));
        assert!(!end.late);
        let changes = in_order(p.generation() + 1, [end.transition, change(admission)]);
        assert_eq!(changes.iter().map(|change| change.to).collect::<Vec<_>>(), [State::Closed]);
        if let Admission::Settled(_) = admission {
            SETTLED.store(true, Ordering::Relaxed);
        }
    });
    assert!(SETTLED.load(Ordering::Relaxed), "no admission came between the last probe's two steps");
}

#[test]
fn two_calls_at_the_end_of_the_lease_begin_one_round_with_a_whole_lease() {
    let end = DUE + millis(1000);
    explore(1, 3, move |first| {
        let (memory, p) = Memory::half_open(&probes(1), DUE);
        let (a, b) = both(first, &memory, move |b| admit(b, end), move |b| admit(b, end));
        let changes = in_order(p.generation() + 1, [change(a), change(b)]);
        assert!(changes.len() == 1 && changes[0].is_forfeit());
        assert_eq!([a, b].into_iter().filter_map(passed).count(), 1);
        for admission in [a, b, admit(memory.breaker(), end)] {
            match admission {
                Admission::Rejected(no) => assert_eq!(no.retry_after(), millis(1000)),
                other => assert!(passed(other).is_some()),
            }
        }
    });
}

/// The first may have begun a round that it has not published when the breaker is reset. Its clock goes on, or
/// it would move the next round's lease.
#[test]
fn a_round_that_was_held_up_does_not_take_the_place_of_the_next() {
    explore(2, 2, |first| {
        let memory = Memory::open(&probes(1));
        let next = |b: Breaker<'_>| {
            let _ = b.reset(DUE);
            let _ = call(b, BAD, DUE);
            admitted(admit(b, 2 * DUE)).0
        };
        let (held_up, next) = both(first, &memory, |b| passed(b.admit(DUE, || 2 * DUE)), next);
        assert!(held_up.is_none_or(|permit| permit.generation() < next.generation()));
        assert_eq!(places(memory.breaker(), 2 * DUE), 0);
    });
}

/// A bad end decides, or is late; a good one may be overtaken by the new round after it was counted.
#[test]
fn a_probe_that_ends_as_its_lease_does_is_not_in_the_next_round() {
    let at = DUE + millis(1000);
    for ending in [GOOD, BAD] {
        explore(2, 3, move |first| {
            let (memory, p) = Memory::half_open(&probes(1), DUE);
            let (end, admission) =
                both(first, &memory, move |b| b.complete(p, ending, at), move |b| admit(b, at));
            let changes = in_order(p.generation() + 1, [end.transition, change(admission)]);
            assert_eq!(changes.len(), 1);
            if changes[0].is_forfeit() {
                assert!(end.late || ending == GOOD);
                assert_eq!((places(memory.breaker(), at), memory.breaker().state()), (0, State::HalfOpen));
            }
        });
    }
}
