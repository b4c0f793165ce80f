//! What breakers take of memory, as JSON on one line: `memory idle | million | rejection | peers`.
//!
//! A program of its own, since counting allocations makes them slower, and so that what a process takes is
//! only what is asked about.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use allocation_counter::measure;
use serde_json::{Value, json};
use tripcoil::{Registry, Rule};
use tripcoil_cases::{entered_by_name, name, open};
use tripcoil_compare::peers::{Failsafe, Lifetime, Peer};

fn main() {
    let measured = match std::env::args().nth(1).as_deref() {
        Some("idle") => idle(),
        Some("million") => million(),
        Some("rejection") => rejection(),
        Some("peers") => peers(),
        _ => {
            eprintln!("usage: memory idle | million | rejection | peers");
            std::process::exit(2);
        }
    };
    println!("{measured}");
}

/// Bytes for a resource with a breaker of 10 buckets that has seen no call, and for one that has.
fn idle() -> Value {
    let registry = Registry::new();
    let rules = measure(|| load(&registry, MANY));
    let resources = measure(|| make(&registry, MANY));
    let called = measure(|| call(&registry, MANY));
    let names: u64 = (0..MANY).map(|i| name(i).len() as u64).sum();
    let each = |bytes: f64| bytes / MANY as f64;
    let uncalled = resources.bytes_current as f64 - names as f64;
    json!({
        "memory/tripcoil, idle breaker, beside name and rule": each(uncalled),
        "memory/tripcoil, once it has been called": each(uncalled + called.bytes_current as f64),
        "memory/tripcoil, the name and the rule": each(rules.bytes_current as f64 + names as f64),
    })
}

/// What the process takes for a million of them, and how long it takes to make them.
fn million() -> Value {
    let before = resident();
    let registry = Registry::new();
    let began = Instant::now();
    load(&registry, MILLION);
    let loaded = began.elapsed().as_secs_f64();
    make(&registry, MILLION);
    let took = began.elapsed().as_secs_f64();
    let mut measured = json!({ "million/loading their rules": loaded, "million/all": took });
    if let (Some(before), Some(now)) = (before, resident()) {
        measured["million bytes/resident"] = json!(now.saturating_sub(before));
    }
    call(&registry, MILLION);
    if let (Some(before), Some(now)) = (before, resident()) {
        measured["million bytes/all called"] = json!(now.saturating_sub(before));
    }
    drop(black_box(registry));
    measured
}

/// How often a rejection allocates: until it is formatted, and then.
fn rejection() -> Value {
    let resource = open();
    let rejected = measure(|| (0..1000).for_each(|_| assert!(resource.enter().is_err())));
    let formatted = measure(|| {
        let blocked = resource.enter().expect_err("it is open");
        drop(black_box(blocked.to_string()));
    });
    json!({
        "allocations/a thousand rejections": rejected.count_total,
        "allocations/one rejection, formatted": formatted.count_total,
    })
}

fn peers() -> Value {
    json!({
        "memory/recloser": bytes::<recloser::Recloser>(),
        "memory/failsafe": bytes::<Failsafe>(),
        "memory/breaker": bytes::<breaker::CircuitBreaker>(),
        "memory/circuitbreaker-rs": bytes::<Lifetime>(),
    })
}

/// Bytes for a breaker, on the heap and where it lies.
fn bytes<P: Peer>() -> f64 {
    let mut kept: Vec<P> = Vec::with_capacity(1000);
    let info = measure(|| kept.extend((0..1000).map(|_| P::closed())));
    info.bytes_current as f64 / 1000.0 + size_of::<P>() as f64
}

/// Loads a rule for each of so many names.
fn load(registry: &Registry, count: usize) {
    let rule = |i| {
        let rule = Rule::error_ratio(name(i)).threshold(0.5).stat_interval(Duration::from_secs(10));
        let rule = rule.stat_sliding_window_bucket_count(10).retry_timeout(Duration::from_secs(10));
        rule.build().expect("a rule")
    };
    registry.load_rules((0..count).map(rule)).expect("rules");
}

/// Asks for so many resources.
fn make(registry: &Registry, count: usize) {
    for i in 0..count {
        registry.resource(&name(i)).expect("a name");
    }
    assert_eq!(registry.len(), count);
}

/// Calls each of so many resources once.
fn call(registry: &Registry, count: usize) {
    for i in 0..count {
        assert!(entered_by_name(registry, &name(i)));
    }
}

/// Bytes of memory that the process has.
fn resident() -> Option<usize> {
    Some(memory_stats::memory_stats()?.physical_mem)
}

const MANY: usize = 100_000;
const MILLION: usize = 1_000_000;
