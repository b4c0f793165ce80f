//! Registries with a limit: memory stays bounded, and no breaker that matters is forgotten.

mod support;

use std::sync::Arc;

use serde_json::{Value, json};
use support::{breaker, call, calls, is_blocked, ms, r0_with, snapshot, state, trip};
use tripcoil::{Mode, Outcome, Registry, Release, Resource, State, VirtualClock};

fn bounded(limit: usize, rule: &Value) -> (Registry, VirtualClock) {
    let clock = VirtualClock::new();
    let registry = Registry::builder().clock(clock.clone()).max_resources(limit).build();
    registry.load_defaults_json(rule.to_string()).unwrap();
    (registry, clock)
}

fn r0() -> Value {
    r0_with(&json!({"resource": "*"}))
}

fn resource(registry: &Registry, name: &str) -> Resource {
    registry.resource(name).unwrap()
}

/// Asks for many new names, and makes a call on each that counts nowhere.
fn ask_for_others(registry: &Registry, count: usize) {
    for i in 0..count {
        call(&resource(registry, &format!("other {i}")), Outcome::Ignored);
    }
}

#[test]
fn a_million_names_take_bounded_memory() {
    const LIMIT: usize = 100;
    let (registry, _clock) = bounded(LIMIT, &r0());
    let rule = registry.rules().remove(0);
    let kept: Vec<_> = (0..10).map(|i| resource(&registry, &format!("kept {i}"))).collect();
    kept.iter().for_each(trip);
    drop(kept);
    let per_resource = {
        let before = Arc::strong_count(&rule);
        drop(resource(&registry, "one more"));
        Arc::strong_count(&rule) - before
    };
    let mut most = 0;
    for i in 0..1_000_000 {
        call(&resource(&registry, &i.to_string()), Outcome::Ignored);
        if i % 1_000 == 0 {
            // Every resource in memory holds the rule.
            most = most.max(Arc::strong_count(&rule));
            assert!(registry.len() <= LIMIT);
        }
    }
    let resources = most / per_resource;
    assert!((LIMIT..10 * LIMIT).contains(&resources), "{resources} resources are in memory");
    assert_eq!(registry.unguarded_calls(), 0);
    assert!((0..10).all(|i| state(&resource(&registry, &format!("kept {i}"))) == State::Open));
}

#[test]
fn three_errors_then_ten_thousand_other_names_then_one_error_open() {
    let (registry, _clock) = bounded(8, &r0());
    calls(&resource(&registry, "A"), 3, Outcome::Bad);
    ask_for_others(&registry, 10_000);
    call(&resource(&registry, "A"), Outcome::Bad);
    assert_eq!(state(&resource(&registry, "A")), State::Open);
    assert_eq!(registry.len(), 8);
}

/// Asserts that what was done to A is not forgotten while others come and go.
fn is_kept(rule: &Value, use_it: impl Fn(&Resource, &VirtualClock)) {
    let (registry, clock) = bounded(2, rule);
    use_it(&resource(&registry, "A"), &clock);
    let before = snapshot(&resource(&registry, "A"));
    ask_for_others(&registry, 100);
    assert_eq!(snapshot(&resource(&registry, "A")), before);
}

#[test]
fn a_breaker_that_differs_from_a_new_one_keeps_its_place() {
    is_kept(&r0(), |a, _| trip(a));
    is_kept(&r0(), |a, clock| {
        trip(a);
        clock.set(ms(1_000_000));
    });
    is_kept(&r0_with(&json!({"resource": "*", "probeNum": 2})), |a, clock| {
        trip(a);
        clock.set(ms(2_000));
        call(a, Outcome::Good);
        assert_eq!(state(a), State::HalfOpen);
    });
    is_kept(&r0(), |a, _| call(a, Outcome::Good));
    is_kept(&r0(), |a, _| assert_eq!(a.set_mode(Mode::ForcedOpen), 1));
    is_kept(&r0(), |a, _| assert_eq!(a.set_mode(Mode::Disabled), 1));
    let run = json!({"resource": "*", "grade": 3, "count": 2, "timeWindow": 1});
    is_kept(&run, |a, clock| {
        call(a, Outcome::Bad);
        clock.set(ms(1_000_000));
    });
}

