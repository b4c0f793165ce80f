//! What makes a document as a whole unreadable.

use tripcoil::Document;

use crate::{assert_refused, parse, sentinel};

/// A document of exactly that many bytes.
fn sized(bytes: usize) -> String {
    let rule = sentinel("");
    format!("{}{rule}", " ".repeat(bytes - rule.len()))
}

#[test]
fn sixteen_mebibytes_are_the_limit() {
    assert_eq!(Document::MAX_BYTES, 16 * 1024 * 1024);
    assert_eq!(parse(sized(Document::MAX_BYTES)).rules.len(), 1);
    assert_refused(sized(Document::MAX_BYTES + 1), None, "more than 16777216 bytes (16 MiB)");
}

/// A valid rule with an unknown field that opens brackets, the rule's own included.
fn nested(depth: usize, opening: &str, closing: &str) -> String {
    let (opening, closing) = (opening.repeat(depth - 1), closing.repeat(depth - 1));
    sentinel(&format!(r#", "x": {opening}1{closing}"#))
}

#[test]
fn sixty_four_brackets_may_be_open() {
    for (opening, closing) in [("[", "]"), (r#"{"a":"#, "}")] {
        let text = nested(64, opening, closing);
        assert_eq!(parse(&text).rules.len(), 1, "{text}");
        assert_refused(nested(65, opening, closing), Some(1), "64 brackets");
    }
    let in_a_list = format!("[\n{}]", nested(63, "[", "]"));
    assert_eq!(parse(&in_a_list).rules.len(), 1);
    let in_a_list = format!("[\n{}]", nested(64, "[", "]"));
    assert_refused(in_a_list, Some(2), "64 brackets");
}

#[test]
fn a_million_brackets_overflow_nothing() {
    assert_refused("[".repeat(1 << 20), Some(1), "64 brackets");
    assert_refused(r#"{"a":"#.repeat(1 << 20), Some(1), "64 brackets");
    assert_refused("]".repeat(1 << 20), Some(1), "JSON");
}

#[test]
fn brackets_within_strings_do_not_count() {
    let brackets = "[{".repeat(100);
    for text in [
        sentinel(&format!(r#", "x": "{brackets}""#)),
        sentinel(&format!(r#", "x": "\"{brackets}""#)),
        sentinel(&format!(r#", "{brackets}": 1"#)),
        sentinel(&format!(r#", "x": "\\", "y": "{brackets}""#)),
    ] {
        assert_eq!(parse(&text).rules.len(), 1, "{text}");
    }
    let after_a_backslash = format!(r#"["\\", {}"#, "[".repeat(64));
    assert_refused(after_a_backslash, Some(1), "64 brackets");
}

#[test]
fn brackets_side_by_side_are_no_depth() {
    let lists = vec!["[]"; 1000].join(",");
    let text = sentinel(&format!(r#", "x": [{lists}]"#));
    assert_eq!(parse(text).rules.len(), 1);
}

#[test]
fn a_repeated_key_is_refused_wherever_it_stands() {
    let twice = sentinel(",\n\"count\": 0.5");
    assert_refused(&twice, Some(2), r#"key "count" is repeated"#);
    assert_refused(format!("[5,\n\n{twice}]"), Some(4), "repeated");
    let escaped = sentinel(", \"\\u0063ount\": 0.5");
    assert_refused(escaped, Some(1), r#"key "count" is repeated"#);
    let nested = sentinel(",\n\"x\": [1, {\n\"a\": 1, \"b\": 2,\n\"a\": 3}]");
    assert_refused(nested, Some(4), r#"key "a" is repeated"#);
    assert_refused(sentinel(r#", "x": null, "x": null"#), Some(1), "repeated");
    assert_refused(r#"[5, [{"a": 1, "a": 1}]]"#, Some(1), "repeated");
    let siblings = sentinel(r#", "x": [{"a": 1}, {"a": 1}], "a": {"a": {"a": 1}}"#);
    assert_eq!(parse(siblings).rules.len(), 1);
}

#[test]
fn one_leading_byte_order_mark_is_skipped() {
    assert_eq!(parse(format!("\u{feff}{}", sentinel(""))).rules.len(), 1);
    assert_refused("\u{feff}\u{feff}[]", Some(1), "JSON");
    assert_refused("[\u{feff}]", Some(1), "JSON");
    assert_refused("\u{feff}", Some(1), "JSON");
}

#[test]
fn a_lone_surrogate_is_refused_wherever_it_stands() {
    for lone in [r"\ud800", r"\udc00", r"\udc00\ud800", r"\ud800\u0041", r"\ud83d"] {
        for text in [
            format!(r#"[{{"resource": "{lone}"}}]"#),
            sentinel(&format!(r#", "x": "{lone}""#)),
            sentinel(&format!(r#", "{lone}": 1"#)),
            sentinel(&format!(r#", "x": [[{{"a": "{lone}"}}]]"#)),
            sentinel(&format!(r#", "x": {{"{lone}": 1}}"#)),
            format!(r#"["{lone}"]"#),
        ] {
            assert_refused(text, Some(1), "JSON");
        }
    }
    let pair = sentinel(r#", "x": "\ud83d\ude00""#);
    assert_eq!(parse(pair).rules.len(), 1);
}

#[test]
fn bytes_that_are_not_utf8_are_refused_with_their_line() {
    assert_refused(b"\xff", Some(1), "UTF-8");
    assert_refused(b"[\n\n\"\xc3\"]", Some(3), "UTF-8");
    assert_refused(b"\"\xed\xa0\x80\"", Some(1), "UTF-8");
    assert_refused([0xff, 0xfe, b'[', 0, b']', 0], Some(1), "UTF-8");
}

#[test]
fn text_that_is_no_json_is_refused_with_its_line() {
    for (text, line) in [
        ("", 1),
        (" \n\n", 3),
        ("nul", 1),
        ("[\n1,\n]", 3),
        ("{\n'a': 1}", 2),
        ("[01]", 1),
        ("[+1]", 1),
        ("[.5]", 1),
        ("[1.]", 1),
        ("[Infinity]", 1),
        ("[-]", 1),
        ("[\"\t\"]", 1),
        ("[\"\\x\"]", 1),
        ("[] []", 1),
        ("[1}", 1),
        ("[\n// comment\n]", 2),
        ("[\0]", 1),
    ] {
        assert_refused(text, Some(line), "JSON");
    }
}

#[test]
fn a_document_is_a_list_or_one_rule() {
    for text in ["null", "true", "\"[]\"", "5", "-1e400"] {
        assert_refused(text, Some(1), "a list of rules, or one rule");
    }
    assert_refused("\n\n5", Some(3), "5 is not allowed");
    assert_eq!(parse("[]").rules, []);
}

#[test]
fn a_fault_of_the_whole_document_stands_alone() {
    let text = format!(r#"[5, {}, {{"a": 1, "a": 1}}, 6]"#, sentinel(", \"u\": 1"));
    let document = parse(&text);
    assert_eq!(document.faults.len(), 1);
    assert_eq!(document.warnings, []);
    assert!(document.clone().into_strict().is_err());
    assert!(document.into_lenient().is_err());
}

#[test]
fn many_rules_on_one_resource_do_not_take_quadratic_time() {
    let rules: Vec<_> =
        (1..=50_000).map(|n| sentinel(&format!(r#", "minRequestAmount": {n}, "id": {n}"#))).collect();
    assert_eq!(parse(format!("[{}]", rules.join(","))).rules.len(), 50_000);
}

#[test]
fn the_patterns_of_a_document_share_64_mebibytes() {
    let pattern = |name: &str| sentinel(r#", "regex": true"#).replace("\"r\"", &format!("\"{name}\""));
    let too_large = "(?:a{1000}){1000}";
    let mut rules = vec![pattern(too_large); 63];
    rules.extend([pattern("last"), pattern("a{15000}"), pattern("over"), sentinel("")]);
    let document = parse(format!("[{}]", rules.join(",")));

    let names: Vec<_> = document.rules.iter().map(|rule| rule.resource()).collect();
    // The last of them may take more than what is left.
    assert_eq!(names, ["last", "a{15000}", "r"]);
    let Some((over, large)) = document.faults.split_last() else { panic!("no faults") };
    assert_eq!(large.len(), 63);
    assert_eq!((over.index, over.field.as_deref()), (Some(65), Some("resource")));
    assert!(over.allowed.contains("64 MiB"), "{over}");
    // What one document has used is not missed by the next.
    assert_eq!(parse(pattern("over")).rules.len(), 1);
}
