//! What is refused, with the field's name: by document in both forms, and by builder.

mod support;

use std::time::Duration;

use serde_json::{Value, json};
use support::{World, ms, r0_with, state, trip};
use tripcoil::{Document, NameError, Registry, Rule, RuleBuilder, Scope, State, check_name};

/// The fields at fault of a document's only rule.
fn faulty(rule: &str) -> Vec<String> {
    let registry = Registry::new();
    let faults = registry.load_json(rule).expect_err(rule);
    assert!(registry.rules().is_empty());
    faults.iter().map(|fault| fault.field.clone().unwrap_or_default()).collect()
}

fn sentinel(fields: &Value) -> String {
    r0_with(fields).to_string()
}

fn go(fields: &Value) -> String {
    let mut rule = json!({"resource": "r", "strategy": 1, "threshold": 0.5, "retryTimeoutMs": 2000});
    for (name, value) in fields.as_object().unwrap() {
        rule[name] = value.clone();
    }
    rule.to_string()
}

#[test]
fn a_number_out_of_its_range_is_refused_in_sentinels_form() {
    let cases = [
        ("count", vec![json!(-0.1), json!(1.0001), json!("0.5"), json!([])]),
        ("statIntervalMs", vec![json!(0), json!(-1), json!(1.5), json!(1_u64 << 53)]),
        ("statSlidingWindowBucketCount", vec![json!(0), json!(7), json!(1001), json!(-1), json!(1e300)]),
        ("minRequestAmount", vec![json!(0), json!(-1), json!(true), json!(u64::MAX)]),
        ("probeNum", vec![json!(0), json!(65_536), json!(-1)]),
        ("timeWindow", vec![json!(0), json!(-1), json!(0.5), json!(9_007_199_254_741_u64)]),
        ("probeTimeoutMs", vec![json!(-1), json!(0.5)]),
        ("backoffFactor", vec![json!(0.99), json!(-1), json!("2")]),
        ("maxRetryTimeoutMs", vec![json!(0), json!(-1)]),
        ("grade", vec![json!(4), json!(-1), json!("1")]),
        ("inclusive", vec![json!(1), json!("true")]),
        (
            "resource",
            vec![json!(""), json!(" \u{3000}"), json!("a\u{0}b"), json!("n".repeat(1025)), json!(5)],
        ),
    ];
    for (field, values) in cases {
        for value in values {
            assert_eq!(faulty(&sentinel(&json!({field: value}))), [field], "{field}: {value}");
        }
    }
}

#[test]
fn a_number_out_of_its_range_is_refused_in_the_go_form() {
    let cases = [
        ("threshold", vec![json!(-0.1), json!(1.0001)]),
        ("retryTimeoutMs", vec![json!(0), json!(-1), json!(1.5)]),
        ("statIntervalMs", vec![json!(0)]),
        ("minRequestAmount", vec![json!(0)]),
        ("probeNum", vec![json!(65_536)]),
        ("statSlidingWindowBucketCount", vec![json!(1001)]),
        ("strategy", vec![json!(4), json!(-1)]),
        ("resource", vec![json!(""), json!("a\u{0}b")]),
    ];
    for (field, values) in cases {
        for value in values {
            assert_eq!(faulty(&go(&json!({field: value}))), [field], "{field}: {value}");
        }
    }
    assert_eq!(faulty(&go(&json!({"strategy": 0}))), ["maxAllowedRtMs"]);
}

