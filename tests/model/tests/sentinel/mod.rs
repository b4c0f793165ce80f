//! Valid rules in Sentinel's JSON fields, as the vectors have them, read into the model's.

use regex::Regex;
use serde_json::Value;
use tripcoil_model::ModelRule;

/// The rule with its defaults filled in; an error names what keeps it from being one.
pub(crate) fn rule(json: &Value) -> Result<ModelRule, String> {
    let number = |field: &str, default: Option<f64>| match (&json[field], default) {
        (Value::Null, Some(default)) => Ok(default),
        (value, _) => value.as_f64().ok_or(format!("{field}: {value}")),
    };
    let whole = |field, default| number(field, default).map(|number| number as u64);
    let id = match &json["id"] {
        Value::Null => None,
        Value::String(id) => Some(id.clone()),
        other => Some(other.to_string()),
    };
    let time_window_ms = (number("timeWindow", None)? * 1000.0) as u64;
    if time_window_ms == 0 {
        return Err("timeWindow: 0".to_owned());
    }
    let grade = whole("grade", Some(0.0))? as u8;
    let count = number("count", None)?;
    Ok(ModelRule {
        id,
        resource: json["resource"].as_str().ok_or("no resource")?.to_owned(),
        regex: json["regex"].as_bool().unwrap_or(false),
        limit_app: json["limitApp"].as_str().unwrap_or("default").to_owned(),
        grade,
        count: if grade == 0 { (count + 0.5).floor() } else { count },
        slow_ratio_threshold: number("slowRatioThreshold", Some(1.0))?,
        inclusive: json["inclusive"].as_bool().unwrap_or(false),
        min_request_amount: whole("minRequestAmount", Some(5.0))?,
        stat_interval_ms: whole("statIntervalMs", Some(1000.0))?,
        buckets: whole("statSlidingWindowBucketCount", Some(1.0))?,
        time_window_ms,
        probe_num: whole("probeNum", Some(1.0))?,
        probe_timeout_ms: whole("probeTimeoutMs", Some(time_window_ms as f64))?,
        backoff_factor: number("backoffFactor", Some(1.0))?,
        max_retry_timeout_ms: whole("maxRetryTimeoutMs", Some(86_400_000.0))?,
    })
}

/// Whether a pattern matches a whole name.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|regex| regex.is_match(name))
}
