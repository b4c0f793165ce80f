//! Every case of the conformance vectors' `rules.json`.

use serde_json::Value;

use crate::parse;

#[test]
fn every_case_of_the_vectors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/rules.json");
    let text = std::fs::read_to_string(path).unwrap();
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        run(case);
    }
}

fn run(case: &Value) {
    let name = case["name"].as_str().unwrap();
    let document = parse(case["text"].as_str().unwrap());

    let empty = Vec::new();
    let mut wanted: Vec<_> = case["faults"]
        .as_array()
        .unwrap_or(&empty)
        .iter()
        .map(|fault| (fault["index"].as_u64(), fault["field"].as_str()))
        .collect();
    wanted.sort_unstable();
    let mut faults: Vec<_> =
        document.faults.iter().map(|fault| (fault.index.map(|i| i as u64), fault.field.as_deref())).collect();
    faults.sort_unstable();
    assert_eq!(faults, wanted, "{name}");
    assert_eq!(faults.is_empty(), case["ok"].as_bool().unwrap(), "{name}");

    if let Some(rules) = case["rules"].as_array() {
        assert_eq!(document.rules.len(), rules.len(), "{name}");
        for (rule, wanted) in document.rules.iter().zip(rules) {
            let got: Value = serde_json::from_str(&rule.to_json()).unwrap();
            for (field, wanted) in wanted.as_object().unwrap() {
                assert!(equal(&got[field], wanted), "{name}, {field}: {got}");
            }
        }
    }
}

/// Numbers are compared by value.
fn equal(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}