#[test]
fn numbers_that_json_cannot_say_are_refused() {
    for number in ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0x1", "5."] {
        let rule = format!(r#"{{"resource": "r", "grade": 1, "count": {number}, "timeWindow": 2}}"#);
        let faults = Registry::new().load_json(&rule).expect_err(&rule);
        assert_eq!(faults.len(), 1, "{faults}");
    }
    let long = format!("1{}", "0".repeat(400));
    assert_eq!(
        faulty(&format!(r#"{{"resource": "r", "grade": 2, "count": {long}, "timeWindow": 2}}"#)),
        ["count"]
    );
    assert_eq!(
        faulty(&format!(r#"{{"resource": "r", "grade": 2, "count": 2, "timeWindow": {long}}}"#)),
        ["timeWindow"]
    );
}

/// The options at fault of a builder.
fn refused(builder: RuleBuilder) -> Vec<String> {
    builder.build().unwrap_err().iter().map(|fault| fault.field.clone().unwrap()).collect()
}

fn built() -> RuleBuilder {
    Rule::error_ratio("r").threshold(0.5).retry_timeout(ms(2_000))
}

#[test]
fn an_option_out_of_its_range_is_refused_by_the_builder() {
    for ratio in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1, 1.0001, -f64::MIN_POSITIVE] {
        assert_eq!(refused(built().threshold(ratio)), ["threshold"], "{ratio}");
    }
    for factor in [f64::NAN, f64::INFINITY, 0.99, -1.0] {
        assert_eq!(refused(built().backoff_factor(factor)), ["backoff_factor"], "{factor}");
    }
    for time in [Duration::ZERO, Duration::MAX, Duration::from_nanos(1), ms(1 << 53), ms(u64::MAX)] {
        assert_eq!(refused(built().stat_interval(time)), ["stat_interval"], "{time:?}");
        assert_eq!(refused(built().retry_timeout(time)), ["retry_timeout"], "{time:?}");
        assert_eq!(refused(built().max_retry_timeout(time)), ["max_retry_timeout"], "{time:?}");
    }
    assert_eq!(refused(built().probe_timeout(Duration::MAX)), ["probe_timeout"]);
    for buckets in [0, 7, 1001, u32::MAX] {
        let builder = built().stat_sliding_window_bucket_count(buckets);
        assert_eq!(refused(builder), ["stat_sliding_window_bucket_count"], "{buckets}");
    }
    assert_eq!(refused(built().min_request_amount(0)), ["min_request_amount"]);
    assert_eq!(refused(built().min_request_amount(u64::MAX)), ["min_request_amount"]);
    for probes in [0, 65_536, u32::MAX] {
        assert_eq!(refused(built().probe_num(probes)), ["probe_num"], "{probes}");
    }
    for name in ["", " ", "a\0b", &"n".repeat(1025)] {
        let builder = Rule::error_ratio(name).threshold(0.5).retry_timeout(ms(1));
        assert_eq!(refused(builder), ["resource"], "{name:?}");
    }
    assert_eq!(refused(Rule::consecutive_errors("r").threshold(0.5).retry_timeout(ms(1))), ["threshold"]);
    assert_eq!(refused(Rule::slow_ratio("r").threshold(0.5).retry_timeout(ms(1))), ["max_allowed_rt"]);
    assert_eq!(refused(Rule::error_count("r")), ["threshold", "retry_timeout"]);
}

#[test]
fn the_largest_numbers_that_are_allowed_overflow_nothing() {
    const MOST: u64 = (1 << 53) - 1;
    let rule = Rule::slow_ratio("r").threshold(1.0).max_allowed_rt(ms(MOST)).stat_interval(ms(MOST));
    let rule = rule.retry_timeout(ms(MOST)).probe_timeout(ms(MOST)).backoff_factor(f64::MAX);
    let slow = rule.max_retry_timeout(ms(MOST)).min_request_amount(MOST).build().unwrap();
    let count = Rule::error_count("r").threshold(4.0).min_request_amount(1).retry_timeout(ms(MOST));
    let count = count.backoff_factor(f64::MAX).max_retry_timeout(ms(MOST)).build().unwrap();
    let world = World::new(&json!([]));
    world.registry.load_rules([count, slow]).unwrap();
    let r = world.r();
    world.at(1);
    trip(&r);
    assert_eq!(r.enter().unwrap_err().retry_after(), None, "292 years and more are for ever");
    world.clock.set(Duration::MAX);
    let _ = r.enter();
    r.reset();
    assert_eq!(state(&r), State::Closed);
}

#[test]
fn a_name_that_no_resource_can_have_is_refused() {
    let registry = Registry::new();
    let refused = |name: &str| registry.resource(name).unwrap_err();
    assert_eq!(refused(""), NameError::Blank);
    assert_eq!(refused(" \t\u{2003}"), NameError::Blank);
    assert_eq!(refused("a\0"), NameError::Nul);
    assert_eq!(refused(&"ä".repeat(513)), NameError::TooLong { bytes: 1026 });
    assert!(registry.is_empty());
    for name in ["a", " a ", "ä".repeat(512).as_str(), "\u{1F9E8}", "a\nb"] {
        assert_eq!((check_name(name), registry.resource(name).unwrap().name()), (Ok(()), name));
    }
    let faults = registry.load_resource_json("", "[]").unwrap_err();
    assert_eq!(faults.len(), 1);
}

/// What would break a line, colour a terminal, or turn the text around.
const HOSTILE: &str = "a\n\r\u{7}\u{1b}[31m\u{202e}\u{2028}\"";

#[test]
fn no_name_breaks_the_line_that_tells_of_it() {
    let world = World::new(&r0_with(&json!({"resource": HOSTILE})));
    let r = world.registry.resource(HOSTILE).unwrap();
    trip(&r);
    let blocked = r.enter().unwrap_err();
    let told = [
        blocked.to_string(),
        format!("{blocked:?}"),
        r.breakers()[0].last_trip().unwrap().to_string(),
        r.breakers()[0].rule().to_string(),
        format!("{r:?}"),
        world
            .registry
            .load_json(sentinel(&json!({"resource": HOSTILE, "count": -1})))
            .unwrap_err()
            .to_string(),
        world.registry.load_json(sentinel(&json!({HOSTILE: 1}))).unwrap().warnings[0].to_string(),
    ];
    for text in told {
        let harmless = |c: char| !c.is_control() && !matches!(c, '\u{2028}' | '\u{202e}');
        assert!(text.chars().all(harmless) && text.contains("\\u{1b}[31m"), "{text:?}");
    }
    // To programs it is the name.
    assert_eq!(blocked.resource(), HOSTILE);
}

#[test]
fn a_document_that_is_not_utf8_is_refused() {
    let mut text = sentinel(&json!({})).into_bytes();
    let at = text.windows(3).position(|part| part == b"\"r\"").unwrap();
    text[at + 1] = 0xFF;
    assert!(Registry::new().load_json(&text).is_err());
    assert!(Document::parse(&text, Scope::Ordinary).unreadable);
}

#[test]
fn an_unknown_field_of_a_document_is_a_warning() {
    let registry = Registry::new();
    let report = registry.load_json(sentinel(&json!({"gmtCreate": 1, "app": {"a": []}}))).unwrap();
    let mut fields: Vec<_> = report.warnings.iter().map(|warning| warning.field.clone().unwrap()).collect();
    fields.sort();
    assert_eq!((report.rules, fields), (1, vec!["app".to_owned(), "gmtCreate".to_owned()]));
}
