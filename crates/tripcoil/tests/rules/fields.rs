//! Every field of both forms: defaults, ranges, types.

use std::time::Duration;

use tripcoil::Strategy;

use crate::{assert_wrong, go, one, parse, places, sentinel};

const MAX: u64 = (1 << 53) - 1;

/// Asserts which values a field takes, beside an otherwise valid rule.
fn assert_field(rule: fn(&str) -> String, field: &str, valid: &[&str], wrong: &[&str]) {
    for value in valid {
        one(&rule(&format!(r#", "{field}": {value}"#)));
    }
    for value in wrong {
        assert_wrong(&rule(&format!(r#", "{field}": {value}"#)), &[field]);
    }
    for value in ["[]", "{}", "\"x\"", "[1]"] {
        if !matches!(field, "id" | "limitApp") || value != "\"x\"" {
            assert_wrong(&rule(&format!(r#", "{field}": {value}"#)), &[field]);
        }
    }
    let absent = one(&rule(&format!(r#", "{field}": null"#)));
    assert!(absent.same(&one(&rule(""))), "{field}");
}

#[test]
fn whole_numbers_have_their_ranges() {
    let over = "9007199254740992";
    let max = "9007199254740991";
    for (form, zero_is_one) in [(sentinel as fn(&str) -> String, false), (go, true)] {
        for field in ["minRequestAmount", "statIntervalMs", "maxRetryTimeoutMs"] {
            let wrong = ["0", "-1", "1.5", over, "9007199254740993", "1e400", "true"];
            assert_field(form, field, &["1", "2.0", "1e3", "10e-1", max], &wrong);
        }
        assert_field(form, "probeTimeoutMs", &["0", "-0", "1", max], &["-1", "0.5", over, "false"]);
        let (mut valid, mut wrong) = (vec!["1", "65535"], vec!["65536", "-1", "1.5"]);
        if zero_is_one { &mut valid } else { &mut wrong }.push("0");
        assert_field(form, "probeNum", &valid, &wrong);
        let (mut valid, mut wrong) = (vec!["1", "1000"], vec!["1001", "-1", "2000", "2.5"]);
        if zero_is_one { &mut valid } else { &mut wrong }.extend(["0", "3", "999"]);
        assert_field(form, "statSlidingWindowBucketCount", &valid, &wrong);
    }
}

#[test]
fn backoff_is_a_finite_number_from_one() {
    for form in [sentinel, go] {
        let wrong = ["0.999", "-2", "1e400", "true", "\"2\""];
        assert_field(form, "backoffFactor", &["1", "1.5", "1e308"], &wrong);
    }
}

#[test]
fn flags_are_true_or_false() {
    for field in ["regex", "inclusive"] {
        let wrong = ["0", "1", "\"true\""];
        assert_field(sentinel, field, &["true", "false"], &wrong);
    }
}

#[test]
fn limit_app_is_kept_and_blank_means_default() {
    let wrong = ["5", "true"];
    assert_field(sentinel, "limitApp", &["\"x\"", "\"\""], &wrong);
    let kept = |value: &str| one(&sentinel(&format!(r#", "limitApp": {value}"#)));
    assert_eq!(kept("\" app \"").limit_app(), " app ");
    assert_eq!(kept("\" \\u3000\\t\"").limit_app(), "default");
    assert_eq!(kept("\"\\u200b\"").limit_app(), "\u{200b}");
    assert_eq!(kept("\"\\ufeff\"").limit_app(), "\u{feff}");
}

#[test]
fn an_id_is_a_text_or_a_whole_number() {
    let id = |value: &str| one(&sentinel(&format!(r#", "id": {value}"#)));
    for (value, wanted) in [
        ("\"k\"", "k"),
        ("7", "7"),
        ("7.0", "7"),
        ("-0", "0"),
        ("-7e0", "-7"),
        ("\"\"", ""),
        ("9007199254740991", "9007199254740991"),
    ] {
        assert_eq!(id(value).id(), Some(wanted));
    }
    assert_eq!(id("null").id(), None);
    let wrong = ["1.5", "9007199254740992", "-9007199254740992", "true"];
    assert_field(sentinel, "id", &["1"], &wrong);
    assert_field(go, "id", &["1"], &wrong);
}

#[test]
fn a_name_is_1_to_1024_bytes_not_blank_without_nul() {
    let named = |name: &str| {
        let name = serde_json::to_string(name).unwrap();
        format!(r#"{{"resource": {name}, "grade": 1, "count": 0.5, "timeWindow": 1}}"#)
    };
    for name in ["x".repeat(1024).as_str(), " x ", "\u{feff}", "\u{200b}", "*", "é", "\n."] {
        assert_eq!(one(&named(name)).resource(), name);
    }
    for name in [
        "",
        " ",
        "\t\n\u{b}\u{c}\r\u{85}\u{a0}\u{1680}\u{2003}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}",
        "a\0",
        &"x".repeat(1025),
        &"é".repeat(513),
    ] {
        assert_wrong(&named(name), &["resource"]);
    }
    let pattern = named(&"x".repeat(1025)).replace('}', ", \"regex\": true}");
    assert_wrong(&pattern, &["resource"]);
    let null = r#"{"resource": null, "grade": 1, "count": 0.5, "timeWindow": 1}"#;
    assert_wrong(null, &["resource"]);
}

#[test]
fn grade_and_count_go_together() {
    let rule = |grade: &str, count: &str| {
        format!(r#"{{"resource": "r", "grade": {grade}, "count": {count}, "timeWindow": 1}}"#)
    };
    for (grade, valid, wrong) in [
        ("0", vec!["0", "-0.0", "9007199254740991"], vec!["9007199254740992", "-1e-9"]),
        ("1", vec!["0", "1", "1.0", "1e-300"], vec!["1.0001", "-0.1"]),
        ("2", vec!["0", "0.5", "1e308"], vec!["-1"]),
        ("3.0", vec!["1", "1.5", "1e308"], vec!["0", "0.999"]),
    ] {
        for count in valid {
            one(&rule(grade, count));
        }
        for count in wrong.iter().chain(&["1e309", "-1e309", "true", "\"1\"", "null"]) {
            assert_wrong(&rule(grade, count), &["count"]);
        }
    }
    for grade in ["4", "-1", "0.5", "\"0\"", "1e400", "9007199254740993"] {
        assert_wrong(&rule(grade, "5"), &["grade"]);
        assert_wrong(&rule(grade, "-5"), &["grade", "count"]);
    }
    assert_eq!(one(&rule("null", "5")).strategy(), Strategy::SlowRatio);
}

#[test]
fn time_window_is_whole_seconds_within_the_limit_in_ms() {
    let rule =
        |value: &str| format!(r#"{{"resource": "r", "grade": 1, "count": 0.5, "timeWindow": {value}}}"#);
    for value in ["1", "10.0", "9007199254740"] {
        one(&rule(value));
    }
    for value in ["0", "0.5", "1.5", "9007199254741", "9007199254740991", "true"] {
        assert_wrong(&rule(value), &["timeWindow"]);
    }
}

#[test]
fn the_slow_ratio_is_a_ratio_for_slow_rules_and_kept_for_others() {
    let slow = |value: &str| {
        format!(r#"{{"resource": "r", "count": 50, "timeWindow": 1, "slowRatioThreshold": {value}}}"#)
    };
    assert_eq!(one(&slow("0.25")).threshold(), 0.25);
    assert_eq!(one(&slow("null")).threshold(), 1.0);
    for value in ["-0.1", "1.0001", "15", "1e400"] {
        assert_wrong(&slow(value), &["slowRatioThreshold"]);
    }
    let valid = ["-15", "15", "0"];
    assert_field(sentinel, "slowRatioThreshold", &valid, &["1e400", "true"]);
    let kept = one(&sentinel(r#", "slowRatioThreshold": -15"#));
    assert!(kept.to_json().contains(r#""slowRatioThreshold":-15,"#));
    assert!(!kept.same(&one(&sentinel(""))));
}

#[test]
fn sentinel_rounds_the_slow_limit_half_up_and_go_does_not() {
    let ns = |text: String| one(&text).slow_after_ns();
    let sentinel = |ms: &str| ns(format!(r#"{{"resource": "r", "count": {ms}, "timeWindow": 1}}"#));
    let go = |ms: &str| {
        ns(format!(r#"{{"resource": "r", "threshold": 1, "retryTimeoutMs": 1, "maxAllowedRtMs": {ms}}}"#))
    };
    for (ms, rounded, exact) in [
        ("0", 0, 0),
        ("50", 50_000_000, 50_000_000),
        ("49.5", 50_000_000, 49_500_000),
        ("49.49", 49_000_000, 49_490_000),
        ("50.5", 51_000_000, 50_500_000),
        ("0.49999999999999994", 0, 500_000),
        ("1.001", 1_000_000, 1_001_000),
        ("50.4", 50_000_000, 50_400_000),
        ("0.0000005", 0, 0),
        ("9007199254740991", u64::MAX, u64::MAX),
    ] {
        assert_eq!((sentinel(ms), go(ms)), (rounded, exact), "{ms}");
    }
}

#[test]
fn every_limit_of_a_go_rule_in_whole_ns_is_kept() {
    for ns in (1..5_000_000_u64).step_by(7_919).chain([50_400_001, 123_456_789_123]) {
        let (ms, rest) = (ns / 1_000_000, ns % 1_000_000);
        let rule = one(&format!(
            r#"{{"resource": "r", "threshold": 1, "retryTimeoutMs": 1,
                "maxAllowedRtMs": {ms}.{rest:06}}}"#
        ));
        assert_eq!(rule.slow_after_ns(), ns);
        assert_eq!(rule.max_allowed_rt(), Some(Duration::from_nanos(ns)));
    }
}

#[test]
fn go_rules_say_threshold_for_either() {
    let rule = |strategy: &str, more: &str| {
        one(&format!(r#"{{"resource": "r", "strategy": {strategy}, "retryTimeoutMs": 1500{more}}}"#))
    };
    let slow = rule("0", r#", "threshold": 0.25, "maxAllowedRtMs": 50"#);
    assert_eq!((slow.threshold(), slow.slow_after_ns()), (0.25, 50_000_000));
    let ignored = rule("3", r#", "threshold": 4, "maxAllowedRtMs": "what""#);
    assert_eq!(ignored.strategy(), Strategy::ConsecutiveErrors);
    assert_eq!((ignored.threshold(), ignored.max_allowed_rt()), (4.0, None));
    assert!(ignored.inclusive());
    assert_eq!(ignored.probe_timeout(), Some(Duration::from_millis(1500)));
}

#[test]
fn what_a_go_rule_lacks_is_named_in_its_own_words() {
    assert_wrong(r#"{"resource": "r", "strategy": 1}"#, &["threshold", "retryTimeoutMs"]);
    let slow = r#"{"resource": "r", "threshold": 1, "retryTimeoutMs": 1}"#;
    assert_wrong(slow, &["maxAllowedRtMs"]);
    for value in ["-1", "9007199254740992", "true", "null"] {
        let text = slow.replace('}', &format!(r#", "maxAllowedRtMs": {value}}}"#));
        assert_wrong(&text, &["maxAllowedRtMs"]);
    }
    assert_wrong(
        r#"{"resource": "r", "strategy": 4, "threshold": 2, "retryTimeoutMs": 0}"#,
        &["strategy", "retryTimeoutMs"],
    );
    for threshold in ["-0.1", "1.0001", "1e400"] {
        let text = go("").replace("0.5", threshold);
        assert_wrong(&text, &["threshold"]);
    }
}

#[test]
fn go_buckets_that_do_not_divide_are_one() {
    let buckets = |buckets: &str, interval: &str| {
        let more = format!(r#", "statSlidingWindowBucketCount": {buckets}, "statIntervalMs": {interval}"#);
        one(&go(&more)).stat_sliding_window_bucket_count()
    };
    assert_eq!(buckets("0", "1000"), 1);
    assert_eq!(buckets("3", "1000"), 1);
    assert_eq!(buckets("10", "1000"), 10);
    assert_eq!(buckets("1000", "500"), 1);
    assert_eq!(one(&go(r#", "probeNum": 0"#)).probe_num(), 1);
}

#[test]
fn buckets_are_not_blamed_for_a_wrong_interval() {
    assert_wrong(
        &sentinel(r#", "statSlidingWindowBucketCount": 3, "statIntervalMs": 0"#),
        &["statIntervalMs"],
    );
}

#[test]
fn the_form_is_told_by_fields_that_are_not_null() {
    for field in ["grade", "count", "timeWindow", "slowRatioThreshold", "limitApp", "regex"] {
        let document = parse(go(&format!(r#", "{field}": false, "inclusive": null"#)));
        assert_eq!(places(&document.faults), [(Some(0), None)], "{field}");
        one(&go(&format!(r#", "{field}": null"#)));
    }
    for field in ["strategy", "threshold", "retryTimeoutMs", "maxAllowedRtMs"] {
        let document = parse(sentinel(&format!(r#", "{field}": 1"#)));
        assert_eq!(places(&document.faults), [(Some(0), None)], "{field}");
        one(&sentinel(&format!(r#", "{field}": null"#)));
    }
    let shared_only = r#"{"resource": "r", "minRequestAmount": 0, "id": 1}"#;
    assert_wrong(shared_only, &["count", "timeWindow", "minRequestAmount"]);
}

#[test]
fn defaults_are_sentinels() {
    let rule = one(&sentinel(""));
    assert_eq!(rule.min_request_amount(), 5);
    assert_eq!((rule.stat_interval_ms(), rule.stat_interval()), (1000, Duration::from_secs(1)));
    assert_eq!(rule.limit_app(), "default");
    assert!(!rule.regex() && !rule.inclusive());
    assert_eq!(rule.stat_sliding_window_bucket_count(), 1);
    assert_eq!(rule.probe_num(), 1);
    assert_eq!(rule.probe_timeout(), Some(Duration::from_secs(10)));
    assert_eq!(rule.retry_timeout(), Duration::from_secs(10));
    assert_eq!(rule.backoff_factor(), 1.0);
    assert_eq!(rule.max_retry_timeout(), Duration::from_millis(86_400_000));
    assert_eq!((rule.id(), rule.slow_after_ns(), rule.max_allowed_rt()), (None, 0, None));
    let never = one(&sentinel(r#", "probeTimeoutMs": 0"#));
    assert_eq!(never.probe_timeout(), None);
    let long = one(&sentinel(&format!(r#", "statIntervalMs": {MAX}"#)));
    assert_eq!(long.stat_interval_ms(), MAX);
}

#[test]
fn patterns_are_of_the_regex_crates_dialect() {
    let pattern = |pattern: &str| {
        let pattern = serde_json::to_string(pattern).unwrap();
        format!(r#"{{"resource": {pattern}, "regex": true, "grade": 1, "count": 1, "timeWindow": 1}}"#)
    };
    let rule = one(&pattern("orders/(\\d+|new)"));
    assert!(rule.regex() && rule.matches("orders/17") && rule.matches("orders/new"));
    assert!(!rule.matches("orders/17/items") && !rule.matches("x/orders/17"));
    for (text, reason) in [
        ("a(?!b)", "look-around"),
        ("(?<=a)b", "look-around"),
        (r"(a)\1", "backreferences"),
        ("a{", "repetition"),
        ("a)|(b", "unopened group"),
        ("(?:(?:a{1000}){1000}){1000}", "when compiled"),
    ] {
        let text = pattern(text);
        assert_wrong(&text, &["resource"]);
        let message = parse(&text).faults[0].to_string();
        assert!(message.contains(reason), "{message}");
    }
}