#[test]
fn a_breaker_whose_window_has_run_empty_gives_its_place() {
    let (registry, clock) = bounded(1, &r0());
    calls(&resource(&registry, "A"), 3, Outcome::Bad);
    assert!(resource(&registry, "B").is_unguarded());
    clock.set(ms(5_000));
    assert!(!resource(&registry, "B").is_unguarded());
    assert_eq!((registry.len(), registry.resources()[0].name()), (1, "B"));
    trip(&resource(&registry, "B"));
    let a = resource(&registry, "A");
    assert!(a.is_unguarded() && a.breakers().is_empty());
}

#[test]
fn a_resource_with_a_call_or_a_handle_out_keeps_its_place() {
    let (registry, _clock) = bounded(1, &r0());
    let call_out = resource(&registry, "A").enter_owned().unwrap();
    ask_for_others(&registry, 10);
    call_out.end(Outcome::Bad).unwrap();
    drop(call_out);
    assert_eq!(snapshot(&resource(&registry, "A")).bad, 1);
    let (registry, _clock) = bounded(1, &r0());
    let handle = resource(&registry, "A");
    let of_handle = breaker(&handle);
    drop(handle);
    ask_for_others(&registry, 10);
    trip(&resource(&registry, "A"));
    assert_eq!(of_handle.state(), State::Open, "it is the same breaker");
}

#[test]
fn calls_beyond_the_limit_are_admitted_unguarded_and_counted() {
    let (registry, _clock) = bounded(2, &r0());
    trip(&resource(&registry, "A"));
    trip(&resource(&registry, "B"));
    let beyond = resource(&registry, "C");
    assert!(beyond.is_unguarded() && !resource(&registry, "A").is_unguarded());
    calls(&beyond, 50, Outcome::Bad);
    assert_eq!(registry.unguarded_calls(), 50);
    drop(beyond.enter_owned().unwrap());
    beyond.reset();
    beyond.set_mode(Mode::ForcedOpen);
    assert!(!is_blocked(&beyond));
    assert_eq!((registry.unguarded_calls(), registry.len()), (52, 2));
    assert!(is_blocked(&resource(&registry, "A")) && is_blocked(&resource(&registry, "B")));
    assert_eq!(registry.unguarded_calls(), 52);
}

#[test]
fn an_evicted_name_that_returns_gets_the_rules_of_the_day() {
    let (registry, _clock) = bounded(1, &r0());
    drop(resource(&registry, "A"));
    drop(resource(&registry, "B"));
    let own = r0_with(&json!({"resource": "A", "timeWindow": 7}));
    registry.load_json(own.to_string()).unwrap();
    let a = resource(&registry, "A");
    trip(&a);
    assert_eq!(snapshot(&a).retry_after, Some(ms(7_000)));
}

#[test]
fn a_limit_of_nothing_is_a_limit_of_one() {
    let (registry, _clock) = bounded(0, &r0());
    trip(&resource(&registry, "A"));
    assert!(is_blocked(&resource(&registry, "A")));
}

#[test]
fn what_the_legacy_check_has_cut_is_not_forgotten() {
    let registry = Registry::builder().clock(VirtualClock::new()).max_resources(2).build();
    let rule = r#"{"resource": "A", "grade": 2, "count": 2, "timeWindow": 10}"#;
    registry.load_legacy(Release::V1_7, rule).unwrap();
    calls(&resource(&registry, "A"), 2, Outcome::Bad);
    assert!(is_blocked(&resource(&registry, "A")));
    ask_for_others(&registry, 100);
    assert!(is_blocked(&resource(&registry, "A")));
}
