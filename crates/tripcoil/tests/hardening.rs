//! Corners that were found by attack: the end of a thread, the last ns of a clock, captures that panic,
//! wrapped rejections, and reloads that change nothing.

mod support;

use std::cell::RefCell;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fmt, io, thread};

use serde_json::json;
use support::*;
use tripcoil::{Blocked, Mode, Outcome, OwnedEntry, State};

thread_local! {
    static KEPT: RefCell<Option<OwnedEntry>> = const { RefCell::new(None) };
}

/// Runs a test in a process of its own, since what goes wrong at the end of a thread aborts; says whether this
/// is that process.
fn in_child(test: &str) -> bool {
    const CHILD: &str = "TRIPCOIL_THREAD_LOCAL_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.args([test, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    false
}

/// Uses the library when its thread ends.
struct Farewell(World);

impl Drop for Farewell {
    fn drop(&mut self) {
        let World { registry, .. } = &self.0;
        for name in ["r", "known", "new"] {
            registry.resource(name).unwrap().enter().unwrap().end(Outcome::Bad);
        }
        self.0.load(&json!([]));
        assert_eq!(registry.resources().len(), 2);
    }
}

thread_local! {
    static LAST: RefCell<Option<Farewell>> = const { RefCell::new(None) };
}

#[test]
fn names_are_found_by_a_thread_local_when_its_thread_ends() {
    if !in_child("names_are_found_by_a_thread_local_when_its_thread_ends") {
        return;
    }
    let farewell = || {
        // Registered before what the library needs for it, so destroyed after that.
        LAST.with_borrow_mut(|last| *last = None);
        let world = World::r0();
        call(&world.r(), Outcome::Good);
        world.resource("known");
        LAST.with_borrow_mut(|last| *last = Some(Farewell(world)));
    };
    thread::spawn(farewell).join().unwrap();
}

#[test]
fn a_probe_in_a_thread_local_is_given_back_when_its_thread_ends() {
    if !in_child("a_probe_in_a_thread_local_is_given_back_when_its_thread_ends") {
        return;
    }
    let world = World::r0();
    let r = world.r();
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // Registered before the library's own thread-locals, so destroyed after them.
            KEPT.with_borrow_mut(|kept| *kept = None);
            trip(&r);
            world.at(2_000);
            KEPT.with_borrow_mut(|kept| *kept = Some(r.enter_owned().unwrap()));
        });
        // The scope alone does not wait for the thread's destructors.
        thread.join().unwrap();
    });
    assert_eq!(state(&r), State::Open);
    assert_eq!(snapshot(&r).totals.cancelled, 1);
    assert_eq!(world.moves().last(), Some(&(State::HalfOpen, State::Open)));
}

struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        if std::mem::take(&mut self.0) {
            panic!("what the observer has captured panics when it is dropped");
        }
    }
}

#[test]
fn an_observer_that_removes_itself_may_panic_when_it_is_dropped() {
    let world = World::r0();
    let (r, registry, bomb) = (world.r(), world.registry.clone(), Bomb(true));
    world.registry.observe("bomb", move |_| {
        let _captured = &bomb;
        registry.unobserve("bomb");
    });
    assert!(catch_unwind(AssertUnwindSafe(|| trip(&r))).is_ok(), "the guarded call is untouched");
    world.at(2_000);
    call(&r, Outcome::Good);
    let expected =
        [(State::Closed, State::Open), (State::Open, State::HalfOpen), (State::HalfOpen, State::Closed)];
    assert_eq!(world.moves(), expected, "and what comes later is told");
    assert_eq!(world.registry.observer_panics(), 1);
}

/// An error that shows nothing of its own, as derive macros make it.
#[derive(Debug)]
struct Transparent<E>(E);

impl<E: Error> fmt::Display for Transparent<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl<E: Error> Error for Transparent<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

