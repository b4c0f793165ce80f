//! What a guarded call costs beside what it cannot do without: a clock read and one addition.
//!
//! `cargo bench -p tripcoil`. The floors are measured in the same run; judge by the ratios.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tripcoil::{Clock, Mode, MonotonicClock, Outcome, Registry, Resource, Rule};

fn guarded(rule: Rule) -> Resource {
    let registry = Registry::new();
    registry.load_rules([rule]).expect("one rule");
    registry.resource("stock").expect("a name")
}

fn error_rule(buckets: u32) -> Rule {
    let rule = Rule::error_ratio("stock").threshold(0.5).stat_interval(Duration::from_secs(10));
    rule.stat_sliding_window_bucket_count(buckets)
        .min_request_amount(5)
        .retry_timeout(Duration::from_secs(10))
        .build()
        .expect("a rule")
}

fn slow_rule() -> Rule {
    let rule = Rule::slow_ratio("stock").threshold(0.5).max_allowed_rt(Duration::from_secs(1));
    rule.retry_timeout(Duration::from_secs(10)).build().expect("a rule")
}

fn floors(c: &mut Criterion) {
    let mut group = c.benchmark_group("floor");
    let counter = AtomicU64::new(0);
    group.bench_function("fetch_add", |b| b.iter(|| counter.fetch_add(1, Ordering::AcqRel)));
    group.bench_function("coarse clock", |b| b.iter(|| MonotonicClock.coarse()));
    group.bench_function("precise clock", |b| b.iter(|| MonotonicClock.now()));
    group.bench_function("coarse clock and fetch_add", |b| {
        b.iter(|| MonotonicClock.coarse().wrapping_add(counter.fetch_add(1, Ordering::AcqRel)));
    });
    group.finish();
}

/// A function of a user's, which the harness does not mix with its own code.
#[inline(never)]
fn entered(resource: &Resource, outcome: Outcome) {
    match resource.enter() {
        Ok(entry) => entry.end(outcome),
        Err(blocked) => drop(black_box(blocked)),
    }
}

fn closed(c: &mut Criterion) {
    let mut group = c.benchmark_group("closed");
    for buckets in [1, 10] {
        let resource = guarded(error_rule(buckets));
        group.bench_with_input(BenchmarkId::new("error rule", buckets), &resource, |b, resource| {
            b.iter(|| entered(black_box(resource), Outcome::Good));
        });
    }
    let resource = guarded(error_rule(10));
    group.bench_function("error rule, call", |b| {
        b.iter(|| resource.call(|| Ok::<_, std::io::Error>(black_box(7))).is_ok());
    });
    for buckets in [10, 60] {
        let count = Rule::error_count("stock").threshold(1e15).stat_interval(Duration::from_secs(60));
        let rule = count.stat_sliding_window_bucket_count(buckets).retry_timeout(Duration::from_secs(10));
        let resource = guarded(rule.build().expect("a rule"));
        group.bench_with_input(BenchmarkId::new("failing", buckets), &resource, |b, resource| {
            b.iter(|| entered(black_box(resource), Outcome::Bad));
        });
    }
    let resource = guarded(slow_rule());
    group.bench_function("slow rule", |b| b.iter(|| entered(black_box(&resource), Outcome::Good)));
    group.finish();
}

fn rejected(c: &mut Criterion) {
    let mut group = c.benchmark_group("rejected");
    let resource = guarded(error_rule(10));
    for _ in 0..5 {
        resource.enter().expect("closed").end(Outcome::Bad);
    }
    group.bench_function("open", |b| b.iter(|| black_box(&resource).enter().is_err()));
    resource.set_mode(Mode::ForcedOpen);
    group.bench_function("forced open", |b| b.iter(|| black_box(&resource).enter().is_err()));
    group.finish();
}

fn looked_up(c: &mut Criterion) {
    let mut group = c.benchmark_group("look-up");
    for count in [10, 10_000] {
        let registry = Registry::new();
        let names: Vec<String> = (0..count).map(|i| format!("GET /stock/{i}")).collect();
        for name in &names {
            registry.resource(name).expect("a name");
        }
        // In another order than they were made in, and side by side: the look-up is measured, and not
        // where the name comes from.
        let wanted: Vec<String> = (0..count).map(|i| names[i * 7919 % count].clone()).collect();
        let mut next = wanted.iter().cycle();
        group.bench_function(BenchmarkId::new("names", count), |b| {
            b.iter(|| next.next().map(|name| registry.resource(name).is_ok()));
        });
    }
    group.finish();
}

criterion_group!(benches, floors, closed, rejected, looked_up);
criterion_main!(benches);
