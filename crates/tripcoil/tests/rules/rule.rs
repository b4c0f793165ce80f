//! Rules side by side, and in print.

use crate::{go, one, sentinel};

#[test]
fn rules_are_the_same_when_every_field_is_the_id_aside() {
    let rule = one(&sentinel(r#", "id": 1"#));
    let other = rule.with_id(Some("2"));
    assert!(rule.same(&other) && rule != other);
    assert_eq!(rule.with_id(Some("1")), rule);
    let spelled_out =
        one(&sentinel(r#", "probeTimeoutMs": 10000, "minRequestAmount": 5, "limitApp": " ", "id": null"#));
    assert!(rule.same(&spelled_out));
    for more in [
        r#", "minRequestAmount": 6"#,
        r#", "slowRatioThreshold": 0.9"#,
        r#", "statIntervalMs": 2000"#,
        r#", "limitApp": "x""#,
        r#", "regex": true"#,
        r#", "statSlidingWindowBucketCount": 2"#,
        r#", "probeNum": 2"#,
        r#", "probeTimeoutMs": 0"#,
        r#", "inclusive": true"#,
        r#", "backoffFactor": 2"#,
        r#", "maxRetryTimeoutMs": 1"#,
    ] {
        assert!(!rule.same(&one(&sentinel(more))), "{more}");
    }
    let slow =
        |ms: &str| one(&format!(r#"{{"resource": "r", "count": {ms}, "timeWindow": 1, "inclusive": true}}"#));
    assert!(!slow("49.5").same(&slow("50")));
    assert!(slow("0").same(&slow("-0.0")));
    let exact = one(r#"{"resource": "r", "threshold": 1, "retryTimeoutMs": 1000, "maxAllowedRtMs": 49.5}"#);
    assert!(!slow("49.5").same(&exact), "one is rounded, the other is not");
}

#[test]
fn a_rule_prints_in_sentinels_fields_with_natural_numbers() {
    let rule = one(&sentinel(r#", "id": 7, "count_": 0"#));
    assert_eq!(
        rule.to_json(),
        concat!(
            r#"{"id":"7","resource":"r","regex":false,"limitApp":"default","grade":1,"#,
            r#""count":0.5,"timeWindow":10,"minRequestAmount":5,"slowRatioThreshold":1,"#,
            r#""statIntervalMs":1000,"statSlidingWindowBucketCount":1,"inclusive":false,"#,
            r#""probeNum":1,"probeTimeoutMs":10000,"backoffFactor":1,"#,
            r#""maxRetryTimeoutMs":86400000}"#
        )
    );
    for (ms, seconds) in [(1500, "1.5"), (1, "0.001"), (3000, "3"), (86_400_001, "86400.001")] {
        let rule = one(&go("").replace("3000", &ms.to_string()));
        let wanted = format!(r#""timeWindow":{seconds},"#);
        assert!(rule.to_json().contains(&wanted), "{}", rule.to_json());
    }
}

#[test]
fn a_rule_says_in_a_line_what_it_is() {
    for (text, wanted) in [
        (sentinel(""), r#""r": error ratio above 0.5 in 1s, open for 10s"#),
        (go(""), r#""r": error ratio of at least 0.5 in 1s, open for 3s"#),
        (sentinel(r#", "regex": true"#), r#"pattern "r": error ratio above 0.5 in 1s, open for 10s"#),
        (
            r#"{"resource": "a\nb", "count": 49.5, "timeWindow": 1, "slowRatioThreshold": 0.2}"#.to_owned(),
            r#""a\nb": slow ratio (over 50ms) above 0.2 in 1s, open for 1s"#,
        ),
        (
            r#"{"resource": "r", "grade": 3, "count": 4, "timeWindow": 2}"#.to_owned(),
            r#""r": consecutive errors of 4, open for 2s"#,
        ),
    ] {
        assert_eq!(one(&text).to_string(), wanted);
    }
}
