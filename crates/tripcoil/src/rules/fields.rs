//! The fields of a rule: how each vocabulary spells them, their defaults, and what is valid.
//!
//! This is the one place for all of it; the readers of the forms and the builder only refer here.

use std::fmt;

use super::name;
use super::number::MAX;
use super::rule::Strategy;

/// Whose fields a rule of a document is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Sentinel's (Java), as its dashboard and data sources store it.
    Sentinel,
    /// sentinel-golang's.
    Go,
}

/// The form that a field of a document belongs to, or that it is shared; `None` if unknown.
pub(super) fn form_of(field: &str) -> Option<Option<Form>> {
    Some(match field {
        "grade" | "count" | "timeWindow" | "slowRatioThreshold" | "limitApp" | "regex" | "inclusive" => {
            Some(Form::Sentinel)
        }
        "strategy" | "threshold" | "retryTimeoutMs" | "maxAllowedRtMs" => Some(Form::Go),
        "id"
        | "resource"
        | "minRequestAmount"
        | "statIntervalMs"
        | "statSlidingWindowBucketCount"
        | "probeNum"
        | "probeTimeoutMs"
        | "backoffFactor"
        | "maxRetryTimeoutMs" => None,
        _ => return None,
    })
}

/// A field that holds a whole number.
pub(super) struct Whole {
    /// In documents.
    pub(super) name: &'static str,
    /// In the typed builder.
    pub(super) option: &'static str,
    /// `None`: required, or the default depends on other fields.
    pub(super) default: Option<u64>,
    pub(super) min: u64,
    pub(super) max: u64,
}

/// A field that holds a finite binary64 number.
pub(super) struct Real {
    pub(super) name: &'static str,
    pub(super) option: &'static str,
    pub(super) default: Option<f64>,
    pub(super) min: f64,
    pub(super) max: f64,
}

pub(super) const GRADE: Whole = whole("grade", "strategy", Some(0), 0, 3);
pub(super) const STRATEGY: Whole = Whole { name: "strategy", ..GRADE };

/// In seconds, which must not exceed the limit in ms.
pub(super) const TIME_WINDOW: Whole = whole("timeWindow", "retry_timeout", None, 1, MAX / 1000);
pub(super) const RETRY_TIMEOUT: Whole = whole("retryTimeoutMs", "retry_timeout", None, 1, MAX);

pub(super) const MIN_REQUEST_AMOUNT: Whole = whole("minRequestAmount", "min_request_amount", Some(5), 1, MAX);
pub(super) const STAT_INTERVAL: Whole = whole("statIntervalMs", "stat_interval", Some(1000), 1, MAX);
pub(super) const BUCKETS: Whole =
    whole("statSlidingWindowBucketCount", "stat_sliding_window_bucket_count", Some(1), 1, 1000);
pub(super) const PROBE_NUM: Whole = whole("probeNum", "probe_num", Some(1), 1, 65_535);
/// The default is the time window.
pub(super) const PROBE_TIMEOUT: Whole = whole("probeTimeoutMs", "probe_timeout", None, 0, MAX);
pub(super) const MAX_RETRY_TIMEOUT: Whole =
    whole("maxRetryTimeoutMs", "max_retry_timeout", Some(86_400_000), 1, MAX);
pub(super) const BACKOFF_FACTOR: Real =
    Real { name: "backoffFactor", option: "backoff_factor", default: Some(1.0), min: 1.0, max: f64::MAX };

/// sentinel-golang takes 0 buckets, and 0 probes, as 1.
pub(super) const GO_BUCKETS: Whole = Whole { min: 0, ..BUCKETS };
pub(super) const GO_PROBE_NUM: Whole = Whole { min: 0, ..PROBE_NUM };

/// Of the legacy check, which has no consecutive errors.
pub(super) const LEGACY_GRADE: Whole = Whole { max: 2, ..GRADE };
pub(super) const RT_SLOW_REQUEST_AMOUNT: Whole = Whole { name: "rtSlowRequestAmount", ..MIN_REQUEST_AMOUNT };

/// Sentinel's `count`: ms, a ratio, or a number of errors. Without a valid strategy, what all of
/// them have in common.
pub(super) fn count(strategy: Option<Strategy>) -> Real {
    let (min, max) = match strategy {
        Some(Strategy::SlowRatio) => (0.0, MAX as f64),
        Some(Strategy::ErrorRatio) => (0.0, 1.0),
        Some(Strategy::ConsecutiveErrors) => (1.0, f64::MAX),
        Some(Strategy::ErrorCount) | None => (0.0, f64::MAX),
    };
    Real { name: "count", option: "threshold", default: None, min, max }
}

/// Sentinel's `slowRatioThreshold`, which other strategies keep, but do not use.
pub(super) fn slow_ratio(strategy: Option<Strategy>) -> Real {
    let (min, max) = match strategy {
        Some(Strategy::SlowRatio) => (0.0, 1.0),
        _ => (f64::MIN, f64::MAX),
    };
    Real { name: "slowRatioThreshold", option: "threshold", default: Some(SLOW_RATIO_DEFAULT), min, max }
}

pub(super) const SLOW_RATIO_DEFAULT: f64 = 1.0;

/// sentinel-golang's `threshold`: the slow ratio, or else what Sentinel calls `count`.
pub(super) fn threshold(strategy: Option<Strategy>) -> Real {
    let range = match strategy {
        Some(Strategy::SlowRatio) => slow_ratio(strategy),
        _ => count(strategy),
    };
    Real { name: "threshold", default: None, ..range }
}

/// In ms; looked at for slow ratio only.
pub(super) fn max_allowed_rt() -> Real {
    Real { name: "maxAllowedRtMs", option: "max_allowed_rt", ..count(Some(Strategy::SlowRatio)) }
}

/// What a text that names nothing must be, for faults: `id`, `limitApp`.
pub(super) fn text() -> String {
    format!("a string of at most {} bytes", name::MAX_BYTES)
}

/// What `limitApp` means when absent or blank.
pub(super) const LIMIT_APP_DEFAULT: &str = "default";

/// The resource of default rules.
pub(super) const DEFAULTS_RESOURCE: &str = "*";

const fn whole(name: &'static str, option: &'static str, default: Option<u64>, min: u64, max: u64) -> Whole {
    Whole { name, option, default, min, max }
}

impl Whole {
    /// The number, if it is in range.
    pub(super) fn accept(&self, number: i64) -> Option<u64> {
        let number = u64::try_from(number).ok()?;
        (self.min..=self.max).contains(&number).then_some(number)
    }
}

impl Real {
    /// The number, if it is finite and in range.
    pub(super) fn accept(&self, number: f64) -> Option<f64> {
        (number.is_finite() && (self.min..=self.max).contains(&number)).then_some(number)
    }
}

/// What is allowed, for faults.
impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {} to {}", self.min, self.max)
    }
}

/// What is allowed, for faults.
impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min == f64::MIN, self.max == f64::MAX) {
            (true, _) => f.write_str("a finite number"),
            (false, true) => write!(f, "a finite number of at least {}", self.min),
            (false, false) => write!(f, "a finite number from {} to {}", self.min, self.max),
        }
    }
}
