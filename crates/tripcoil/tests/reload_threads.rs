//! Rules that are replaced beside calls, and registries with a limit, under threads.

mod support;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use serde_json::json;
use support::{World, breaker, call, ms, r0_with, snapshot, state, trip};
use tripcoil::{Outcome, Registry, State, VirtualClock};

#[test]
fn totals_add_up_while_rules_are_reloaded_in_a_loop() {
    const CALLS: usize = 20_000;
    let kept = |seconds: u64| r0_with(&json!({"id": "kept", "timeWindow": seconds}));
    let other = json!({"resource": "r", "grade": 3, "count": 1000, "timeWindow": 1});
    let world = World::new(&kept(1));
    let (r, calling) = (world.r(), AtomicU64::new(8));
    let (passed, blocked) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..8 {
            let (world, r, calling, passed, blocked) = (&world, &r, &calling, &passed, &blocked);
            scope.spawn(move || {
                for i in 0..CALLS {
                    match r.enter() {
                        Ok(entry) => {
                            passed.fetch_add(1, Ordering::Relaxed);
                            let bad = (i / 50 + thread) % 3 != 0;
                            entry.end(if bad { Outcome::Bad } else { Outcome::Good });
                        }
                        Err(rejection) => {
                            assert_eq!(rejection.rule().unwrap().id(), Some("kept"));
                            blocked.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    if i % 10 == 0 {
                        world.clock.advance(ms(5));
                    }
                }
                calling.fetch_sub(1, Ordering::Release);
            });
        }
        let mut reload = 0_u64;
        while calling.load(Ordering::Acquire) > 0 {
            reload += 1;
            match reload % 3 {
                0 => world.load(&json!([kept(1), other])),
                1 => world.load(&json!([kept(2)])),
                _ => world.load(&json!([other, kept(1)])),
            }
        }
        assert!(reload > 3);
    });
    world.load(&json!([kept(1)]));
    let totals = snapshot(&r).totals;
    assert_eq!(totals.passed, passed.into_inner());
    assert_eq!(totals.blocked, blocked.into_inner());
    assert_eq!(totals.good + totals.bad + totals.late, totals.passed);
    let changes = world.changes();
    let of_kept: Vec<_> = changes.iter().filter(|change| change.rule.id() == Some("kept")).collect();
    assert!(of_kept.len() > 10, "only {} changes", of_kept.len());
    assert!(of_kept.windows(2).all(|pair| pair[0].to == pair[1].from));
    assert_eq!(of_kept.len(), changes.len());
}

#[test]
fn a_rule_that_comes_and_goes_is_never_seen_half_loaded() {
    let strict = json!({"resource": "r", "grade": 2, "count": 0, "timeWindow": 1, "minRequestAmount": 1});
    let lax = json!({"resource": "r", "grade": 3, "count": 1_000_000, "timeWindow": 9, "probeNum": 9});
    comes_and_goes(&strict, &lax);
}

#[test]
fn a_slow_rule_that_comes_and_goes_is_never_seen_half_loaded() {
    let slow = |rt: u64, wait: u64| {
        json!({"resource": "r", "grade": 0, "count": rt, "slowRatioThreshold": 0, "timeWindow": wait,
               "minRequestAmount": 1, "statIntervalMs": 1000 * wait})
    };
    comes_and_goes(&slow(0, 1), &slow(1_000_000, 9));
}

/// Loads two rules by turns, of which one opens at each call that is bad and slow, and the other at none.
fn comes_and_goes(strict: &serde_json::Value, lax: &serde_json::Value) {
    const RELOADS: usize = 10_000;
    let world = World::new(strict);
    let (r, done) = (world.r(), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    match r.enter() {
                        Ok(entry) => entry.end_with(Outcome::Bad, ms(1)),
                        Err(blocked) => assert!(blocked.retry_after().unwrap() <= ms(1_000)),
                    }
                }
            });
        }
        for reload in 0..RELOADS {
            world.load(if reload % 2 == 0 { lax } else { strict });
        }
        done.store(true, Ordering::Relaxed);
    });
    for trip in world.changes().iter().filter_map(|change| change.trip.as_ref()) {
        assert_eq!((trip.threshold, trip.open_until), (0.0, Some(trip.at + ms(1_000))), "{trip}");
    }
    assert_eq!(r.breakers().len(), 1);
    world.load(lax);
    call(&r, Outcome::Bad);
    assert_eq!(
        (snapshot(&r).totals.passed, state(&r)),
        (1, State::Closed),
        "a fresh breaker, in a used place"
    );
}

