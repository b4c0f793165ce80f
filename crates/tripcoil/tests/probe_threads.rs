//! Threads that meet at a breaker that is due: never too many probes, nobody before the deadline.

mod support;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use serde_json::json;
use support::{Meeting, World, call, ms, r0_with, snapshot, state, trip};
use tripcoil::{Outcome, State};

const ROUNDS: usize = 10_000;

/// 64 threads ask at 2000, round after round: asserts that `probes` are admitted, among them the one
/// that has moved the state.
fn meet(probes: usize) {
    let world = World::new(&r0_with(&json!({"probeNum": probes})));
    let r = world.r();
    trip(&r);
    let mover: Arc<Mutex<Option<ThreadId>>> = Arc::default();
    let moved = Arc::clone(&mover);
    world.registry.observe("mover", move |change| {
        if change.to == State::HalfOpen {
            *moved.lock().unwrap() = Some(thread::current().id());
        }
    });
    let admitted = Mutex::new(Vec::new());
    let (meeting, asked) = (Meeting::of(64), AtomicUsize::new(0));
    world.at(2_000);
    thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                let meeting = meeting.join();
                for round in 0..ROUNDS {
                    meeting.wait();
                    if let Ok(entry) = r.enter_owned() {
                        admitted.lock().unwrap().push((thread::current().id(), entry));
                    }
                    // The last to ask judges the round, and makes the next one due.
                    if asked.fetch_add(1, Ordering::AcqRel) == 64 * round + 63 {
                        let entries = std::mem::take(&mut *admitted.lock().unwrap());
                        assert_eq!(entries.len(), probes, "round {round}");
                        let mover = mover.lock().unwrap().take().expect("one has moved the state");
                        assert!(entries.iter().any(|(thread, _)| *thread == mover), "round {round}");
                        entries.iter().for_each(|(_, entry)| entry.end(Outcome::Bad).unwrap());
                        world.clock.advance(ms(2_000));
                    }
                }
            });
        }
    });
    assert_eq!(world.changes().len(), 1 + 2 * ROUNDS);
}

#[test]
fn of_sixty_four_threads_one_is_the_probe_and_moves_the_state() {
    meet(1);
}

#[test]
fn of_sixty_four_threads_three_are_the_probes_and_one_of_them_moves_the_state() {
    meet(3);
}

#[test]
fn nobody_is_admitted_before_the_deadline_in_a_million_rounds() {
    const ROUNDS: u64 = 1_000_000;
    let world = World::r0();
    world.registry.unobserve("test");
    let r = world.r();
    trip(&r);
    world.at(2_000);
    let (meeting, admissions) = (Meeting::of(8), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let meeting = meeting.join();
                while admissions.load(Ordering::Acquire) < ROUNDS && !meeting.is_broken() {
                    let Ok(probe) = r.enter() else { continue };
                    // Only the round's one probe moves the clock, and only after it has failed: a
                    // second admission before that is one before the deadline.
                    let round = admissions.fetch_add(1, Ordering::AcqRel) + 1;
                    assert_eq!(
                        world.clock.time(),
                        ms(2_000 * round),
                        "admitted before the deadline, round {round}"
                    );
                    probe.end(Outcome::Bad);
                    let early = (0..2).filter(|_| r.enter().is_ok()).count();
                    assert_eq!(early, 0, "round {round}");
                    world.clock.advance(ms(2_000));
                }
            });
        }
    });
    assert!(admissions.load(Ordering::Acquire) >= ROUNDS);
}

#[test]
fn probes_that_are_given_up_at_once_leave_room_for_exactly_the_rounds_number() {
    const ROUNDS: usize = 200_000;
    for probes in [1, 3] {
        let world = World::new(&r0_with(&json!({"probeNum": probes, "probeTimeoutMs": 0})));
        world.registry.unobserve("test");
        let r = world.r();
        trip(&r);
        world.at(2_000);
        let (out, left) = (AtomicUsize::new(0), AtomicUsize::new(ROUNDS));
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    while left.load(Ordering::Relaxed) > 0 {
                        let Ok(probe) = r.enter() else { continue };
                        let others = out.fetch_add(1, Ordering::AcqRel);
                        assert!(others < probes, "{} of {probes} probes are out", others + 1);
                        out.fetch_sub(1, Ordering::AcqRel);
                        probe.end(Outcome::Cancelled);
                        let _ = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
                    }
                });
            }
        });
        assert!(matches!(state(&r), State::Open | State::HalfOpen));
        (0..probes).for_each(|_| call(&r, Outcome::Good));
        assert_eq!(state(&r), State::Closed);
    }
}

#[test]
fn never_more_probes_end_well_than_the_rounds_number() {
    const ROUNDS: usize = 5_000;
    let world = World::new(&r0_with(&json!({"probeNum": 3})));
    let r = world.r();
    trip(&r);
    world.changes();
    let admitted = AtomicUsize::new(0);
    let (meeting, asked) = (Meeting::of(8), AtomicUsize::new(0));
    world.at(2_000);
    thread::scope(|scope| {
        for thread in 0..8 {
            let (world, r, meeting, asked, admitted) = (&world, &r, &meeting, &asked, &admitted);
            scope.spawn(move || {
                let meeting = meeting.join();
                for round in 0..ROUNDS {
                    meeting.wait();
                    for attempt in 0..4 {
                        // Once it has closed, everybody is admitted: stop before.
                        if admitted.load(Ordering::Acquire) >= 3 {
                            break;
                        }
                        let Ok(probe) = r.enter() else { continue };
                        let well = (thread + attempt + round) % 2 == 0;
                        if well && snapshot(r).state == State::HalfOpen {
                            admitted.fetch_add(1, Ordering::AcqRel);
                            probe.end(Outcome::Good);
                        } else {
                            probe.end(Outcome::Cancelled);
                        }
                    }
                    if asked.fetch_add(1, Ordering::AcqRel) == 8 * round + 7 {
                        finish(world, round, admitted.swap(0, Ordering::AcqRel));
                    }
                }
            });
        }
    });
}

/// Ends the round with good probes, and asserts that it took three in all.
fn finish(world: &World, round: usize, good: usize) {
    let r = world.r();
    let before = snapshot(&r).totals.good;
    while state(&r) != State::Closed {
        call(&r, Outcome::Good);
    }
    let needed = snapshot(&r).totals.good - before;
    assert!(good as u64 + needed >= 3, "round {round}: closed after {good} and {needed}");
    assert!(needed == 0 || good as u64 + needed == 3, "round {round}: closed after {good} and {needed}");
    trip(&r);
    world.clock.advance(ms(2_000));
}
