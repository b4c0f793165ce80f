//! The validated rule.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use compact_str::CompactString;

use super::fields::LIMIT_APP_DEFAULT;
use super::pattern::Pattern;

/// What a rule judges calls by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// The ratio of calls that took too long. Grade 0 in documents.
    SlowRatio,
    /// The ratio of calls that ended with an error. Grade 1.
    ErrorRatio,
    /// The number of calls in the window that ended with an error. Grade 2.
    ErrorCount,
    /// The number of errors since the last good call. Grade 3, not in Sentinel.
    ConsecutiveErrors,
}

impl Strategy {
    /// The number that stands for it in documents: `grade`, or `strategy`.
    pub fn grade(self) -> u8 {
        match self {
            Strategy::SlowRatio => 0,
            Strategy::ErrorRatio => 1,
            Strategy::ErrorCount => 2,
            Strategy::ConsecutiveErrors => 3,
        }
    }

    pub(super) fn from_grade(grade: u64) -> Option<Strategy> {
        match grade {
            0 => Some(Strategy::SlowRatio),
            1 => Some(Strategy::ErrorRatio),
            2 => Some(Strategy::ErrorCount),
            3 => Some(Strategy::ConsecutiveErrors),
            _ => None,
        }
    }
}

/// In words: `slow ratio`, `error ratio`, `error count`, `consecutive errors`.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Strategy::SlowRatio => "slow ratio",
            Strategy::ErrorRatio => "error ratio",
            Strategy::ErrorCount => "error count",
            Strategy::ConsecutiveErrors => "consecutive errors",
        })
    }
}

/// When a resource's breaker opens, and for how long.
///
/// A rule is valid from the start: it comes from a [`Document`](crate::Document), or from the
/// builder that [`Rule::slow_ratio`] and its like begin. What was not given has its default.
/// Cloning copies numbers and shares the rest.
///
/// Rules are equal when all their fields are, the id included; see [`Rule::same`].
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) target: Target,
    pub(super) strategy: Strategy,
    /// The response time in ms for slow ratio, else the threshold.
    pub(super) count: f64,
    /// The threshold for slow ratio, else kept and not used.
    pub(super) slow_ratio: f64,
    pub(super) slow_after_ns: u64,
    pub(super) retry_timeout_ms: u64,
    pub(super) min_request_amount: u64,
    pub(super) stat_interval_ms: u64,
    pub(super) buckets: u32,
    pub(super) probe_num: u32,
    /// 0: never.
    pub(super) probe_timeout_ms: u64,
    pub(super) backoff_factor: f64,
    pub(super) max_retry_timeout_ms: u64,
    pub(super) inclusive: bool,
    /// None: the default.
    pub(super) limit_app: Option<Arc<str>>,
    pub(super) id: Option<Arc<str>>,
}

impl Rule {
    /// The resource's name, or the pattern of names if [`regex`](Rule::regex) is set.
    pub fn resource(&self) -> &str {
        &self.target.resource
    }

    /// Whether the resource is a pattern.
    pub fn regex(&self) -> bool {
        self.target.pattern.is_some()
    }

    /// Whether the rule's resource is this name, or a pattern that matches the whole of it.
    pub fn matches(&self, name: &str) -> bool {
        match &self.target.pattern {
            Some(pattern) => pattern.matches(name),
            None => self.resource() == name,
        }
    }

    /// What calls are judged by.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// The user's name for the rule, if any.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The ratio, from 0 to 1, or the number of errors, at which the breaker trips.
    pub fn threshold(&self) -> f64 {
        match self.strategy {
            Strategy::SlowRatio => self.slow_ratio,
            _ => self.count,
        }
    }

    /// The response time over which a call is slow; `None` unless the rule judges slow calls.
    ///
    /// From Sentinel's form it is a whole number of ms. Beyond 2^64 - 1 ns it reads as that.
    pub fn max_allowed_rt(&self) -> Option<Duration> {
        (self.strategy == Strategy::SlowRatio).then(|| Duration::from_nanos(self.slow_after_ns))
    }

    /// [`max_allowed_rt`](Rule::max_allowed_rt) in ns: a response time in whole ns is slow if it
    /// is greater. 0 for rules that do not judge slow calls.
    pub fn slow_after_ns(&self) -> u64 {
        self.slow_after_ns
    }

    /// How long the breaker stays open, at least 1 ms: Sentinel's `timeWindow`.
    pub fn retry_timeout(&self) -> Duration {
        Duration::from_millis(self.retry_timeout_ms)
    }

    /// The calls, at least 1, that the window must hold before it is judged; 5 by default.
    pub fn min_request_amount(&self) -> u64 {
        self.min_request_amount
    }

    /// The length of the window, at least 1 ms; 1 s by default.
    pub fn stat_interval(&self) -> Duration {
        Duration::from_millis(self.stat_interval_ms)
    }

    /// [`stat_interval`](Rule::stat_interval) in ms.
    pub fn stat_interval_ms(&self) -> u64 {
        self.stat_interval_ms
    }