#[test]
fn a_decision_uses_the_old_numbers_or_the_new_and_never_a_mixture() {
    const EDITS: usize = 50_000;
    let numbers = |count: u64| {
        json!({"resource": "r", "id": 1, "grade": 2, "count": count, "minRequestAmount": count,
               "timeWindow": count, "inclusive": true})
    };
    let rules: Vec<_> = [3, 7].map(numbers).iter().map(ToString::to_string).collect();
    let world = World::new(&numbers(3));
    let (r, done) = (world.r(), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    match r.enter() {
                        Ok(entry) => entry.end(Outcome::Bad),
                        Err(_) => assert_eq!(r.reset(), 1),
                    }
                }
            });
        }
        for edit in 0..EDITS {
            world.registry.load_json(&rules[edit % 2]).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    let trips: Vec<_> = world.changes().into_iter().filter_map(|change| change.trip).collect();
    assert!(trips.len() > 100, "only {} trips", trips.len());
    for trip in &trips {
        let seconds = (trip.open_until.unwrap() - trip.at).as_secs_f64();
        assert!(trip.threshold == 3.0 || trip.threshold == 7.0);
        assert_eq!(trip.threshold, seconds, "{trip}");
    }
}

#[test]
fn a_registry_with_a_limit_keeps_it_and_every_open_breaker_under_threads() {
    const LIMIT: usize = 32;
    let clock = VirtualClock::new();
    let registry = Registry::builder().clock(clock).max_resources(LIMIT).build();
    let rule = r0_with(&json!({"resource": "*"}));
    registry.load_defaults_json(rule.to_string()).unwrap();
    let open: Vec<_> = (0..8).map(|i| format!("open {i}")).collect();
    for name in &open {
        trip(&registry.resource(name).unwrap());
    }
    thread::scope(|scope| {
        for thread in 0..8 {
            let (registry, open) = (&registry, &open);
            scope.spawn(move || {
                for i in 0..20_000 {
                    let name = format!("{} of {thread}", i % 200);
                    let resource = registry.resource(&name).unwrap();
                    resource.enter().unwrap().end(Outcome::Ignored);
                    assert!(registry.len() <= LIMIT);
                    let kept = registry.resource(&open[i % open.len()]).unwrap();
                    assert!(kept.enter().is_err() && !kept.is_unguarded());
                }
            });
        }
    });
    assert!(open.iter().all(|name| state(&registry.resource(name).unwrap()) == State::Open));
}

#[test]
fn a_resource_that_has_its_place_is_guarded_while_others_are_evicted() {
    let registry = Registry::builder().clock(VirtualClock::new()).max_resources(2).build();
    let rules = json!([
        {"resource": "*", "grade": 3, "count": 1, "timeWindow": 1},
        {"resource": "*", "grade": 3, "count": 2, "timeWindow": 1},
    ]);
    registry.load_defaults_json(rules.to_string()).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0_u64.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let _ = registry.resource(&i.to_string()).unwrap();
            }
        });
        for round in 0..200_000 {
            let kept = registry.resource("kept").unwrap();
            if kept.breakers().is_empty() {
                continue;
            }
            let before = breaker(&kept).snapshot().totals;
            call(&kept, Outcome::Good);
            let after = breaker(&kept).snapshot().totals;
            assert_eq!(after.passed, before.passed + 1, "round {round}: a call went unguarded");
        }
        done.store(true, Ordering::Relaxed);
    });
}
