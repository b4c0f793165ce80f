//! What makes a document as a whole unreadable.

use tripcoil::{Document, Limits, Registry, Scope};

use crate::{assert_refused, parse, sentinel};

fn list<T: AsRef<str>>(rules: &[T]) -> String {
    let rules: Vec<&str> = rules.iter().map(AsRef::as_ref).collect();
    format!("[{}]", rules.join(","))
}

/// A valid rule for the names that a pattern matches.
fn pattern(pattern: &str) -> String {
    sentinel(r#", "regex": true"#).replace("\"r\"", &format!("\"{pattern}\""))
}

/// A document of exactly that many bytes.
fn sized(bytes: usize) -> String {
    let rule = sentinel("");
    format!("{}{rule}", " ".repeat(bytes - rule.len()))
}

#[test]
fn sixteen_mebibytes_are_the_limit() {
    assert_eq!(parse(sized(16 << 20)).rules.len(), 1);
    assert_refused(sized((16 << 20) + 1), None, "more than 16777216 bytes");
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
    let closed = |opening: &str, closing: &str| {
        let times = 1 << 20;
        format!("{}1{}", opening.repeat(times), closing.repeat(times))
    };
    assert_refused(closed("[", "]"), Some(1), "64 brackets");
    assert_refused(closed(r#"{"a":"#, "}"), Some(1), "64 brackets");
    assert_refused("[".repeat(1 << 20), Some(1), "JSON");
    assert_refused(r#"{"a":"#.repeat(1 << 20), Some(1), "JSON");
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
    let after_a_backslash = format!(r#"["\\", {}{}]"#, "[".repeat(64), "]".repeat(64));
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
    let too_large = "(?:a{1000}){1000}";
    let mut rules = vec![pattern(too_large); 63];
    rules.extend([pattern("last"), pattern(too_large), pattern("over"), sentinel("")]);
    let document = parse(list(&rules));

    let names: Vec<_> = document.rules.iter().map(|rule| rule.resource()).collect();
    assert_eq!(names, ["last", "r"]);
    let Some((over, large)) = document.faults.split_last() else { panic!("no faults") };
    assert_eq!(large.len(), 64);
    assert_eq!((over.index, over.field.as_deref()), (Some(65), Some("resource")));
    assert!(over.allowed.contains("67108864 bytes"), "{over}");
    // What one document has used is not missed by the next.
    assert_eq!(parse(pattern("over")).rules.len(), 1);
}

#[test]
fn classes_that_take_time_count_though_nothing_is_left_of_them() {
    let slow = pattern(&format!("a{}", r"\\PL{0}".repeat(60)));
    let document = parse(list(&vec![slow; 100]));
    // Each counts as 60 times 16 KiB, so the budget is used up by the 69th.
    let first = document.faults.first().and_then(|fault| fault.index);
    assert_eq!(first, Some(69), "{:?}", document.faults.first());
}

#[test]
fn sets_whose_cases_take_time_count_though_nothing_is_left_of_them() {
    let mut limits = Limits::default();
    limits.patterns_bytes = 4 << 20;
    // Each takes some milliseconds: every character of the set is looked up.
    for set in [r"[!-\\x{10fff0}]", "[[^a]b]", r"[\\Db]", r"\\p{Any}"] {
        let slow = pattern(&format!("(?i:{})", format!("{set}{{0}}").repeat(15)));
        let text = list(&vec![slow; 10]);
        let document = Document::parse_within(text.as_bytes(), Scope::Ordinary, &limits);
        // Each counts as 15 times 64 KiB.
        let first = document.faults.first().and_then(|fault| fault.index);
        assert_eq!(first, Some(5), "{set}: {:?}", document.faults.first());
        let more = pattern(&format!("(?i:{})", format!("{set}{{0}}").repeat(17)));
        assert_eq!(parse(more).faults.len(), 1, "{set}");
    }
    // A bracket looks up again what the ones within it hold.
    let nested = format!("(?i){}[^a]{}{{0}}", "[".repeat(40), "b]".repeat(40));
    assert_eq!(parse(pattern(&nested)).faults.len(), 1);
    // Where the case counts, it is not looked up.
    assert_eq!(parse(pattern(&r"[!-\\x{10fff0}]{0}".repeat(40))).faults, []);
}

#[test]
fn the_first_thousand_faults_and_warnings_are_listed() {
    let document = parse(list(&vec!["{}"; 1001]));
    let Some((last, listed)) = document.faults.split_last() else { panic!("no faults") };
    assert_eq!(listed.len(), 1000);
    let more = "document: it must be mended in 2003 more places, which are not listed";
    assert_eq!(last.to_string(), more);

    let fields: String = (0..1002).map(|n| format!(r#", "x{n}": 1"#)).collect();
    let document = parse(sentinel(&fields));
    assert_eq!((document.rules.len(), document.faults.len(), document.warnings.len()), (1, 0, 1001));
    let last = document.warnings.last().map(ToString::to_string);
    assert_eq!(last.as_deref(), Some("document: 2 more warnings are not listed"));
}

#[test]
fn a_registry_may_have_limits_of_its_own() {
    let registry = Registry::new();
    assert_eq!(registry.limits(), Limits::default());
    let refused = |text: &str| registry.load_json(text).unwrap_err().to_string();
    let mut limits = Limits::default();
    limits.rules = 2;
    limits.document_bytes = 300;
    limits.listed = 1;
    limits.pattern_bytes = 20 << 10;
    limits.patterns_bytes = 1;
    registry.set_limits(limits);
    assert_eq!(registry.limits(), limits);
    assert!(registry.load_json(list(&[sentinel(""), sentinel("")])).is_ok());
    assert!(
        refused("[1, 2, 3]").contains("a list of 3 rules is not allowed; it must be a list of at most 2")
    );
    assert!(refused(&" ".repeat(301)).contains("more than 300 bytes"));
    assert_eq!(refused("[1, 2]").lines().count(), 2);
    assert!(refused(&pattern("a{5000}")).contains("at most 20480 bytes when compiled"));
    assert!(refused(&list(&[pattern("a"), pattern("b")])).contains("used up the 1 bytes"));
    assert!(registry.load_legacy(tripcoil::Release::V1_7, "[1, 2, 3]").is_err());
    // Limits judge what comes: what is loaded stays.
    assert_eq!(registry.rules().len(), 1);

    // Ten megabytes are no trouble where they are wanted.
    limits.document_bytes = 64 << 20;
    limits.rules = 300_000;
    registry.set_limits(limits);
    let many: Vec<_> = (0..250_000).map(|n| sentinel("").replace("\"r\"", &format!("\"r{n}\""))).collect();
    let text = list(&many);
    assert!(text.len() > 16 << 20, "{}", text.len());
    assert_eq!(registry.load_json(&text).unwrap().rules, 250_000);
    assert!(Document::parse(text.as_bytes(), Scope::Ordinary).unreadable);
}

#[test]
fn limits_may_be_nothing_or_have_no_end() {
    let registry = Registry::new();
    let mut limits = Limits::default();
    (limits.document_bytes, limits.rules, limits.listed) = (usize::MAX, usize::MAX, usize::MAX);
    (limits.pattern_bytes, limits.patterns_bytes) = (usize::MAX, usize::MAX);
    registry.set_limits(limits);
    assert_eq!(registry.load_json(list(&[pattern("a"), sentinel("")])).unwrap().rules, 2);
    assert_eq!(registry.load_json("[1, {}]").unwrap_err().len(), 4);

    let refused = |limits: Limits, text: &str| {
        registry.set_limits(limits);
        registry.load_json(text).unwrap_err().to_string()
    };
    (limits.listed, limits.pattern_bytes) = (0, 0);
    assert_eq!(refused(limits, "[1]"), "document: it must be mended in 1 more places, which are not listed");
    limits.listed = 1;
    assert!(refused(limits, &pattern("a")).contains("takes at most 0 bytes when compiled"));
    (limits.pattern_bytes, limits.patterns_bytes) = (usize::MAX, 0);
    assert!(refused(limits, &pattern("a")).contains("used up the 0 bytes"));
    limits.rules = 0;
    assert!(
        refused(limits, "[1]").contains("a list of 1 rules is not allowed; it must be a list of at most 0")
    );
    assert_eq!(registry.load_json("[]").unwrap().rules, 0);
    limits.document_bytes = 0;
    assert!(refused(limits, "[]").contains("more than 0 bytes"));
}

#[test]
fn the_texts_of_a_rule_have_1024_bytes() {
    for field in ["id", "limitApp"] {
        let text = |bytes| sentinel(&format!(r#", "{field}": "{}""#, "i".repeat(bytes)));
        assert_eq!(parse(text(1024)).rules.len(), 1, "{field}");
        let [fault] = &parse(text(1025)).faults[..] else { panic!("{field}") };
        assert_eq!(fault.field.as_deref(), Some(field));
        assert!(fault.allowed.starts_with("a string of at most 1024 bytes"), "{fault}");
        assert!(fault.to_string().len() < 300, "{fault}");
    }
    let build = |bytes| {
        let rule = tripcoil::Rule::error_count("r").threshold(1.0).id("i".repeat(bytes));
        rule.retry_timeout(std::time::Duration::from_secs(1)).build()
    };
    assert!(build(1024).is_ok());
    let fault = build(1025).unwrap_err().to_string();
    assert!(
        fault.contains("field id") && fault.ends_with("it must be a string of at most 1024 bytes"),
        "{fault}"
    );
}

#[test]
fn the_document_that_is_loaded_already_is_judged_by_new_limits() {
    let registry = Registry::new();
    let text = list(&[pattern("a"), pattern("b"), sentinel(r#", "u": 1, "v": 1"#)]);
    assert_eq!(registry.load_json(&text).unwrap().warnings.len(), 2);
    let set = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        registry.set_limits(limits);
    };
    for narrower in [
        |limits: &mut Limits| limits.document_bytes = 10,
        |limits: &mut Limits| limits.rules = 2,
        |limits: &mut Limits| limits.patterns_bytes = 1,
    ] {
        set(narrower);
        assert!(registry.load_json(&text).is_err());
        assert_eq!(registry.rules().len(), 3);
    }
    set(|limits| limits.listed = 1);
    let last = registry.load_json_lenient(&text).unwrap().warnings.pop().map(|last| last.to_string());
    assert_eq!(last.as_deref(), Some("document: 1 more warnings are not listed"));
}
