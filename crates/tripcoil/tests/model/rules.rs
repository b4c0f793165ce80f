//! Rules whose numbers are met exactly, and by a little more and less, by short traces.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tripcoil_model::ModelRule;

/// The resources of every trace.
pub(crate) const NAMES: [&str; 3] = ["a", "b", "ab"];
const PATTERNS: [&str; 2] = ["a.*", "b|ab"];

/// What the regex dialect makes of the two patterns and the three names.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match pattern {
        "a.*" => name.starts_with('a'),
        _ => name != "a",
    }
}

/// A valid list of ordinary rules.
pub(crate) fn rules() -> impl Strategy<Value = Vec<ModelRule>> {
    vec(rule(target()), 0..5).prop_map(valid)
}

/// A valid list of rules for one name.
pub(crate) fn rules_for(name: &'static str) -> impl Strategy<Value = Vec<ModelRule>> {
    vec(rule(Just((name, false))), 0..3).prop_map(valid)
}

fn target() -> impl Strategy<Value = (&'static str, bool)> {
    let name = |regex| move |name| (name, regex);
    prop_oneof![4 => select(&NAMES[..]).prop_map(name(false)), 1 => select(&PATTERNS[..]).prop_map(name(true))]
}

/// One id names one rule of its resource.
pub(crate) fn valid(mut rules: Vec<ModelRule>) -> Vec<ModelRule> {
    let key = |rule: &ModelRule| (rule.id.clone(), rule.resource.clone(), rule.regex);
    for later in 1..rules.len() {
        if rules[..later].iter().any(|rule| key(rule) == key(&rules[later])) {
            rules[later].id = None;
        }
    }
    rules
}

pub(crate) fn rule(target: impl Strategy<Value = (&'static str, bool)>) -> impl Strategy<Value = ModelRule> {
    let id = select(&[None, Some("1"), Some("2")][..]);
    let numbers = (condition(), window(), probes(), backoff());
    (target, id, numbers, select(&["default", "app"][..])).prop_map(|(target, id, numbers, limit_app)| {
        let ((grade, count, slow_ratio_threshold, inclusive, min_request_amount), window, probes, backoff) =
            numbers;
        ModelRule {
            id: id.map(str::to_owned),
            resource: target.0.to_owned(),
            regex: target.1,
            limit_app: limit_app.to_owned(),
            grade,
            count,
            slow_ratio_threshold,
            inclusive,
            min_request_amount,
            stat_interval_ms: window.0 * window.1,
            buckets: window.0,
            probe_num: probes.0,
            probe_timeout_ms: probes.1,
            time_window_ms: backoff.0,
            backoff_factor: backoff.1,
            max_retry_timeout_ms: backoff.2,
        }
    })
}

/// Grade, count, slow ratio threshold, inclusive, least number of calls.
fn condition() -> impl Strategy<Value = (u8, f64, f64, bool, u64)> {
    const RATIOS: [f64; 6] = [0.0, 0.25, 1.0 / 3.0, 0.5, 2.0 / 3.0, 1.0];
    let graded = prop_oneof![
        select(&[0.0, 1.0, 10.0][..]).prop_map(|count| (0, count)),
        select(&RATIOS[..]).prop_map(|count| (1, count)),
        select(&[0.0, 1.0, 1.5, 3.0][..]).prop_map(|count| (2, count)),
        select(&[1.0, 2.0, 2.5, 4.0][..]).prop_map(|count| (3, count)),
    ];
    let rest = (select(&RATIOS[..]), any::<bool>(), select(&[1, 2, 3, 5][..]));
    (graded, rest)
        .prop_map(|((grade, count), (slow, inclusive, least))| (grade, count, slow, inclusive, least))
}

/// One bucket of the shortest.
pub(crate) const SHORTEST_WINDOW_MS: u64 = 1;

/// Number of buckets, ms of each.
fn window() -> impl Strategy<Value = (u64, u64)> {
    (1..=10_u64, select(&[SHORTEST_WINDOW_MS, 100, 500, 1000][..]))
}

/// Number of probes, ms of their lease.
fn probes() -> impl Strategy<Value = (u64, u64)> {
    (select(&[1, 1, 2, 3][..]), select(&[0, 1, 500, 1000, 5000][..]))
}

/// Ms open, factor, most ms open.
fn backoff() -> impl Strategy<Value = (u64, f64, u64)> {
    let factor = select(&[1.0, 1.0006, 1.2, 2.0, 1e300][..]);
    (select(&[1000, 2000, 3000][..]), factor, select(&[1, 1500, 2500, 10_000, 86_400_000][..]))
}

/// The document of these rules in Sentinel's fields.
pub(crate) fn document(rules: &[ModelRule]) -> String {
    let rule = |rule: &ModelRule| {
        serde_json::json!({
            "id": rule.id,
            "resource": rule.resource,
            "regex": rule.regex,
            "limitApp": rule.limit_app,
            "grade": rule.grade,
            "count": rule.count,
            "slowRatioThreshold": rule.slow_ratio_threshold,
            "inclusive": rule.inclusive,
            "minRequestAmount": rule.min_request_amount,
            "statIntervalMs": rule.stat_interval_ms,
            "statSlidingWindowBucketCount": rule.buckets,
            "timeWindow": rule.time_window_ms / 1000,
            "probeNum": rule.probe_num,
            "probeTimeoutMs": rule.probe_timeout_ms,
            "backoffFactor": rule.backoff_factor,
            "maxRetryTimeoutMs": rule.max_retry_timeout_ms,
        })
    };
    rules.iter().map(rule).collect::<serde_json::Value>().to_string()
}
