//! Rules made in code.

use std::time::Duration;

use tripcoil::{Rule, RuleBuilder, Strategy, check_name};

use crate::one;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn valid() -> RuleBuilder {
    Rule::error_ratio("r").threshold(0.5).retry_timeout(MS(3000))
}

fn slow() -> RuleBuilder {
    let builder = Rule::slow_ratio("r").threshold(0.5);
    builder.retry_timeout(MS(3000)).max_allowed_rt(MS(50))
}

/// The options that a build complains of.
fn wrong(builder: RuleBuilder) -> Vec<String> {
    let faults = builder.build().unwrap_err();
    faults
        .into_iter()
        .map(|fault| {
            assert_eq!((fault.index, fault.line), (None, None));
            fault.field.unwrap()
        })
        .collect()
}

#[test]
fn a_built_rule_is_the_same_as_one_of_a_go_document() {
    let built = slow()
        .max_allowed_rt(Duration::from_micros(50_400))
        .min_request_amount(10)
        .stat_interval(MS(5000))
        .stat_sliding_window_bucket_count(10)
        .probe_num(3)
        .probe_timeout(MS(700))
        .backoff_factor(1.5)
        .max_retry_timeout(MS(9000))
        .id(7)
        .build()
        .unwrap();
    let read = one(r#"{"resource": "r", "strategy": 0, "threshold": 0.5, "retryTimeoutMs": 3000,
        "maxAllowedRtMs": 50.4, "minRequestAmount": 10, "statIntervalMs": 5000,
        "statSlidingWindowBucketCount": 10, "probeNum": 3, "probeTimeoutMs": 700,
        "backoffFactor": 1.5, "maxRetryTimeoutMs": 9000, "id": "7"}"#);
    assert_eq!(built, read);
    let defaults = one(r#"{"resource": "r", "strategy": 1, "threshold": 0.5, "retryTimeoutMs": 3000}"#);
    assert_eq!(valid().build().unwrap(), defaults);
}

#[test]
fn each_strategy_has_its_beginning() {
    for (builder, strategy) in [
        (Rule::slow_ratio("r").max_allowed_rt(MS(1)), Strategy::SlowRatio),
        (Rule::error_ratio("r"), Strategy::ErrorRatio),
        (Rule::error_count("r"), Strategy::ErrorCount),
        (Rule::consecutive_errors("r"), Strategy::ConsecutiveErrors),
    ] {
        let rule = builder.threshold(1.0).retry_timeout(MS(1)).build().unwrap();
        assert_eq!((rule.strategy(), rule.threshold()), (strategy, 1.0));
        assert!(rule.inclusive());
    }
    assert!(!valid().inclusive(false).build().unwrap().inclusive());
    let pattern = valid().regex(true).build().unwrap();
    assert!(pattern.regex() && pattern.matches("r") && !pattern.matches("rr"));
}

#[test]
fn every_fault_is_listed_at_once_by_the_methods_names() {
    let builder = Rule::slow_ratio("a\0")
        .threshold(f64::NAN)
        .retry_timeout(Duration::ZERO)
        .min_request_amount(0)
        .stat_interval(Duration::ZERO)
        .stat_sliding_window_bucket_count(0)
        .probe_num(0)
        .probe_timeout(Duration::from_nanos(1))
        .backoff_factor(0.5)
        .max_retry_timeout(Duration::ZERO);
    assert_eq!(
        wrong(builder),
        [
            "resource",
            "threshold",
            "max_allowed_rt",
            "retry_timeout",
            "min_request_amount",
            "stat_interval",
            "stat_sliding_window_bucket_count",
            "probe_num",
            "probe_timeout",
            "backoff_factor",
            "max_retry_timeout"
        ]
    );
    assert_eq!(wrong(Rule::error_count("r")), ["threshold", "retry_timeout"]);
}

#[test]
fn thresholds_have_the_range_of_their_strategy() {
    for ratio in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1, 1.0001] {
        assert_eq!(wrong(valid().threshold(ratio)), ["threshold"], "{ratio}");
        assert_eq!(wrong(slow().threshold(ratio)), ["threshold"], "{ratio}");
    }
    for (strategy, least) in [(Strategy::ErrorCount, 0.0), (Strategy::ConsecutiveErrors, 1.0)] {
        let builder = RuleBuilder::new(strategy, "r").retry_timeout(MS(1));
        assert!(builder.clone().threshold(least).build().is_ok());
        assert!(builder.clone().threshold(1e300).build().is_ok());
        assert_eq!(wrong(builder.threshold(least - 0.001)), ["threshold"]);
    }
    assert!(valid().threshold(-0.0).build().unwrap().same(&valid().threshold(0.0).build().unwrap()));
}

