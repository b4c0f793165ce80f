//! Rules whose numbers are met exactly, and by a little more and less, by short traces.

use arbitrary::{Result, Unstructured};
use serde::Serialize;
use tripcoil_model::ModelRule;

use super::op::Op;

/// The resources of every trace.
pub const NAMES: [&str; 3] = ["a", "b", "ab"];
/// Soon compiled, which `.` is not.
const PATTERNS: [&str; 2] = ["a[ab]*", "b|ab"];
/// One bucket of the shortest.
pub const SHORTEST_WINDOW_MS: u64 = 1;

/// What the regex dialect makes of the two patterns and the three names.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern {
        "a[ab]*" => name.starts_with('a'),
        _ => name != "a",
    }
}

/// A valid list of ordinary rules.
pub(super) fn draw_rules(bytes: &mut Unstructured<'_>) -> Result<Vec<ModelRule>> {
    let many = bytes.int_in_range(0..=5)?;
    let rules = (0..many).map(|_| {
        let target = match bytes.int_in_range(0..=9)? {
            regex @ 8..=9 => (PATTERNS[regex - 8], true),
            exact => (NAMES[exact % NAMES.len()], false),
        };
        draw_rule(bytes, target)
    });
    rules.collect::<Result<_>>().map(valid)
}

/// A valid list of rules for one name.
pub(super) fn draw_rules_for(bytes: &mut Unstructured<'_>, name: &'static str) -> Result<Vec<ModelRule>> {
    let many = bytes.int_in_range(0..=2)?;
    (0..many).map(|_| draw_rule(bytes, (name, false))).collect::<Result<_>>().map(valid)
}

/// One id names one rule of its resource.
fn valid(mut rules: Vec<ModelRule>) -> Vec<ModelRule> {
    let key = |rule: &ModelRule| (rule.id.clone(), rule.resource.clone(), rule.regex);
    for later in 1..rules.len() {
        if rules[..later].iter().any(|rule| key(rule) == key(&rules[later])) {
            rules[later].id = None;
        }
    }
    rules
}

pub(super) fn draw_rule(bytes: &mut Unstructured<'_>, target: (&str, bool)) -> Result<ModelRule> {
    const RATIOS: [f64; 6] = [0.0, 0.25, 1.0 / 3.0, 0.5, 2.0 / 3.0, 1.0];
    let grade = bytes.int_in_range(0..=3)?;
    let count = match grade {
        0 => *bytes.choose(&[0.0, 1.0, 10.0])?,
        1 => *bytes.choose(&RATIOS)?,
        2 => *bytes.choose(&[0.0, 1.0, 1.5, 3.0])?,
        _ => *bytes.choose(&[1.0, 2.0, 2.5, 4.0])?,
    };
    let (buckets, bucket_ms) =
        (bytes.int_in_range(1..=10)?, *bytes.choose(&[SHORTEST_WINDOW_MS, 100, 500, 1000])?);
    Ok(ModelRule {
        id: bytes.choose(&[None, Some("1"), Some("2")])?.map(str::to_owned),
        resource: target.0.to_owned(),
        regex: target.1,
        limit_app: (*bytes.choose(&["default", "default", "app"])?).to_owned(),
        grade,
        count,
        slow_ratio_threshold: *bytes.choose(&RATIOS)?,
        inclusive: bytes.arbitrary()?,
        min_request_amount: *bytes.choose(&[1, 2, 3, 5])?,
        stat_interval_ms: buckets * bucket_ms,
        buckets,
        probe_num: *bytes.choose(&[1, 1, 2, 3])?,
        probe_timeout_ms: *bytes.choose(&[0, 1, 500, 1000, 5000])?,
        time_window_ms: *bytes.choose(&[1000, 2000, 3000])?,
        backoff_factor: *bytes.choose(&[1.0, 1.0006, 1.2, 2.0, 1e300])?,
        max_retry_timeout_ms: *bytes.choose(&[1, 1500, 2500, 10_000, 86_400_000])?,
    })
}

/// The document of these rules in Sentinel's fields.
#[must_use]
pub fn document(rules: &[ModelRule]) -> String {
    serde_json::to_string(&rules.iter().map(Written::from).collect::<Vec<_>>()).expect("text and numbers")
}

/// A rule as Sentinel's fields have it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    id: Option<&'a str>,
    resource: &'a str,
    regex: bool,
    limit_app: &'a str,
    grade: u8,
    count: f64,
    slow_ratio_threshold: f64,
    inclusive: bool,
    min_request_amount: u64,
    stat_interval_ms: u64,
    stat_sliding_window_bucket_count: u64,
    time_window: u64,
    probe_num: u64,
    probe_timeout_ms: u64,
    backoff_factor: f64,
    max_retry_timeout_ms: u64,
}

impl<'a> From<&'a ModelRule> for Written<'a> {
    fn from(rule: &'a ModelRule) -> Self {
        Self {
            id: rule.id.as_deref(),
            resource: &rule.resource,
            regex: rule.regex,
            limit_app: &rule.limit_app,
            grade: rule.grade,
            count: rule.count,
            slow_ratio_threshold: rule.slow_ratio_threshold,
            inclusive: rule.inclusive,
            min_request_amount: rule.min_request_amount,
            stat_interval_ms: rule.stat_interval_ms,
            stat_sliding_window_bucket_count: rule.buckets,
            time_window: rule.time_window_ms / 1000,
            probe_num: rule.probe_num,
            probe_timeout_ms: rule.probe_timeout_ms,
            backoff_factor: rule.backoff_factor,
            max_retry_timeout_ms: rule.max_retry_timeout_ms,
        }
    }
}

/// What an operation on the list of ordinary rules makes of it.
pub(crate) fn edit(rules: &mut Vec<ModelRule>, op: &Op) {
    let many = rules.len();
    match op {
        Op::Load(new) => new.clone_into(rules),
        Op::LoadResource(name, new) => {
            rules.retain(|rule| rule.regex || rule.resource != *name);
            rules.extend_from_slice(new);
        }
        Op::Reverse => rules.reverse(),
        Op::SwapIds(one, other) if many > 0 => {
            let (one, other) = (one.of(many), other.of(many));
            let id = rules[one].id.clone();
            rules[one].id = std::mem::replace(&mut rules[other].id, id);
        }
        Op::Remove(position) if many > 0 => {
            rules.remove(position.of(many));
        }
        Op::Edit(position, numbers) if many > 0 => {
            let rule = &mut rules[position.of(many)];
            // A count is valid for its grade only.
            let count = if numbers.grade == rule.grade { numbers.count } else { rule.count };
            *rule = ModelRule {
                id: rule.id.take(),
                resource: std::mem::take(&mut rule.resource),
                regex: rule.regex,
                grade: rule.grade,
                count,
                stat_interval_ms: rule.stat_interval_ms,
                buckets: rule.buckets,
                ..numbers.clone()
            };
        }
        _ => {}
    }
    *rules = valid(std::mem::take(rules));
}
