//! The rule: a decision uses the old numbers or the new ones, never a mixture.
//!
//! Checked: whoever reads a rule while it is edited twice gets one of the three; a trip, a reopening and
//! the beginning of a round take all their numbers from one rule; and whoever holds a permit of a
//! breaker that has just been assigned finds its rule.
//!
//! Loom cannot see sequential consistency, load buffering, real time, or more threads and preemptions
//! than a model has: `loom_trip.rs` says more.
#![cfg(loom)]

mod loom_support;

use loom_support::*;
use tripcoil_core::time::millis;
use tripcoil_core::{Breaker, Condition, Ending, Rule};

/// The `n`-th rule: all its numbers tell it from the others.
fn rule(n: u32) -> Rule {
    let ms = u64::from(n) * 1000;
    Rule {
        min_request_amount: 1,
        probe_num: n,
        probe_timeout_ms: ms,
        backoff_factor: f64::from(n),
        ..Rule::new(Condition::ErrorCount(f64::from(n) / 10.0), ms)
    }
}

#[test]
fn a_reader_that_is_overtaken_by_two_edits_gets_one_of_the_rules() {
    explore(2, 2, |first| {
        let memory = Memory::of(&rule(1));
        let edit = |b: Breaker<'_>| (b.edit(&rule(2)).unwrap(), b.edit(&rule(3)).unwrap());
        let (_, read) = both(first, &memory, edit, |b| b.rule());
        assert!((1..=3).any(|n| read == rule(n)), "{read:?}");
    });
}

#[test]
fn a_trip_is_of_one_rule() {
    explore(2, 2, |first| {
        let memory = Memory::of(&rule(1));
        let (_, end) = both(first, &memory, |b| b.edit(&rule(2)).unwrap(), |b| call(b, BAD, 0));
        let trip = end.transition.unwrap();
        let n = trip.rule.probe_num;
        assert_eq!((trip.rule, trip.open_until), (rule(n), Some(millis(u64::from(n) * 1000))));
    });
}

#[test]
fn a_reopening_is_of_one_rule() {
    explore(2, 2, |first| {
        let (memory, p) = Memory::half_open(&rule(1), DUE);
        let edit = |b: Breaker<'_>| b.edit(&rule(2)).unwrap();
        let (_, end) = both(first, &memory, edit, move |b| b.complete(p, BAD, DUE));
        let change = end.transition.unwrap();
        let n = change.rule.probe_num;
        let wait = millis(u64::from(n * n) * 1000);
        assert_eq!((change.rule, change.open_until), (rule(n), Some(DUE + wait)));
    });
}

#[test]
fn a_round_has_the_places_and_the_lease_of_one_rule() {
    explore(2, 2, |first| {
        let memory = Memory::open(&rule(1));
        let edit = |b: Breaker<'_>| b.edit(&rule(2)).unwrap();
        let _ = both(first, &memory, edit, |b| admitted(admit(b, DUE)));
        let breaker = memory.breaker();
        let lease = breaker.snapshot(DUE).retry_after.unwrap();
        let places = 1 + std::iter::from_fn(|| passed(admit(breaker, DUE))).take(9).count() as u64;
        assert_eq!(lease, millis(places * 1000));
    });
}

#[test]
fn a_permit_of_a_new_breaker_is_judged_by_its_rule() {
    let slow = Ending { error: false, response_time: millis(2) };
    let slow_trips = Rule {
        min_request_amount: 1,
        ..Rule::new(Condition::SlowRatio { threshold: 0.5, slow_after: millis(1) }, 1000)
    };
    explore(2, 2, move |first| {
        let memory = Memory::empty(1);
        let use_it = move |b: Breaker<'_>| {
            let permit = b.admit_closed()?;
            Some((permit, b.complete(permit, slow, 0)))
        };
        let (generation, used) = both(first, &memory, move |b| b.assign(&slow_trips).unwrap(), use_it);
        if let Some((permit, end)) = used {
            assert_eq!(permit.generation() == generation, end.transition.is_some());
        }
    });
}

/// The copy that the second edit writes held the rule from before the first.
#[test]
fn a_call_is_not_judged_by_a_rule_from_before_an_edit_that_has_returned() {
    let slow_after = |ms| {
        let condition = Condition::SlowRatio { threshold: 1.0, slow_after: millis(ms) };
        Rule { min_request_amount: 9, ..Rule::new(condition, 1000) }
    };
    explore(2, 2, move |first| {
        let memory = Memory::of(&slow_after(9));
        let _ = call(memory.breaker(), GOOD, 0);
        memory.breaker().edit(&slow_after(1)).unwrap();
        let p = memory.permit(0);
        let slow = Ending { error: false, response_time: millis(5) };
        let edit = move |b: Breaker<'_>| b.edit(&slow_after(2)).unwrap();
        let _ = both(first, &memory, edit, move |b| b.complete(p, slow, 0));
        assert_eq!(window(memory.breaker(), 0), (1, 1));
    });
}
