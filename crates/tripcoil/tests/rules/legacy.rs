//! Documents of the releases before 1.8.

use tripcoil::{LegacyDocument, Release};

use crate::places;

fn parse(text: &str, release: Release) -> LegacyDocument {
    LegacyDocument::parse(text.as_bytes(), release)
}

#[test]
fn amounts_are_read_in_1_7_and_warned_of_in_1_6() {
    let text = r#"[{"resource": "r", "grade": 1, "count": 0.5, "timeWindow": 10,
        "limitApp": "default",
        "minRequestAmount": 7, "rtSlowRequestAmount": 8}]"#;
    let newer = parse(text, Release::V1_7);
    assert_eq!((newer.faults.len(), newer.warnings.len()), (0, 0));
    let rule = &newer.rules[0];
    assert_eq!((rule.resource.as_str(), rule.grade, rule.count), ("r", 1, 0.5));
    assert_eq!(rule.time_window_s, 10);
    assert_eq!((rule.min_request_amount, rule.rt_slow_request_amount), (7, 8));

    let older = parse(text, Release::V1_6);
    assert_eq!(older.faults, []);
    let rule = &older.rules[0];
    assert_eq!((rule.min_request_amount, rule.rt_slow_request_amount), (5, 5));
    let warned: Vec<_> = older.warnings.iter().map(|w| (w.field.as_deref(), w.line)).collect();
    assert_eq!(warned, [(Some("minRequestAmount"), Some(3)), (Some("rtSlowRequestAmount"), Some(3))]);
}

#[test]
fn grade_is_0_and_both_amounts_are_5_by_default() {
    let document = parse(r#"{"resource": "r", "count": 200, "timeWindow": 1}"#, Release::V1_7);
    let rule = &document.rules[0];
    assert_eq!((rule.grade, rule.min_request_amount, rule.rt_slow_request_amount), (0, 5, 5));
}

#[test]
fn every_fault_is_named() {
    let document = parse(
        r#"[{"resource": " ", "grade": 3, "count": -1, "timeWindow": 0, "limitApp": 5,
             "minRequestAmount": 0, "rtSlowRequestAmount": 1.5, "statIntervalMs": 0}, 7]"#,
        Release::V1_7,
    );
    let fields = ["resource", "grade", "count", "timeWindow", "limitApp"];
    let amounts = ["minRequestAmount", "rtSlowRequestAmount"];
    let mut wanted: Vec<_> = fields.iter().chain(&amounts).map(|field| (Some(0), Some(*field))).collect();
    wanted.push((Some(1), None));
    assert_eq!(places(&document.faults), wanted);
    assert_eq!(document.rules, []);
    assert_eq!(document.warnings[0].field.as_deref(), Some("statIntervalMs"));
    assert!(document.into_strict().is_err());
}

#[test]
fn the_amounts_of_1_6_may_hold_anything() {
    let text = r#"{"resource": "r", "count": 1, "timeWindow": 1, "minRequestAmount": "x"}"#;
    assert_eq!(parse(text, Release::V1_6).rules.len(), 1);
    assert_eq!(parse(text, Release::V1_7).rules.len(), 0);
}

#[test]
fn an_unreadable_document_has_one_fault() {
    for release in [Release::V1_6, Release::V1_7] {
        let document = parse(r#"[5, {"a": 1, "a": 1}]"#, release);
        assert_eq!(places(&document.faults), [(None, None)]);
    }
}
