//! What allocates nothing cannot fail for want of memory. Alone in its process: it counts allocations.

mod support;

use std::hint::black_box;

use allocation_counter::measure;
use serde_json::{Value, json};
use support::{World, ms, r0_with, ready, trip};
use tripcoil::{CallError, Mode, Outcome, Resource, by_result};

/// How often memory was asked for in a thousand rounds, once all that is made at first use is there.
fn allocations(round: impl Fn()) -> u64 {
    (0..200).for_each(|_| round());
    measure(|| (0..1_000).for_each(|_| round())).count_total
}

fn rules(count: u64) -> Value {
    // The window is what makes them differ.
    let rule = |n: u64| {
        r0_with(
            &json!({"statIntervalMs": 1000 * n, "grade": n % 2, "count": n % 2, "minRequestAmount": 1_000_000}),
        )
    };
    (1..=count).map(rule).collect()
}

const OUTCOMES: [Outcome; 4] = [Outcome::Good, Outcome::Bad, Outcome::Ignored, Outcome::Cancelled];

fn calls(world: &World, r: &Resource) {
    for outcome in OUTCOMES {
        r.enter().unwrap().end(outcome);
        r.enter().unwrap().end_with(outcome, ms(1));
        r.enter_owned().unwrap().end(outcome).unwrap();
    }
    drop(r.enter());
    r.call(|| Ok::<_, std::io::Error>(())).unwrap();
    let failed = r.classify(by_result).call(|| Err::<(), ()>(())).unwrap();
    assert!(failed.is_err());
    ready(r.call_async(async { Ok::<_, std::io::Error>(()) })).unwrap();
    // Buckets are recycled.
    world.clock.advance(ms(30));
}

#[test]
fn calls_under_up_to_two_rules_allocate_nothing() {
    for count in 0..=2 {
        let world = World::new(&rules(count));
        let r = world.r();
        assert_eq!(allocations(|| calls(&world, &r)), 0, "{count} rules");
    }
    let world = World::new(&rules(3));
    let r = world.r();
    assert!(
        allocations(|| calls(&world, &r)) > 0,
        "what is promised of two rules is seen to be missing of three"
    );
}

#[test]
fn blocked_calls_allocate_nothing() {
    for count in 1..=3 {
        let world = World::new(&rules(count));
        let r = world.r();
        let blocked = || {
            let by = r.enter().unwrap_err();
            black_box((by.rule().is_some(), by.state(), by.mode(), by.retry_after()));
            let result = r.call(|| Ok::<_, std::io::Error>(()));
            assert!(matches!(result, Err(CallError::Blocked(_))));
            assert_eq!(r.classify(by_result).call_or(|| Err(1), |_| Ok(2)), Ok(2));
        };
        r.set_mode(Mode::ForcedOpen);
        assert_eq!(allocations(blocked), 0, "forced open, {count} rules");
    }
    let world = World::r0();
    let r = world.r();
    trip(&r);
    assert_eq!(allocations(|| drop(r.enter().unwrap_err())), 0, "open");
    world.clock.advance(ms(2_000));
    let _probe = r.enter();
    assert_eq!(allocations(|| drop(r.enter().unwrap_err())), 0, "half-open");
}

#[test]
fn known_names_and_what_is_read_allocate_nothing() {
    let world = World::r0();
    let r = world.r();
    let known = || {
        black_box(world.registry.resource("r").unwrap());
        black_box((world.registry.now(), world.registry.len(), r.is_unguarded(), r.name().len()));
    };
    assert_eq!(allocations(known), 0);
    let breaker = support::breaker(&r);
    assert_eq!(allocations(|| _ = black_box(breaker.snapshot())), 0);
}

#[test]
fn a_rule_takes_little_until_its_resource_is_called() {
    const MANY: u64 = 10_000;
    let world = World::new(&json!([]));
    let rule = |i: u64| r0_with(&json!({"resource": i.to_string(), "statSlidingWindowBucketCount": 10}));
    world.load(&(0..MANY).map(rule).collect());
    let resource = |i: u64| world.registry.resource(&i.to_string()).unwrap();
    let made = measure(|| (0..MANY).for_each(|i| _ = black_box(resource(i))));
    assert!(made.bytes_current <= 256 * MANY as i64, "{} bytes each", made.bytes_current / MANY as i64);
    let first = resource(0);
    let call = || first.enter().unwrap().end(Outcome::Good);
    assert_eq!(measure(call).count_current, 1, "the breaker, in one piece");
    assert_eq!(measure(call).count_total, 0, "which is made once");
}