#[test]
fn a_rejection_is_known_through_every_wrapper() {
    fn is_ignored<E: Error + 'static>(wrap: impl FnOnce(Blocked) -> E) -> bool {
        let world = World::r0();
        world.load(&json!([r0(), {"resource": "inner", "count": 1, "timeWindow": 1}]));
        let (r, inner) = (world.r(), world.resource("inner"));
        inner.set_mode(Mode::ForcedOpen);
        let _ = r.call(|| Err::<(), E>(wrap(inner.enter().map(drop).unwrap_err())));
        let totals = snapshot(&r).totals;
        (totals.bad, totals.ignored) == (0, 1)
    }
    assert!(is_ignored(|blocked| blocked));
    assert!(is_ignored(io::Error::other));
    assert!(is_ignored(Transparent));
    assert!(is_ignored(|blocked| Transparent(io::Error::other(blocked))));
    assert!(is_ignored(|blocked| Arc::new(io::Error::other(blocked))));
    assert!(is_ignored(|blocked| Box::new(io::Error::other(Transparent(blocked)))));
    assert!(!is_ignored(|blocked| io::Error::other(blocked.to_string())), "a text is no rejection");
}

/// Loads the same rule over and over while `calls` runs.
fn beside_reloads(world: &World, rule: &serde_json::Value, calls: impl FnOnce()) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                world.load(rule);
            }
        });
        calls();
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn observed_calls_are_counted_once_beside_reloads_that_change_nothing() {
    let rule = r0_with(&json!({"timeWindow": 1000}));
    let world = World::new(&rule);
    let r = world.r();
    breaker(&r).set_mode(Mode::ObserveOnly);
    trip(&r);
    beside_reloads(&world, &rule, || {
        (0..300_000).for_each(|_| r.enter().unwrap().end(Outcome::Good));
    });
    assert_eq!(snapshot(&r).totals.observed, 300_000);
}

#[test]
fn a_probe_beside_reloads_that_change_nothing_moves_the_state_once() {
    let rule = r0_with(&json!({"timeWindow": 1}));
    let world = World::new(&rule);
    let r = world.r();
    beside_reloads(&world, &rule, || {
        for round in 1..20_000u64 {
            world.at(10_000 * round);
            trip(&r);
            world.at(10_000 * round + 1_000);
            call(&r, Outcome::Good);
            assert_eq!(world.moves().len(), 3, "round {round}");
        }
    });
}

#[test]
fn the_last_ns_of_the_clock_is_as_good_as_any() {
    let last = Duration::from_nanos(u64::MAX);
    let world = World::r0();
    let r = world.r();
    world.clock.set(last);
    trip(&r);
    assert!(is_blocked(&r), "it is open for 2 s more");

    let world = World::r0();
    let r = world.r();
    world.clock.set(last - ms(2_000) - Duration::from_nanos(1));
    trip(&r);
    world.clock.set(last);
    let _probe = r.enter_owned().unwrap();
    assert!(is_blocked(&r), "the probe's lease has 2 s left");

    for buckets in [1, 1000] {
        let longer_than_the_clock = json!({"statIntervalMs": 20_000_000_000_000_u64,
                                           "statSlidingWindowBucketCount": buckets});
        let world = World::new(&r0_with(&longer_than_the_clock));
        let r = world.r();
        calls(&r, 3, Outcome::Bad);
        world.clock.set(last);
        assert_eq!(snapshot(&r).bad, 3, "{buckets} buckets");
        call(&r, Outcome::Bad);
        assert_eq!(state(&r), State::Open, "{buckets} buckets");
    }
}

#[test]
fn the_longest_duration_is_slow_for_the_highest_limit() {
    let highest = json!({"resource": "r", "grade": 0, "count": 9_007_199_254_740_991_u64,
                         "timeWindow": 1, "minRequestAmount": 1});
    let world = World::new(&highest);
    let r = world.r();
    r.enter().unwrap().end_with(Outcome::Good, Duration::MAX);
    assert_eq!(state(&r), State::Open);
}
