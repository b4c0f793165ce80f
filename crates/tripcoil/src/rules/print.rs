//! Rules in Sentinel's fields, as a document would hold them.

use serde::{Serialize, Serializer};

use super::legacy::LegacyRule;
use super::rule::Rule;

/// Every field with its value, defaults filled in; `id` only if the rule has one.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Fields {
            id: self.id(),
            resource: self.resource(),
            regex: self.regex(),
            limit_app: self.limit_app(),
            grade: self.strategy.grade(),
            count: self.count,
            // Exact for whole seconds; else the shortest decimal that reads back as the same.
            time_window: self.retry_timeout_ms as f64 / 1000.0,
            min_request_amount: self.min_request_amount,
            slow_ratio_threshold: self.slow_ratio,
            stat_interval_ms: self.stat_interval_ms,
            stat_sliding_window_bucket_count: self.buckets,
            inclusive: self.inclusive,
            probe_num: self.probe_num,
            probe_timeout_ms: self.probe_timeout_ms,
            backoff_factor: self.backoff_factor,
            max_retry_timeout_ms: self.max_retry_timeout_ms,
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    resource: &'a str,
    regex: bool,
    limit_app: &'a str,
    grade: u8,
    #[serde(serialize_with = "natural")]
    count: f64,
    #[serde(serialize_with = "natural")]
    time_window: f64,
    min_request_amount: u64,
    #[serde(serialize_with = "natural")]
    slow_ratio_threshold: f64,
    stat_interval_ms: u64,
    stat_sliding_window_bucket_count: u32,
    inclusive: bool,
    probe_num: u32,
    probe_timeout_ms: u64,
    #[serde(serialize_with = "natural")]
    backoff_factor: f64,
    max_retry_timeout_ms: u64,
}

/// Every field with its value, defaults filled in.
impl Serialize for LegacyRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        LegacyFields {
            resource: &self.resource,
            grade: self.grade,
            count: self.count,
            time_window: self.time_window_s,
            min_request_amount: self.min_request_amount,
            rt_slow_request_amount: self.rt_slow_request_amount,
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LegacyFields<'a> {
    resource: &'a str,
    grade: u8,
    #[serde(serialize_with = "natural")]
    count: f64,
    time_window: u64,
    min_request_amount: u64,
    rt_slow_request_amount: u64,
}

/// A number as people write it: 10, not 10.0.
fn natural<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    // Up to here every whole number has a float of its own.
    const EXACT: f64 = (1_u64 << 53) as f64;
    if number.fract() == 0.0 && number.abs() < EXACT {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}
