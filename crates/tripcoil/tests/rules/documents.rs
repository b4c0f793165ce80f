//! What is judged with the whole document, or the load, in view; and what is said of it.

use tripcoil::{Document, Rule, Scope};

use crate::{go, one, parse, places, sentinel};

fn list(rules: &[String]) -> String {
    format!("[{}]", rules.join(",\n"))
}

#[test]
fn an_id_is_unique_among_rules_of_equal_resource_and_regex() {
    let rule = |resource: &str, more: &str| {
        format!(r#"{{"resource": "{resource}", "grade": 2, "timeWindow": 1, {more}}}"#)
    };
    let document = parse(list(&[
        rule("a", r#""count": 1, "id": 1"#),
        rule("a", r#""count": 2, "id": "1""#),
        rule("b", r#""count": 1, "id": 1"#),
        rule("a", r#""count": 3, "id": 1.0, "regex": true"#),
        rule("a", r#""count": 4, "id": "01""#),
        rule("a", r#""count": 5, "id": 1.0"#),
    ]));
    let faults = &document.faults;
    assert_eq!(places(faults), [(Some(1), Some("id")), (Some(5), Some("id"))]);
    assert_eq!((faults[0].line, faults[1].line), (Some(2), Some(6)));
    assert_eq!(document.rules.len(), 4);
}

#[test]
fn only_valid_rules_take_an_id() {
    let document = parse(list(&[
        sentinel(r#", "id": "k", "minRequestAmount": 0"#),
        sentinel(r#", "id": "k""#),
        sentinel(r#", "id": "j", "probeNum": 2"#),
        sentinel(r#", "id": "k", "probeNum": 3"#),
        sentinel(r#", "probeNum": 3"#),
    ]));
    assert_eq!(places(&document.faults), [(Some(0), Some("minRequestAmount")), (Some(3), Some("id"))]);
    let ids: Vec<_> = document.rules.iter().map(Rule::id).collect();
    assert_eq!(ids, [Some("k"), Some("j"), None]);
}

#[test]
fn the_same_rule_twice_counts_once_and_the_first_has_its_id() {
    let document = parse(list(&[
        sentinel(r#", "id": "k""#),
        sentinel(r#", "id": "k", "minRequestAmount": 5.0"#),
        sentinel(r#", "id": "j""#),
        sentinel(""),
        sentinel(r#", "id": "j", "probeNum": 2"#),
    ]));
    assert_eq!(document.faults, []);
    let ids: Vec<_> = document.rules.iter().map(Rule::id).collect();
    assert_eq!(ids, [Some("k"), Some("j")]);
}

#[test]
fn the_same_rule_counts_once_in_either_form() {
    let document = parse(list(&[
        sentinel(r#", "inclusive": true"#),
        r#"{"resource": "r", "strategy": 1, "threshold": 0.5, "retryTimeoutMs": 10000}"#.to_owned(),
    ]));
    assert_eq!((document.rules.len(), document.faults.len()), (1, 0));
}

#[test]
fn default_rules_are_for_the_star() {
    let parse = |text: &str| Document::parse(text.as_bytes(), Scope::Defaults);
    let star = sentinel("").replace("\"r\"", "\"*\"");
    assert_eq!(parse(&star).rules.len(), 1);
    assert_eq!(places(&parse(&sentinel("")).faults), [(Some(0), Some("resource"))]);
    assert_eq!(places(&parse(&go("")).faults), [(Some(0), Some("resource"))]);
    let regex = star.replace('}', ", \"regex\": true}");
    assert_eq!(places(&parse(&regex).faults), [(Some(0), Some("regex"))]);
    assert_eq!(one(&star).resource(), "*");
}

#[test]
fn one_resources_rules_are_exact_and_its_own() {
    let parse = |text: &str| Document::parse(text.as_bytes(), Scope::Resource("r"));
    assert_eq!(parse(&sentinel("")).rules.len(), 1);
    assert_eq!(parse(&sentinel(r#", "regex": false"#)).rules.len(), 1);
    let regex = sentinel(",\n\"regex\": true");
    let document = parse(&regex);
    assert_eq!(places(&document.faults), [(Some(0), Some("regex"))]);
    assert_eq!(document.faults[0].line, Some(2));
    let both = regex.replace("\"r\"", "\"r(\"");
    assert_eq!(places(&parse(&both).faults), [(Some(0), Some("resource")), (Some(0), Some("regex"))]);
    let wrong_types = r#"{"resource": 7, "regex": 7, "grade": 1, "count": 0.5, "timeWindow": 1}"#;
    assert_eq!(places(&parse(wrong_types).faults), [(Some(0), Some("regex")), (Some(0), Some("resource"))]);
}

#[test]
fn rules_of_a_resource_that_cannot_exist_are_refused() {
    for text in [sentinel(""), "[]".to_owned()] {
        let document = Document::parse(text.as_bytes(), Scope::Resource(" "));
        assert!(document.unreadable);
        assert_eq!(places(&document.faults), [(None, Some("resource"))]);
    }
    assert!(Document::from_rules(Vec::new(), Scope::Resource("\0")).unreadable);
}

#[test]
fn typed_rules_are_judged_together_as_those_of_a_text_are() {
    let rule = |more: &str| one(&sentinel(more));
    let document = Document::from_rules(
        vec![
            rule(r#", "id": "k""#),
            rule(""),
            rule(r#", "id": "k", "probeNum": 2"#),
            rule(r#", "regex": true"#),
        ],
        Scope::Resource("r"),
    );
    assert_eq!(places(&document.faults), [(Some(2), Some("id")), (Some(3), Some("regex"))]);
    assert_eq!(document.rules.len(), 1);
    let document = Document::from_rules(vec![rule("")], Scope::Defaults);
    assert_eq!(
        document.faults[0].to_string(),
        "rule 0 (resource \"r\"), field resource: \"r\" is not allowed; \
         it must be \"*\" here, among default rules"
    );
}

#[test]
fn unknown_fields_are_warned_of_and_null_is_absent() {
    let document = parse(sentinel(",\n\"gmtCreate\": 1700000000,\n\"ip\": null, \"Count\": [\"a\",\n\"b\"]"));
    assert_eq!(document.rules.len(), 1);
    let warnings: Vec<_> = document.warnings.iter().map(|w| w.to_string()).collect();
    assert_eq!(
        warnings,
        [
            "rule 0 (resource \"r\"), field gmtCreate: unknown, not used (line 2)",
            "rule 0 (resource \"r\"), field Count: unknown, not used (line 3)"
        ]
    );
    assert_eq!(document.warnings[1].value.as_deref(), Some(r#"["a",\n"b"]"#));
}

#[test]
fn every_fault_of_every_rule_is_named_in_order() {
    let document = parse(
        r#"[
  {"resource": "stock", "grade": 1, "count": -0.1,
   "timeWindow": 0},
  7,
  {"resource": "price", "strategy": 1, "threshold": "x"},
  {"resource": "price", "grade": 1, "strategy": 1}
]"#,
    );
    let faults = document.into_strict().unwrap_err();
    assert_eq!(
        faults.to_string(),
        "rule 0 (resource \"stock\"), field count: -0.1 is not allowed; \
         it must be a finite number from 0 to 1 (line 2)\n\
         rule 0 (resource \"stock\"), field timeWindow: 0 is not allowed; \
         it must be a whole number from 1 to 9007199254740 (line 3)\n\
         rule 1: 7 is not allowed; it must be an object (line 4)\n\
         rule 2 (resource \"price\"), field threshold: \"x\" is not allowed; \
         it must be a finite number from 0 to 1 (line 5)\n\
         rule 2 (resource \"price\"), field retryTimeoutMs: missing; \
         it must be a whole number from 1 to 9007199254740991 (line 5)\n\
         rule 3 (resource \"price\"): grade together with strategy is not allowed; \
         it must be either in Sentinel's fields or in sentinel-golang's (line 6)"
    );
    assert_eq!(faults.iter().count(), 6);
}

#[test]
fn a_lenient_load_takes_the_valid_rules_and_tells_of_the_others() {
    let text = list(&[sentinel(""), sentinel(r#", "probeNum": 0"#), go(", \"u\": 1")]);
    assert_eq!(parse(&text).into_strict().unwrap_err().len(), 1);
    let (rules, report) = parse(&text).into_lenient().unwrap();
    assert_eq!((rules.len(), report.rules), (2, 2));
    assert_eq!(places(&report.faults), [(Some(1), Some("probeNum"))]);
    assert_eq!(report.warnings.len(), 1);
}

#[test]
fn whatever_a_document_holds_a_fault_is_one_short_line() {
    let nasty = "\\n\\u001b[2J\u{202e}\u{2028}\u{7f}".repeat(10_000);
    let digits = "7".repeat(100_000);
    for text in [
        format!(r#"[{{"resource": "{nasty}"}}]"#),
        sentinel(&format!(r#", "{nasty}": 1"#)),
        sentinel(&format!(r#", "id": {digits}"#)),
        sentinel(&format!(r#", "regex": "{nasty}""#)),
        sentinel(&format!(r#", "regex": [{}]"#, "\n1,".repeat(1000) + "1")),
        sentinel(&format!(r#", "{nasty}": 1, "{nasty}": 1"#)),
        format!(r#"{{"resource": "{}", "grade": -1}}"#, "\\u202e".repeat(300)),
    ] {
        let document = parse(&text);
        let faults = document.faults.iter().map(|fault| fault.to_string());
        let warnings = document.warnings.iter().map(|warning| warning.to_string());
        let lines: Vec<_> = faults.chain(warnings).collect();
        assert!(!lines.is_empty());
        for line in lines {
            assert!(line.chars().count() < 1200, "{line}");
            let printable = |c: char| !c.is_control() && !matches!(c, '\u{2028}' | '\u{202e}');
            assert!(line.chars().all(printable), "{line:?}");
        }
    }
}
