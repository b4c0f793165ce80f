//! What observers may do, and what they cannot break.

mod support;

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;
use support::{World, call, calls, ms, r0, r0_with, snapshot, state, trip};
use tripcoil::{CallError, Change, Mode, Outcome, Registry, Resource, State};

/// Three errors, and a fourth by way of `call`: its error arrives as it is, whatever the observer does.
fn trips_untouched(r: &Resource) {
    calls(r, 3, Outcome::Bad);
    let result = r.call(|| Err::<(), _>(io::Error::other("out of stock")));
    let Err(CallError::Failed(error)) = result else { panic!("{result:?}") };
    assert_eq!(error.to_string(), "out of stock");
}

#[test]
fn what_an_observer_throws_never_reaches_the_call() {
    let world = World::r0();
    let r = world.r();
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    world.registry.observe("throws", |_| panic!("observer"));
    world.registry.observe("after", move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    trips_untouched(&r);
    world.at(2_000);
    assert_eq!(r.call(|| Ok::<_, io::Error>(7)).unwrap(), 7);
    assert_eq!((world.registry.observer_panics(), told.load(Ordering::Relaxed)), (3, 3));
    assert_eq!(world.moves().len(), 3);
}

#[test]
fn an_observer_whose_panic_has_a_value_that_panics_when_dropped_is_contained() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            if !thread::panicking() {
                panic!("the panic's value");
            }
        }
    }
    let world = World::r0();
    let r = world.r();
    world.registry.observe("throws", |_| std::panic::panic_any(Bomb));
    trips_untouched(&r);
    world.at(2_000);
    call(&r, Outcome::Good);
    assert_eq!(world.moves().len(), 3, "later changes are still told");
}

#[test]
fn an_observer_may_read_the_breaker_and_finds_the_change_made() {
    let world = World::r0();
    let r = world.r();
    let read = Arc::new(Mutex::new(Vec::new()));
    let (seen, resource) = (Arc::clone(&read), r.clone());
    world.registry.observe("reads", move |change| {
        let now = snapshot(&resource);
        assert_eq!(now.generation, change.generation);
        seen.lock().unwrap().push((change.to, now.state));
    });
    trips_untouched(&r);
    world.at(2_000);
    call(&r, Outcome::Good);
    assert_eq!(world.registry.observer_panics(), 0);
    let both = |state| (state, state);
    assert_eq!(*read.lock().unwrap(), [State::Open, State::HalfOpen, State::Closed].map(both));
}

#[test]
fn changes_made_inside_an_observer_are_told_after_the_one_it_is_told_of() {
    let world = World::new(&json!([r0(), r0_with(&json!({"resource": "other"}))]));
    let (r, other) = (world.r(), world.resource("other"));
    let log = Arc::new(Mutex::new(Vec::new()));
    for name in ["first", "second"] {
        let (log, r, other) = (Arc::clone(&log), r.clone(), other.clone());
        world.registry.observe(name, move |change: &Change| {
            if name == "first" && &*change.resource == "r" && change.to == State::Open {
                // Enters both resources, and makes both change.
                trip(&other);
                r.reset();
                call(&r, Outcome::Good);
            }
            log.lock().unwrap().push(format!("{name} {} {:?}", change.resource, change.to));
        });
    }
    trips_untouched(&r);
    let expected = ["r Open", "other Open", "r Closed"];
    let log = log.lock().unwrap();
    let firsts: Vec<_> = log.iter().filter_map(|line| line.strip_prefix("first ")).collect();
    assert_eq!(firsts.len(), 3);
    assert_eq!(firsts[0], expected[0]);
    assert_eq!(log[..2], ["first r Open", "second r Open"], "{log:?}");
    assert_eq!(state(&other), State::Open);
    assert_eq!(world.registry.observer_panics(), 0);
}

#[test]
fn an_observer_may_remove_itself_and_add_another() {
    let world = World::r0();
    let r = world.r();
    let told = Arc::new(Mutex::new(Vec::new()));
    let (registry, log) = (world.registry.clone(), Arc::clone(&told));
    world.registry.observe("once", move |change| {
        log.lock().unwrap().push(("once", change.to));
        assert!(registry.unobserve("once"));
        let log = Arc::clone(&log);
        registry.observe("next", move |change| log.lock().unwrap().push(("next", change.to)));
    });
    trips_untouched(&r);
    world.at(2_000);
    call(&r, Outcome::Good);
    let expected = [("once", State::Open), ("next", State::HalfOpen), ("next", State::Closed)];
    assert_eq!(*told.lock().unwrap(), expected);
    assert!(!world.registry.unobserve("once"));
}

