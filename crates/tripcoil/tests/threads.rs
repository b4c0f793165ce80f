//! Many threads at once: one change, one event, and nothing lost.

mod support;

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;
use support::{Meeting, World, breaker, call, calls, ms, r0_with, snapshot, state, trip};
use tripcoil::{AlreadyEnded, Change, Clock, Mode, Outcome, Registry, State};

const THREADS: usize = 8;

/// Asserts that each breaker's changes follow from each other, and each was told once.
fn assert_true_order(changes: &[Change]) {
    let numbers: HashSet<_> = changes.iter().map(|change| change.sequence).collect();
    assert_eq!(numbers.len(), changes.len(), "a change was told twice");
    for pair in changes.windows(2) {
        assert!(pair[0].generation < pair[1].generation, "{pair:?}");
        assert_eq!((pair[0].to, pair[0].to_mode), (pair[1].from, pair[1].from_mode), "{pair:?}");
    }
}

#[test]
fn sixty_four_failures_at_once_are_one_trip_and_one_event() {
    const ROUNDS: usize = 1_000;
    let world = World::new(&r0_with(&json!({"minRequestAmount": 64})));
    let r = world.r();
    let (meeting, finished) = (Meeting::of(64), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                let meeting = meeting.join();
                for round in 0..ROUNDS {
                    let entry = r.enter_owned().unwrap();
                    meeting.wait();
                    entry.end(Outcome::Bad).unwrap();
                    if finished.fetch_add(1, Ordering::AcqRel) == 64 * round + 63 {
                        assert_eq!(state(&r), State::Open);
                        assert_eq!(world.moves(), [(State::Closed, State::Open)]);
                        r.reset();
                        assert_eq!(world.moves(), [(State::Open, State::Closed)]);
                    }
                    meeting.wait();
                }
            });
        }
    });
    assert_eq!(snapshot(&r).totals.passed as usize, 64 * ROUNDS);
}

#[test]
fn totals_add_up_exactly() {
    const CALLS: usize = 40_000;
    let world = World::new(&r0_with(&json!({"probeNum": 3, "timeWindow": 1})));
    let r = world.r();
    let outcomes = [Outcome::Good, Outcome::Bad, Outcome::Ignored, Outcome::Cancelled, Outcome::Bad];
    let (passed, blocked) = (AtomicU64::new(0), AtomicU64::new(0));
    let no_outcome = AtomicU64::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (world, r, outcomes) = (&world, &r, &outcomes);
            let (passed, blocked, no_outcome) = (&passed, &blocked, &no_outcome);
            scope.spawn(move || {
                for i in 0..CALLS {
                    if thread == 0 && i % 64 == 0 {
                        world.clock.advance(ms(100));
                    }
                    let Ok(entry) = r.enter() else {
                        blocked.fetch_add(1, Ordering::Relaxed);
                        continue;
                    };
                    let outcome = outcomes[(i / 7 + thread) % outcomes.len()];
                    passed.fetch_add(1, Ordering::Relaxed);
                    if matches!(outcome, Outcome::Ignored | Outcome::Cancelled) {
                        no_outcome.fetch_add(1, Ordering::Relaxed);
                    }
                    entry.end(outcome);
                }
            });
        }
    });
    let (totals, changes) = (snapshot(&r).totals, world.changes());
    assert_eq!(totals.passed, passed.into_inner());
    assert_eq!(totals.blocked, blocked.into_inner());
    assert_eq!(totals.ignored + totals.cancelled, no_outcome.into_inner());
    let ended = totals.good + totals.bad + totals.ignored + totals.cancelled + totals.late;
    assert_eq!(ended, totals.passed);
    assert!(changes.len() > 100, "only {} changes: the threads have not met", changes.len());
    assert_true_order(&changes);
    assert_eq!(changes.last().unwrap().to, state(&r));
}

#[test]
fn threads_that_make_the_first_call_together_find_one_breaker() {
    const ROUNDS: usize = 2_000;
    let worlds: Vec<World> = (0..ROUNDS).map(|_| World::r0()).collect();
    let meeting = Meeting::of(THREADS);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let meeting = meeting.join();
                for world in &worlds {
                    let r = world.r();
                    meeting.wait();
                    r.enter().unwrap().end(Outcome::Good);
                }
            });
        }
    });
    for world in &worlds {
        let found = snapshot(&world.r());
        assert_eq!((found.good, found.totals.passed), (THREADS as u64, THREADS as u64));
    }
}

#[test]
fn every_completion_lands_in_exactly_one_bucket() {
    const CALLS: usize = 50_000;
    // A window that holds everything, and never trips.
    let rule = r0_with(&json!({
        "count": 1.0, "minRequestAmount": 1_u64 << 50,
        "statIntervalMs": 100_000, "statSlidingWindowBucketCount": 1000,
    }));
    let world = World::new(&rule);
    let r = world.r();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (world, r) = (&world, &r);
            scope.spawn(move || {
                for i in 0..CALLS {
                    call(r, if i % 3 == 0 { Outcome::Bad } else { Outcome::Good });
                    if (i + thread) % 512 == 0 {
                        world.clock.advance(ms(100));
                    }
                }
            });
        }
    });
    let now = snapshot(&r);
    let bad = CALLS.div_ceil(3) * THREADS;
    assert!(world.clock.time() < ms(99_900), "all are in the window");
    assert_eq!((now.bad as usize, now.good as usize), (bad, CALLS * THREADS - bad));
    assert_eq!(now.totals.passed as usize, CALLS * THREADS);
}