    /// The buckets of the window, from 1 to 1000; they divide its length. 1 by default.
    pub fn stat_sliding_window_bucket_count(&self) -> u32 {
        self.buckets
    }

    /// The good probes that close the breaker, from 1 to 65535; 1 by default.
    pub fn probe_num(&self) -> u32 {
        self.probe_num
    }

    /// How long a probe may be out before others take its place; `None`: for ever. By default as
    /// long as [`retry_timeout`](Rule::retry_timeout).
    pub fn probe_timeout(&self) -> Option<Duration> {
        (self.probe_timeout_ms > 0).then(|| Duration::from_millis(self.probe_timeout_ms))
    }

    /// What each reopening in a row multiplies the wait by, at least 1; 1 by default.
    pub fn backoff_factor(&self) -> f64 {
        self.backoff_factor
    }

    /// The longest wait that backoff leads to, at least 1 ms; a day by default.
    pub fn max_retry_timeout(&self) -> Duration {
        Duration::from_millis(self.max_retry_timeout_ms)
    }

    /// Whether the breaker trips at exactly the threshold, too.
    ///
    /// False by default in Sentinel's form, where a threshold must be exceeded; always true in
    /// sentinel-golang's; true by default for rules that are built.
    pub fn inclusive(&self) -> bool {
        self.inclusive
    }

    /// Sentinel's `limitApp`, kept and not used; `default` by default.
    pub fn limit_app(&self) -> &str {
        self.limit_app.as_deref().unwrap_or(LIMIT_APP_DEFAULT)
    }

    /// Whether two rules are the same: all of their fields are equal, the id aside.
    pub fn same(&self, other: &Rule) -> bool {
        self.key() == other.key()
    }

    /// This rule under another id, which a document would refuse beyond 1024 bytes.
    #[must_use]
    pub fn with_id(&self, id: Option<&str>) -> Rule {
        Rule { id: id.map(Into::into), ..self.clone() }
    }

    /// The rule in Sentinel's fields, every one with its value: JSON on one line.
    ///
    /// What Sentinel's form cannot say is printed all the same: an open time of 1500 ms as 1.5,
    /// a limit of 50.4 ms as 50.4.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("text and numbers can be written to memory")
    }

    /// Everything that [`same`](Rule::same) compares.
    ///
    /// Floats go by their bits: none is NaN or -0.0, so these are equal just when they are.
    pub(crate) fn key(&self) -> impl Hash + Eq + use<'_> {
        let integers = [
            self.count.to_bits(),
            self.slow_ratio.to_bits(),
            self.slow_after_ns,
            self.retry_timeout_ms,
            self.min_request_amount,
            self.stat_interval_ms,
            self.buckets.into(),
            self.probe_num.into(),
            self.probe_timeout_ms,
            self.backoff_factor.to_bits(),
            self.max_retry_timeout_ms,
        ];
        let flags = [self.regex(), self.inclusive];
        (self.resource(), &self.limit_app, self.strategy, integers, flags)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.id == other.id && self.same(other)
    }
}

/// Short, for messages: `"stock": error ratio above 0.5 in 1s, open for 10s`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = if self.regex() { "pattern " } else { "" };
        write!(f, "{pattern}{:?}: {}", self.resource(), self.strategy)?;
        if let Some(limit) = self.max_allowed_rt() {
            write!(f, " (over {limit:?})")?;
        }
        let at = match (self.strategy, self.inclusive) {
            (Strategy::ConsecutiveErrors, _) => "of",
            (_, true) => "of at least",
            (_, false) => "above",
        };
        write!(f, " {at} {}", self.threshold())?;
        if self.strategy != Strategy::ConsecutiveErrors {
            write!(f, " in {:?}", self.stat_interval())?;
        }
        write!(f, ", open for {:?}", self.retry_timeout())
    }
}

/// What a rule guards.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) resource: CompactString,
    /// The compiled resource, if that is a pattern.
    pub(super) pattern: Option<Arc<Pattern>>,
}

impl Target {
    pub(super) fn name(name: &str) -> Target {
        Target { resource: name.into(), pattern: None }
    }

    pub(super) fn pattern(pattern: &str, compiled: Pattern) -> Target {
        Target { resource: pattern.into(), pattern: Some(Arc::new(compiled)) }
    }
}

/// The greatest whole number of ns that is not over a limit in ms; 0 unless slow calls are judged.
pub(super) fn slow_after_ns(strategy: Strategy, limit_ms: f64) -> u64 {
    if strategy != Strategy::SlowRatio {
        return 0;
    }
    let ns = limit_ms * 1e6;
    let nearest = ns.round();
    // 1.001 ms is 1,001,000 ns, though the nearest binary64 number falls short of it.
    let meant = (ns - nearest).abs() <= nearest * f64::EPSILON;
    // A cast from float to integer saturates.
    (if meant { nearest } else { ns.floor() }) as u64
}