#[test]
fn times_are_whole_milliseconds_but_for_response_times() {
    let fine = Duration::from_micros(1500);
    let far = MS(1 << 53);
    for time in [fine, far, Duration::MAX] {
        assert_eq!(wrong(valid().retry_timeout(time)), ["retry_timeout"]);
        assert_eq!(wrong(valid().stat_interval(time)), ["stat_interval"]);
        assert_eq!(wrong(valid().probe_timeout(time)), ["probe_timeout"]);
        assert_eq!(wrong(valid().max_retry_timeout(time)), ["max_retry_timeout"]);
    }
    assert!(valid().retry_timeout(MS((1 << 53) - 1)).build().is_ok());
    let rule = slow().max_allowed_rt(fine).build().unwrap();
    assert_eq!((rule.max_allowed_rt(), rule.slow_after_ns()), (Some(fine), 1_500_000));
    let longest = slow().max_allowed_rt(MS((1 << 53) - 1)).build().unwrap();
    assert_eq!(longest.slow_after_ns(), u64::MAX);
    assert_eq!(wrong(slow().max_allowed_rt(Duration::MAX)), ["max_allowed_rt"]);
    let never = valid().probe_timeout(Duration::ZERO).build().unwrap();
    assert_eq!(never.probe_timeout(), None);
}

#[test]
fn buckets_that_do_not_divide_are_a_fault() {
    for buckets in [0, 3, 1001, u32::MAX] {
        assert_eq!(
            wrong(valid().stat_sliding_window_bucket_count(buckets)),
            ["stat_sliding_window_bucket_count"]
        );
    }
    let rule = valid().stat_sliding_window_bucket_count(1000).build().unwrap();
    assert_eq!(rule.stat_sliding_window_bucket_count(), 1000);
}

#[test]
fn whole_numbers_have_their_ranges() {
    for amount in [0, 1 << 53, u64::MAX] {
        assert_eq!(wrong(valid().min_request_amount(amount)), ["min_request_amount"]);
    }
    for probes in [0, 65_536, u32::MAX] {
        assert_eq!(wrong(valid().probe_num(probes)), ["probe_num"]);
    }
    for factor in [f64::NAN, f64::INFINITY, 0.999, -1.0] {
        assert_eq!(wrong(valid().backoff_factor(factor)), ["backoff_factor"]);
    }
}

#[test]
fn names_and_patterns_are_checked() {
    let named = |name: &str| Rule::error_ratio(name).threshold(0.5).retry_timeout(MS(1));
    for name in ["", " \u{3000}", "a\0b", &"x".repeat(1025)] {
        assert_eq!(wrong(named(name)), ["resource"]);
        let message = check_name(name).unwrap_err().to_string();
        assert!(message.contains("1 to 1024 bytes"), "{message}");
    }
    let message = named("a(?=b)").regex(true).build().unwrap_err().to_string();
    assert!(message.contains("look-around"), "{message}");
    assert!(named("a(?=b)").build().is_ok());
}

#[test]
fn a_fault_reads_as_a_sentence() {
    let message = |builder: RuleBuilder| builder.build().unwrap_err().to_string();
    assert_eq!(
        message(valid().threshold(-0.1)),
        "resource \"r\", field threshold: -0.1 is not allowed; \
         it must be a finite number from 0 to 1"
    );
    assert_eq!(
        message(valid().retry_timeout(Duration::from_micros(1500))),
        "resource \"r\", field retry_timeout: 1.5ms is not allowed; \
         it must be a whole number from 1 to 9007199254740991 of milliseconds"
    );
    assert_eq!(
        message(Rule::error_ratio("").threshold(0.5).retry_timeout(MS(1))),
        "rule, field resource: \"\" is not allowed; \
         it must be a string of 1 to 1024 bytes of UTF-8, not blank, without NUL characters"
    );
}