#[test]
fn an_observer_may_reload_the_rules_and_change_the_mode() {
    let world = World::r0();
    let r = world.r();
    let (registry, resource) = (world.registry.clone(), r.clone());
    world.registry.observe("reloads", move |change| {
        if change.to == State::Open {
            registry.load_json(r0_with(&json!({"timeWindow": 7})).to_string()).unwrap();
            resource.set_mode(Mode::ForcedOpen);
        }
    });
    trips_untouched(&r);
    assert_eq!(world.registry.observer_panics(), 0);
    let now = r.enter().unwrap_err();
    assert_eq!((now.mode(), now.rule().unwrap().retry_timeout()), (Mode::ForcedOpen, ms(7_000)));
    let modes: Vec<_> = world.changes().iter().map(|change| (change.to, change.to_mode)).collect();
    assert_eq!(modes, [(State::Open, Mode::Normal), (State::Closed, Mode::ForcedOpen)]);
}

#[test]
fn an_observer_that_takes_its_time_delays_no_other_thread() {
    let world = World::new(&json!([r0(), r0_with(&json!({"resource": "other"}))]));
    let (r, other) = (world.r(), world.resource("other"));
    let (begun, has_begun) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let may_go_on = Mutex::new(may_go_on);
    world.registry.observe("slow", move |change| {
        if &*change.resource == "r" && change.to == State::Open {
            begun.send(()).unwrap();
            may_go_on.lock().unwrap().recv().unwrap();
        }
    });
    thread::scope(|scope| {
        let delayed = scope.spawn(|| calls(&r, 4, Outcome::Bad));
        has_begun.recv().unwrap();
        // Calls, changes of the same breaker and of another, reading, reloading: all go on meanwhile.
        assert_eq!(state(&r), State::Open);
        world.at(2_000);
        call(&r, Outcome::Good);
        trip(&other);
        world.load(&json!([r0(), r0_with(&json!({"resource": "other"}))]));
        assert_eq!((state(&r), state(&other)), (State::Closed, State::Open));
        assert!(!delayed.is_finished());
        go_on.send(()).unwrap();
    });
    let told: Vec<_> = world.changes().iter().map(|c| (c.resource.to_string(), c.to)).collect();
    let of_r: Vec<_> = told.iter().filter(|(name, _)| name == "r").map(|(_, to)| *to).collect();
    assert_eq!(of_r, [State::Open, State::HalfOpen, State::Closed]);
    assert!(told.contains(&("other".to_owned(), State::Open)));
}

#[test]
fn an_observer_of_the_same_name_replaces_the_one_before() {
    let world = World::r0();
    let told = Arc::new(Mutex::new(Vec::new()));
    for number in 1..=3 {
        let log = Arc::clone(&told);
        world.registry.observe("same", move |_| log.lock().unwrap().push(number));
    }
    trip(&world.r());
    assert_eq!(*told.lock().unwrap(), [3]);
    assert!(world.registry.unobserve("same"));
    world.r().reset();
    assert_eq!(*told.lock().unwrap(), [3]);
}

#[test]
fn a_hundred_thousand_registrations_leave_nothing_behind() {
    let registry = Registry::new();
    let captured = Arc::new(());
    for i in 0..100_000 {
        let kept = Arc::clone(&captured);
        let name = format!("observer {}", i % 3);
        registry.observe(&name, move |_| drop(Arc::clone(&kept)));
        if i % 2 == 0 {
            assert!(registry.unobserve(&name));
        }
        assert!(Arc::strong_count(&captured) <= 4, "after {i}");
    }
    for i in 0..3 {
        registry.unobserve(&format!("observer {i}"));
    }
    assert_eq!(Arc::strong_count(&captured), 1);
}

#[test]
fn a_thread_notices_its_own_change_while_another_one_tells() {
    thread_local! {
        static NOTICED: Cell<usize> = const { Cell::new(0) };
    }
    let world = World::r0();
    let r = world.r();
    world.registry.notice(|| NOTICED.set(NOTICED.get() + 1));
    let ((begun, begins), (ends, ended)) = (mpsc::channel(), mpsc::channel::<()>());
    let ended = Mutex::new(ended);
    world.registry.observe("slow", move |_| {
        begun.send(()).unwrap();
        // An error once nobody is waited for any more.
        let _ = ended.lock().unwrap().recv();
    });
    thread::scope(|scope| {
        scope.spawn(|| r.reset());
        begins.recv().unwrap();
        assert_eq!(NOTICED.get(), 0, "the other thread's change");
        r.set_mode(Mode::ForcedOpen);
        assert_eq!(NOTICED.get(), 1);
        r.set_mode(Mode::Normal);
        trip(&r);
        assert_eq!(NOTICED.get(), 3);
        drop(ends);
    });
}