#[test]
fn buckets_that_are_recycled_under_load_lose_no_call_and_revive_none() {
    const CALLS: usize = 50_000;
    let rule = json!({"count": 1.0, "statIntervalMs": 10, "minRequestAmount": 1_u64 << 50});
    let world = World::new(&r0_with(&rule));
    let r = world.r();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (world, r) = (&world, &r);
            scope.spawn(move || {
                for i in 0..CALLS {
                    call(r, if i % 3 == 0 { Outcome::Bad } else { Outcome::Good });
                    if (i + thread) % 16 == 0 {
                        world.clock.advance(ms(1));
                    }
                }
            });
        }
    });
    let bad = CALLS.div_ceil(3) * THREADS;
    let totals = snapshot(&r).totals;
    assert_eq!((totals.bad as usize, totals.good as usize), (bad, CALLS * THREADS - bad));
    world.clock.advance(ms(10));
    assert_eq!((snapshot(&r).bad, snapshot(&r).good), (0, 0));
}

#[test]
fn a_cleared_window_never_shows_what_was_counted_before() {
    const ROUNDS: usize = 20_000;
    let world = World::new(&r0_with(&json!({"minRequestAmount": 1_u64 << 50})));
    let r = world.r();
    let meeting = Meeting::of(4);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (world, r, meeting) = (&world, &r, &meeting);
            scope.spawn(move || {
                let meeting = meeting.join();
                for round in 0..ROUNDS {
                    let entry = r.enter().unwrap();
                    meeting.wait();
                    if thread == 0 {
                        r.reset();
                    }
                    entry.end(Outcome::Bad);
                    if meeting.wait() {
                        // Before the reset they were wiped, after it they were late.
                        assert_eq!((snapshot(r).bad, snapshot(r).good), (0, 0), "round {round}");
                        world.clock.advance(ms(37));
                    }
                    meeting.wait();
                }
            });
        }
    });
    let totals = snapshot(&r).totals;
    assert_eq!(totals.passed as usize, 4 * ROUNDS);
    assert!(totals.late as usize >= ROUNDS && totals.bad + totals.late == totals.passed);
}

#[test]
fn a_call_that_threads_end_at_once_ends_once() {
    const ROUNDS: usize = 5_000;
    let world = World::new(&r0_with(&json!({"minRequestAmount": 1_u64 << 50})));
    let r = world.r();
    let entries: Vec<_> = (0..ROUNDS).map(|_| r.enter_owned().unwrap()).collect();
    let (meeting, refused) = (Meeting::of(4), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                meeting.join().wait();
                for entry in &entries {
                    if entry.end(Outcome::Bad) == Err(AlreadyEnded) {
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    drop(entries);
    assert_eq!(refused.into_inner(), 3 * ROUNDS);
    assert_eq!((snapshot(&r).bad as usize, snapshot(&r).totals.passed as usize), (ROUNDS, ROUNDS));
}

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// A clock that each thread sets for itself.
struct OwnTime;

impl Clock for OwnTime {
    fn now(&self) -> u64 {
        NOW.get()
    }
}

#[test]
fn of_two_probes_that_fail_at_once_one_decides_and_the_deadline_is_its() {
    const ROUNDS: u64 = 10_000;
    let registry = Registry::builder().clock(OwnTime).build();
    registry.load_json(r0_with(&json!({"probeNum": 2})).to_string()).unwrap();
    let trips = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&trips);
    registry.observe("count", move |change| {
        count.fetch_add(u64::from(change.to == State::Open), Ordering::Relaxed);
    });
    let r = registry.resource("r").unwrap();
    NOW.set(0);
    trip(&r);
    let meeting = Meeting::of(2);
    thread::scope(|scope| {
        for thread in 0..2 {
            let (r, meeting, trips) = (&r, &meeting, &trips);
            scope.spawn(move || {
                let meeting = meeting.join();
                for round in 1..=ROUNDS {
                    let start = round * 10_000_000_000;
                    NOW.set(start);
                    let probe = r.enter().expect("two may probe");
                    meeting.wait();
                    NOW.set(start + 1_000_000 * (thread + 1));
                    probe.end(Outcome::Bad);
                    if meeting.wait() {
                        NOW.set(start);
                        let told = breaker(r).last_trip().unwrap();
                        assert!(told.at == ms(round * 10_000 + 1) || told.at == ms(round * 10_000 + 2));
                        assert_eq!(told.open_until, Some(told.at + ms(2_000)));
                        NOW.set(told.at.as_nanos() as u64);
                        assert_eq!(snapshot(r).retry_after, Some(ms(2_000)), "round {round}");
                        assert_eq!(trips.load(Ordering::Relaxed), 1 + round);
                    }
                    meeting.wait();
                }
            });
        }
    });
    assert_eq!(snapshot(&r).totals.late, ROUNDS);
}

#[test]
fn manual_control_beside_calls_is_told_once_and_in_true_order() {
    const CHANGES: usize = 10_000;
    let world = World::new(&r0_with(&json!({"timeWindow": 1})));
    let r = world.r();
    let modes = [Mode::Normal, Mode::ObserveOnly, Mode::Normal, Mode::ForcedOpen, Mode::Disabled];
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for i in 0..CHANGES {
                    breaker(&r).set_mode(modes[i % modes.len()]);
                    let _ = r.enter().map(|entry| entry.end(Outcome::Bad));
                    world.clock.advance(Duration::from_micros(900));
                }
            });
        }
    });
    r.set_mode(Mode::Normal);
    let changes = world.changes();
    assert_true_order(&changes);
    // No call ends well, so whatever closes is a mode that was set.
    let set = changes.iter().filter(|change| change.to == State::Closed).count();
    assert_eq!(set, 4 * CHANGES + 1);
    calls(&r, 4, Outcome::Bad);
    assert_eq!(world.moves(), [(State::Closed, State::Open)]);
}
