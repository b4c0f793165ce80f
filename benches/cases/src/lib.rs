//! The paths of a guarded call that are measured: the rules that lead to them, and a call as a user writes it.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::Duration;

use tripcoil::{Outcome, Registry, Resource, Rule, RuleBuilder};

/// A call between admission and end, as a function of a user's. Returns whether it was admitted.
///
/// Out of line, so that no harness mixes it with code of its own.
#[inline(never)]
pub fn entered(resource: &Resource, outcome: Outcome) -> bool {
    match resource.enter() {
        Ok(entry) => {
            entry.end(outcome);
            true
        }
        Err(blocked) => {
            drop(black_box(blocked));
            false
        }
    }
}

/// As [`entered`], by [`Resource::call`]. Returns whether the call was made.
#[inline(never)]
pub fn called(resource: &Resource) -> bool {
    resource.call(|| Ok::<_, std::io::Error>(black_box(7))).is_ok()
}

/// The resource of a name that is looked up each time.
///
/// # Panics
/// Where the name is none.
#[inline(never)]
pub fn entered_by_name(registry: &Registry, name: &str) -> bool {
    entered(&registry.resource(name).expect("a name"), Outcome::Good)
}

/// A resource of a registry of its own.
///
/// # Panics
/// Where a rule is of another resource than [`NAME`].
#[must_use]
pub fn guarded(rules: impl IntoIterator<Item = Rule>) -> Resource {
    let registry = Registry::new();
    registry.load_rules(rules).expect("rules");
    registry.resource(NAME).expect("a name")
}

/// As many calls in so long a window as the goals are about: 10 s, in so many buckets.
#[must_use]
pub fn error_rule(buckets: u32) -> Rule {
    finished(windowed(Rule::error_ratio(NAME), buckets).threshold(0.5))
}

/// Counts errors, and opens at more than there will be.
#[must_use]
pub fn patient_rule(buckets: u32) -> Rule {
    finished(windowed(Rule::error_count(NAME), buckets).threshold(1e15))
}

/// The same over an hour, so that a short run sees one bucket only.
#[must_use]
pub fn hourly_rule(buckets: u32) -> Rule {
    let rule = Rule::error_count(NAME).threshold(1e15).stat_interval(Duration::from_secs(3600));
    finished(rule.stat_sliding_window_bucket_count(buckets))
}

/// Measures response times.
#[must_use]
pub fn slow_rule() -> Rule {
    let limit = Duration::from_secs(1);
    finished(windowed(Rule::slow_ratio(NAME), 10).threshold(0.5).max_allowed_rt(limit))
}

/// A resource whose breaker is open for long.
///
/// # Panics
/// Where the breaker does not open.
#[must_use]
pub fn open() -> Resource {
    let resource = guarded([error_rule(10)]);
    (0..5).for_each(|_| assert!(entered(&resource, Outcome::Bad)));
    assert!(!entered(&resource, Outcome::Good));
    resource
}

/// A registry with so many names, each guarded by a breaker of its own, and the names in another order than
/// their breakers were made in, by a call. These lie side by side, so that not the names are fetched but what is found by them.
///
/// # Panics
/// Never: the rule is one.
#[must_use]
pub fn named(count: usize) -> (Registry, Vec<String>) {
    let registry = Registry::new();
    let rule = windowed(Rule::error_ratio("*"), 10).threshold(0.5);
    registry.load_defaults([finished(rule)]).expect("a rule");
    for i in 0..count {
        assert!(entered_by_name(&registry, &name(i)));
    }
    let mut order: Vec<usize> = (0..count).collect();
    fastrand::Rng::with_seed(7).shuffle(&mut order);
    (registry, order.into_iter().map(name).collect())
}

/// One of many names.
#[must_use]
pub fn name(i: usize) -> String {
    format!("GET /stock/{i}")
}

fn windowed(rule: RuleBuilder, buckets: u32) -> RuleBuilder {
    // The shortest multiple of the buckets that is not below 10 s.
    let interval = Duration::from_millis(u64::from(10_000_u32.div_ceil(buckets) * buckets));
    rule.stat_interval(interval).stat_sliding_window_bucket_count(buckets)
}

fn finished(rule: RuleBuilder) -> Rule {
    rule.retry_timeout(Duration::from_secs(24 * 3600)).build().expect("a rule")
}

/// The resource that all rules here are for, unless they are for all.
pub const NAME: &str = "stock";
