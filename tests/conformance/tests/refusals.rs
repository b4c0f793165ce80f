//! What is not known is refused, and what differs is found.

use std::fs;
use std::path::{Path, PathBuf};

use tripcoil_conformance::{Rust, Suite, check};

/// A folder of its own for one test, with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

fn trace(steps: &str) -> String {
    format!(r#"{{"origin": "a test", "cases": [{{"name": "one", "steps": [{steps}]}}]}}"#)
}

/// A case that passes: one rule, one failed call, a trip, a rejection, a refused load.
const GOOD: &str = r#"
    {"at": 0, "op": "load", "rules": [{"resource": "r", "grade": 1, "count": 0.5, "timeWindow": 2, "minRequestAmount": 1}],
     "events": []},
    {"at": 0, "op": "enter", "id": "a", "resource": "r", "expect": "pass", "states": {"r": ["CLOSED"]}, "events": []},
    {"at": 0.5, "op": "exit", "id": "a", "error": true, "states": {"r": ["OPEN"]},
     "events": [{"rule": 0, "from": "CLOSED", "to": "OPEN", "snapshot": 1}]},
    {"at": 1, "op": "load", "rules": [{"resource": "r"}], "refused": true, "events": []},
    {"at": 2000, "op": "enter", "id": "b", "resource": "r", "expect": "block", "events": []}"#;

#[track_caller]
fn assert_refused(name: &str, file: &str, text: &str, reason: &str) {
    let refusal = Suite::read(&folder(name, &[(file, text)])).unwrap_err();
    assert!(refusal.starts_with(file) && refusal.contains(reason), "{refusal}");
}

/// The good case with one change, and why it is refused.
#[track_caller]
fn assert_change_refused(name: &str, from: &str, to: &str, reason: &str) {
    assert!(GOOD.contains(from), "nothing to change");
    assert_refused(name, "x.json", &trace(&GOOD.replacen(from, to, 1)), reason);
}

#[test]
fn a_folder_without_vectors_is_refused() {
    assert!(Suite::read(Path::new("no/such/folder")).unwrap_err().starts_with("no/such/folder: "));
    assert!(Suite::read(&folder("empty", &[])).unwrap_err().ends_with("no vector file"));
    assert!(Suite::read(&folder("readme", &[("README.md", "")])).unwrap_err().ends_with("no vector file"));
}

#[test]
fn unknown_kinds_of_file_are_refused() {
    assert_refused("kind", "x.yaml", "", "does not end in .json");
    assert_refused("release", "legacy-1.5.0.json", &trace(GOOD), "no legacy check of release 1.5.0");
}

#[test]
fn files_that_are_not_vectors_are_refused() {
    assert_refused("broken", "x.json", r#"{"origin": "a test", "cases": ["#, "EOF");
    assert_refused("cases", "x.json", r#"{"origin": "a test", "cases": []}"#, "no case");
    assert_refused("steps", "x.json", &trace(""), "no step");
    assert_refused(
        "extra",
        "x.json",
        r#"{"origin": "a test", "cases": [], "more": 1}"#,
        "unknown field `more`",
    );
    assert_refused("origin", "x.json", r#"{"origin": {"tool": "x"}, "cases": []}"#, "expected a string");
    let twice = r#"{"name": "one", "steps": []}"#;
    let twice = trace(GOOD).replacen("[", &format!("[{twice},"), 1);
    assert_refused("no-steps", "x.json", &twice, "no step");
}

#[test]
fn two_cases_of_one_name_are_refused() {
    let case = format!(r#"{{"name": "one", "steps": [{GOOD}]}}"#);
    let text = format!(r#"{{"origin": "a test", "cases": [{case}, {case}]}}"#);
    assert_refused("names", "x.json", &text, "the name of an earlier case");
}

#[test]
fn unknown_fields_and_operations_are_refused() {
    assert_change_refused("field", r#""id": "a""#, r#""id": "a", "tag": 1"#, "unknown field `tag`");
    assert_change_refused("op", r#""op": "exit""#, r#""op": "leave""#, "unknown variant `leave`");
    assert_change_refused("state", r#"["OPEN"]"#, r#"["AJAR"]"#, "unknown variant `AJAR`");
    assert_change_refused("verdict", r#""block""#, r#""maybe""#, "unknown variant `maybe`");
    assert_change_refused("time", r#""at": 0.5"#, r#""at": -1"#, "not a time in ms");
    assert_change_refused(
        "stray",
        r#""error": true"#,
        r#""error": true, "expect": "pass""#,
        "`expect` has no meaning",
    );
}

#[test]
fn missing_expectations_are_refused() {
    assert_change_refused("expect", r#""expect": "pass", "#, "", "step 1: no `expect`");
    assert_change_refused(
        "events",
        r#"{"r": ["CLOSED"]}, "events": []"#,
        r#"{"r": ["CLOSED"]}"#,
        "step 1: no `events`",
    );
    assert_change_refused("null", r#""events": []"#, r#""events": null"#, "null");
    assert_change_refused("snapshot", r#", "snapshot": 1"#, "", "missing field `snapshot`");
    assert_change_refused("error", r#""error": true, "#, "", "step 2: no `error`");
    assert_change_refused("entry", r#""id": "a", "error""#, r#""id": "c", "error""#, "no entry \"c\"");
}

#[test]
fn legacy_files_have_neither_states_nor_events() {
    assert_refused("legacy-events", "legacy-1.6.3.json", &trace(GOOD), "`events` has no meaning");
}

#[test]
fn documents_need_rules_or_faults() {
    let case = |fields: &str| {
        format!(r#"{{"origin": "a test", "cases": [{{"name": "one", "text": "[]", {fields}}}]}}"#)
    };
    assert_refused("neither", "rules.json", &case(r#""ok": true"#), "wants `rules`");
    assert_refused("no-fault", "rules.json", &case(r#""ok": false, "faults": []"#), "one of `faults`");
    assert_refused("both", "rules.json", &case(r#""ok": true, "rules": [], "faults": []"#), "wants `rules`");
    assert_refused(
        "rule",
        "rules.json",
        &case(r#""ok": true, "rules": [{"resource": "r"}]"#),
        "without \"grade\"",
    );
    let fault = r#""ok": false, "faults": [{"index": 0}]"#;
    assert_refused("fault", "rules.json", &case(fault), "missing field `field`");
}

/// What `rust` makes of a case: the differences, and how many were counted.
fn differences(name: &str, file: &str, text: &str) -> (Vec<String>, usize) {
    let suite = Suite::read(&folder(name, &[(file, text)])).unwrap();
    let mut found = Vec::new();
    let tally = check(&suite, &mut Rust, |difference| found.push(difference.to_string()));
    (found, tally.differ)
}

#[test]
fn a_case_that_holds_has_no_difference() {
    assert_eq!(differences("good", "x.json", &trace(GOOD)), (Vec::new(), 0));
}

#[test]
fn every_difference_is_told_with_its_place() {
    let changes = [
        (r#""block""#, r#""pass""#, "rust: x.json: one: step 4: answer: wanted Pass, got Block"),
        (
            r#""snapshot": 1"#,
            r#""snapshot": 0.5"#,
            "rust: x.json: one: step 2: events: wanted [0 Closed -> Open Some(0.5)], got [r 0 Closed -> Open Some(1.0)]",
        ),
        (
            r#"{"rule": 0"#,
            r#"{"resource": "s", "rule": 0"#,
            "rust: x.json: one: step 2: events: wanted [s 0 Closed -> Open Some(1.0)], got [r 0 Closed -> Open Some(1.0)]",
        ),
        (r#", "refused": true"#, "", "rust: x.json: one: step 3: answer: wanted Loaded, got Refused"),
    ];
    for (from, to, wanted) in changes {
        let (found, count) = differences("differs", "x.json", &trace(&GOOD.replacen(from, to, 1)));
        assert_eq!((found, count), (vec![wanted.to_owned()], 1), "{to}");
    }
}

#[test]
fn a_refused_load_must_leave_the_states_as_they_were() {
    let (found, _) =
        differences("changed", "x.json", &trace(&GOOD.replacen(r#"["OPEN"]"#, r#"["CLOSED"]"#, 1)));
    let place = |step| format!("rust: x.json: one: step {step}: states: wanted r [Closed], got r [Open]");
    assert_eq!(found, [place(2), place(3)]);
}

#[test]
fn documents_differ_in_a_field_or_a_fault() {
    let rule = r#"{"resource": "r", "grade": 1, "count": 0.5, "timeWindow": 2, "minRequestAmount": 5,
        "slowRatioThreshold": 1.0, "statIntervalMs": 1000, "limitApp": "default", "regex": false,
        "statSlidingWindowBucketCount": 1, "probeNum": 1, "inclusive": false}"#;
    let text = r#"[{\"resource\": \"r\", \"grade\": 1, \"count\": 0.5, \"timeWindow\": 2.0}]"#;
    let case = |text: &str, rest: &str| {
        format!(r#"{{"origin": "a test", "cases": [{{"name": "one", "text": "{text}", {rest}}}]}}"#)
    };
    let of = |text: &str, rest: &str| differences("document", "rules.json", &case(text, rest)).0;

    let valid = |rule: &str| format!(r#""ok": true, "rules": [{rule}]"#);
    assert_eq!(of(text, &valid(rule)), [""; 0]);
    let other = rule.replace(r#""probeNum": 1"#, r#""probeNum": 2"#);
    let wanted = "rust: rules.json: one: rules: wanted rule 0 probeNum 2, got rule 0 probeNum 1";
    assert_eq!(of(text, &valid(&other)), [wanted]);
    let faulty = r#""ok": false, "faults": [{"index": 0, "field": "count"}]"#;
    assert_eq!(of(text, faulty), ["rust: rules.json: one: faults: wanted [rule 0 count], got []"]);
    assert_eq!(
        of("{", &valid(rule)),
        ["rust: rules.json: one: faults: wanted none, got [document as a whole]"]
    );
}
