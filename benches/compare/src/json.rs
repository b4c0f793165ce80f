//! A document of many rules, beside what serde_json takes to read the same text as a value.

use std::time::Instant;

use serde_json::Value;
use tripcoil::Registry;
use tripcoil_cases::name;

use crate::rounds::progress;
use crate::samples::Results;

/// Loads, and loads again.
pub(crate) fn measure(rounds: u32, results: &mut Results) {
    let text = document(RULES);
    let loaded = Registry::new();
    loaded.load_json(&text).expect("a document");
    let in_use = Registry::new();
    in_use.load_json(&text).expect("a document");
    for i in 0..RULES {
        in_use.resource(&name(i)).expect("a name");
    }
    for round in 1..=rounds {
        progress("JSON", round, rounds);
        results.push("json/serde_json, into a Value", seconds(|| serde_json::from_str::<Value>(&text)));
        let fresh = Registry::new();
        results.push("json/tripcoil, load", seconds(|| fresh.load_json(&text)));
        results.push("json/tripcoil, unchanged reload", seconds(|| loaded.load_json(&text)));
        results
            .push("json/tripcoil, unchanged reload, 100,000 resources", seconds(|| in_use.load_json(&text)));
    }
}

/// A rule for each of so many names.
fn document(rules: usize) -> String {
    let rule = |i| {
        let name = name(i);
        format!(
            r#"{{"resource": "{name}", "grade": 1, "count": 0.5, "timeWindow": 10, "minRequestAmount": 5, "statIntervalMs": 10000, "statSlidingWindowBucketCount": 10}}"#
        )
    };
    format!("[{}]", (0..rules).map(rule).collect::<Vec<_>>().join(",\n"))
}

/// How long it takes to come to a result, in s; dropping that is not counted.
fn seconds<T, E: std::fmt::Debug>(work: impl FnOnce() -> Result<T, E>) -> f64 {
    let began = Instant::now();
    let result = work();
    let took = began.elapsed().as_secs_f64();
    result.expect("a document");
    took
}

const RULES: usize = 100_000;
