//! The numbers of a rule: what each may be, and how long it makes a breaker wait.

use tripcoil_core::{Condition, Rule};

use super::{BAD, DUE, Memory, change, one_bad_trips};

/// The field that a rule is refused for, where it is.
fn refused(rule: Rule) -> Option<&'static str> {
    rule.check().err().map(|error| {
        assert_eq!(error.to_string(), format!("{} must be {}", error.field, error.allowed));
        error.field
    })
}

fn with(condition: Condition) -> Rule {
    Rule::new(condition, 1000)
}

#[test]
fn a_threshold_is_checked_by_the_kind_of_condition() {
    for threshold in [-0.1, 1.1, f64::NAN] {
        assert_eq!(refused(with(Condition::ErrorRatio(threshold))), Some("threshold"));
        assert_eq!(refused(with(Condition::SlowRatio { threshold, slow_after: 1 })), Some("threshold"));
    }
    for threshold in [0.0, 1.0] {
        assert_eq!(refused(with(Condition::ErrorRatio(threshold))), None);
        assert_eq!(refused(with(Condition::SlowRatio { threshold, slow_after: 1 })), None);
    }
    for count in [-0.5, f64::INFINITY, f64::NAN] {
        assert_eq!(refused(with(Condition::ErrorCount(count))), Some("threshold"));
        assert_eq!(refused(with(Condition::ConsecutiveErrors(count))), Some("threshold"));
    }
    assert_eq!(refused(with(Condition::ErrorCount(0.0))), None);
    assert_eq!(refused(with(Condition::ConsecutiveErrors(0.5))), Some("threshold"));
    assert_eq!(refused(with(Condition::ConsecutiveErrors(1.0))), None);
}

#[test]
fn each_number_has_its_range() {
    let rule = one_bad_trips;
    assert_eq!(refused(Rule { min_request_amount: 0, ..rule() }), Some("min_request_amount"));
    assert_eq!(refused(Rule { stat_interval_ms: 0, ..rule() }), Some("stat_interval_ms"));
    for buckets in [0, 3, 1001] {
        assert_eq!(refused(Rule { buckets, ..rule() }), Some("buckets"));
    }
    assert_eq!(refused(Rule { buckets: 1001, stat_interval_ms: 1001, ..rule() }), Some("buckets"));
    assert_eq!(refused(Rule { buckets: 1000, ..rule() }), None);
    assert_eq!(refused(Rule { retry_timeout_ms: 0, ..rule() }), Some("retry_timeout_ms"));
    assert_eq!(refused(Rule { retry_timeout_ms: 1, max_retry_timeout_ms: 1, ..rule() }), None);
    for probe_num in [0, 65_536] {
        assert_eq!(refused(Rule { probe_num, ..rule() }), Some("probe_num"));
    }
    assert_eq!(refused(Rule { probe_num: 65_535, ..rule() }), None);
    for backoff_factor in [0.9, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(Rule { backoff_factor, ..rule() }), Some("backoff_factor"));
    }
    assert_eq!(refused(Rule { max_retry_timeout_ms: 0, ..rule() }), Some("max_retry_timeout_ms"));
}

#[test]
fn a_shape_is_the_kind_of_condition_and_the_window() {
    let rule = with(Condition::ErrorRatio(0.5));
    assert!(rule.same_shape(&Rule { min_request_amount: 9, ..with(Condition::ErrorRatio(0.1)) }));
    assert!(!rule.same_shape(&with(Condition::ErrorCount(0.5))));
    assert!(!rule.same_shape(&Rule { stat_interval_ms: 2000, ..rule }));
    assert!(!rule.same_shape(&Rule { buckets: 2, ..rule }));
}

#[test]
fn a_limit_below_the_wait_is_not_asked() {
    let memory = Memory::open(&Rule { max_retry_timeout_ms: 1, backoff_factor: 9.0, ..one_bad_trips() });
    let probe = memory.permit(DUE);
    assert_eq!(change(memory.breaker().complete(probe, BAD, DUE)).open_until, Some(2 * DUE));
}
