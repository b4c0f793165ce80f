//! Rules made in code, in sentinel-golang's vocabulary.

use std::fmt;
use std::time::Duration;

use super::fault::{Fault, Faults, shown};
use super::fields::{self, Real, Whole};
use super::name::{self, check_name};
use super::pattern::Budget;
use super::rule::{Rule, Strategy, Target};

impl Rule {
    /// Begins a rule on the ratio of slow calls; `threshold`, `retry_timeout` and
    /// `max_allowed_rt` are required.
    pub fn slow_ratio(resource: impl Into<String>) -> RuleBuilder {
        RuleBuilder::new(Strategy::SlowRatio, resource)
    }

    /// Begins a rule on the ratio of errors; `threshold` and `retry_timeout` are required.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tripcoil::Rule;
    /// let rule = Rule::error_ratio("stock")
    ///     .threshold(0.5)
    ///     .retry_timeout(Duration::from_secs(10))
    ///     .build()?;
    /// assert_eq!(rule.to_string(), r#""stock": error ratio of at least 0.5 in 1s, open for 10s"#);
    /// # Ok::<(), tripcoil::Faults>(())
    /// ```
    pub fn error_ratio(resource: impl Into<String>) -> RuleBuilder {
        RuleBuilder::new(Strategy::ErrorRatio, resource)
    }

    /// Begins a rule on the number of errors in the window; `threshold` and `retry_timeout` are
    /// required.
    pub fn error_count(resource: impl Into<String>) -> RuleBuilder {
        RuleBuilder::new(Strategy::ErrorCount, resource)
    }

    /// Begins a rule on the number of errors in a row; `threshold` and `retry_timeout` are
    /// required. It asks neither `min_request_amount` nor the window.
    pub fn consecutive_errors(resource: impl Into<String>) -> RuleBuilder {
        RuleBuilder::new(Strategy::ConsecutiveErrors, resource)
    }
}

/// Makes a [`Rule`]; begun by [`Rule::error_ratio`] and its like.
///
/// Times are whole milliseconds, except [`max_allowed_rt`](RuleBuilder::max_allowed_rt); no time
/// and no whole number may exceed 2^53 - 1 (ms). Nothing is judged before
/// [`build`](RuleBuilder::build).
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct RuleBuilder {
    strategy: Strategy,
    resource: String,
    regex: bool,
    threshold: Option<f64>,
    retry_timeout: Option<Duration>,
    max_allowed_rt: Option<Duration>,
    min_request_amount: Option<u64>,
    stat_interval: Option<Duration>,
    stat_sliding_window_bucket_count: Option<u32>,
    probe_num: Option<u32>,
    probe_timeout: Option<Duration>,
    backoff_factor: Option<f64>,
    max_retry_timeout: Option<Duration>,
    inclusive: bool,
    id: Option<String>,
}

impl RuleBuilder {
    /// Begins a rule with a strategy that is known only when the program runs.
    pub fn new(strategy: Strategy, resource: impl Into<String>) -> RuleBuilder {
        RuleBuilder {
            strategy,
            resource: resource.into(),
            regex: false,
            threshold: None,
            retry_timeout: None,
            max_allowed_rt: None,
            min_request_amount: None,
            stat_interval: None,
            stat_sliding_window_bucket_count: None,
            probe_num: None,
            probe_timeout: None,
            backoff_factor: None,
            max_retry_timeout: None,
            inclusive: true,
            id: None,
        }
    }

    /// Whether the resource is a pattern of names in the dialect of the `regex` crate, matched
    /// against whole names, which takes at most 1 MiB when compiled; false by default.
    pub fn regex(mut self, regex: bool) -> Self {
        self.regex = regex;
        self
    }

    /// The ratio, from 0 to 1, or the number of errors (for consecutive errors at least 1) at
    /// which the breaker trips; required.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// How long the breaker stays open, at least 1 ms; required.
    pub fn retry_timeout(mut self, time: Duration) -> Self {
        self.retry_timeout = Some(time);
        self
    }

    /// The response time over which a call is slow; required for slow ratio, otherwise not looked
    /// at. It may be finer than a millisecond.
    pub fn max_allowed_rt(mut self, time: Duration) -> Self {
        self.max_allowed_rt = Some(time);
        self
    }

    /// The calls, at least 1, that the window must hold before it is judged; 5 by default.
    pub fn min_request_amount(mut self, calls: u64) -> Self {
        self.min_request_amount = Some(calls);
        self
    }

    /// The length of the window, at least 1 ms; 1 s by default.
    pub fn stat_interval(mut self, time: Duration) -> Self {
        self.stat_interval = Some(time);
        self
    }

    /// The buckets of the window, from 1 to 1000; they must divide its length. 1 by default.
    pub fn stat_sliding_window_bucket_count(mut self, buckets: u32) -> Self {
        self.stat_sliding_window_bucket_count = Some(buckets);
        self
    }

    /// The good probes that close the breaker, from 1 to 65535; 1 by default.
    pub fn probe_num(mut self, probes: u32) -> Self {
        self.probe_num = Some(probes);
        self
    }

    /// How long a probe may be out before others take its place; zero: for ever. By default as
    /// long as the breaker stays open.
    pub fn probe_timeout(mut self, time: Duration) -> Self {
        self.probe_timeout = Some(time);
        self
    }

    /// What each reopening in a row multiplies the open time by, at least 1; 1 by default.
    pub fn backoff_factor(mut self, factor: f64) -> Self {
        self.backoff_factor = Some(factor);
        self
    }

    /// The longest open time that backoff leads to, at least 1 ms; a day by default.
    pub fn max_retry_timeout(mut self, time: Duration) -> Self {
        self.max_retry_timeout = Some(time);
        self
    }

    /// Whether the breaker trips at exactly the threshold, too; true by default, as in
    /// sentinel-golang (in Sentinel's JSON: false). A window without a bad call never trips.
    pub fn inclusive(mut self, inclusive: bool) -> Self {
        self.inclusive = inclusive;
        self
    }

    /// A name for the rule of at most 1024 bytes, under which it keeps its breaker when its numbers are
    /// edited. The number 1 and the text "1" are the same.
    pub fn id(mut self, id: impl fmt::Display) -> Self {
        self.id = Some(id.to_string());
        self
    }

    /// Checks every option and makes the rule.
    ///
    /// # Errors
    ///
    /// Every option that is missing or out of its range, named as its method is.
    pub fn build(self) -> Result<Rule, Faults> {
        let mut check = Check::new(&self.resource);
        let rule = self.check(&mut check);
        Faults::check(check.faults)?;
        Ok(rule.expect("an option is refused only along with a fault"))
    }

    /// The rule, or `None` just where a fault was noted.
    fn check(&self, check: &mut Check<'_>) -> Option<Rule> {
        let strategy = self.strategy;
        let target = check.target(self.regex);
        let threshold = check.real(&fields::threshold(Some(strategy)), self.threshold);
        let (count, slow_after_ns) = match strategy {
            Strategy::SlowRatio => check.response_time(self.max_allowed_rt).unzip(),
            _ => (threshold, Some(0)),
        };
        let retry_timeout_ms = check.millis(&fields::RETRY_TIMEOUT, self.retry_timeout);
        let min_request_amount = check.whole(&fields::MIN_REQUEST_AMOUNT, self.min_request_amount);
        let stat_interval_ms = check.millis(&fields::STAT_INTERVAL, self.stat_interval);
        let buckets = check.buckets(self.stat_sliding_window_bucket_count, stat_interval_ms);
        let probe_num = check.small(&fields::PROBE_NUM, self.probe_num);
        let probe_timeout_ms = match self.probe_timeout {
            None => retry_timeout_ms,
            time => check.millis(&fields::PROBE_TIMEOUT, time),
        };
        let backoff_factor = check.real(&fields::BACKOFF_FACTOR, self.backoff_factor);
        let max_retry_timeout_ms = check.millis(&fields::MAX_RETRY_TIMEOUT, self.max_retry_timeout);
        let slow_ratio = match strategy {
            Strategy::SlowRatio => threshold,
            _ => Some(fields::SLOW_RATIO_DEFAULT),
        };
        let id = check.id(self.id.as_deref());

        Some(Rule {
            target: target?,
            strategy,
            count: count?,
            slow_ratio: slow_ratio?,
            slow_after_ns: slow_after_ns?,
            retry_timeout_ms: retry_timeout_ms?,
            min_request_amount: min_request_amount?,
            stat_interval_ms: stat_interval_ms?,
            buckets: buckets?,
            probe_num: probe_num?,
            probe_timeout_ms: probe_timeout_ms?,
            backoff_factor: backoff_factor?,
            max_retry_timeout_ms: max_retry_timeout_ms?,
            inclusive: self.inclusive,
            limit_app: None,
            id: id?.map(Into::into),
        })
    }
}

/// Judges options, noting what is wrong with them. Every method gives `None` just where it did.
struct Check<'a> {
    resource: &'a str,
    faults: Vec<Fault>,
}

impl<'a> Check<'a> {
    fn new(resource: &'a str) -> Check<'a> {
        Check { resource, faults: Vec::new() }
    }

    fn target(&mut self, regex: bool) -> Option<Target> {
        let resource = self.resource;
        let shown = || Some(format!("\"{}\"", shown(resource)));
        if check_name(resource).is_err() {
            return self.note("resource", shown(), name::ALLOWED);
        }
        if !regex {
            return Some(Target::name(resource));
        }
        match Budget::of_rule().compile(resource) {
            Ok(compiled) => Some(Target::pattern(resource, compiled)),
            Err(allowed) => self.note("resource", shown(), &allowed),
        }
    }

    fn id<'i>(&mut self, option: Option<&'i str>) -> Option<Option<&'i str>> {
        match option {
            Some(id) if id.len() > name::MAX_BYTES => {
                self.note("id", Some(format!("\"{}\"", shown(id))), &fields::text())
            }
            _ => Some(option),
        }
    }

    fn real(&mut self, field: &Real, option: Option<f64>) -> Option<f64> {
        let Some(number) = option.or(field.default) else {
            return self.note(field.option, None, &field.to_string());
        };
        // Adding zero turns -0.0 into 0.0.
        field
            .accept(number + 0.0)
            .or_else(|| self.note(field.option, Some(number.to_string()), &field.to_string()))
    }

    fn whole(&mut self, field: &Whole, option: Option<u64>) -> Option<u64> {
        let number = option.or(field.default)?;
        i64::try_from(number)
            .ok()
            .and_then(|number| field.accept(number))
            .or_else(|| self.note(field.option, Some(number.to_string()), &field.to_string()))
    }

    /// A whole number that, being in range, fits into 32 bits.
    fn small(&mut self, field: &Whole, option: Option<u32>) -> Option<u32> {
        self.whole(field, option.map(u64::from)).and_then(|number| number.try_into().ok())
    }

    fn buckets(&mut self, option: Option<u32>, interval_ms: Option<u64>) -> Option<u32> {
        let field = &fields::BUCKETS;
        let buckets = self.small(field, option)?;
        if interval_ms.is_none_or(|ms| ms.is_multiple_of(u64::from(buckets))) {
            return Some(buckets);
        }
        let allowed = format!("{field}, and divide stat_interval's milliseconds without rest");
        self.note(field.option, Some(buckets.to_string()), &allowed)
    }

    /// A time in whole ms.
    fn millis(&mut self, field: &Whole, option: Option<Duration>) -> Option<u64> {
        let allowed = || format!("{field} of milliseconds");
        let Some(time) = option.or(field.default.map(Duration::from_millis)) else {
            return self.note(field.option, None, &allowed());
        };
        let millis = i64::try_from(time.as_millis()).ok();
        millis
            .filter(|_| time.subsec_nanos().is_multiple_of(1_000_000))
            .and_then(|millis| field.accept(millis))
            .or_else(|| self.note(field.option, Some(format!("{time:?}")), &allowed()))
    }

    /// A limit for response times: in ms, and in ns as far as these go.
    fn response_time(&mut self, option: Option<Duration>) -> Option<(f64, u64)> {
        let field = fields::max_allowed_rt();
        let allowed = || format!("a time of at most {} milliseconds", field.max);
        let Some(time) = option else {
            return self.note(field.option, None, &allowed());
        };
        let nanos = time.as_nanos();
        match field.accept(nanos as f64 / 1e6) {
            Some(millis) => Some((millis, u64::try_from(nanos).unwrap_or(u64::MAX))),
            None => self.note(field.option, Some(format!("{time:?}")), &allowed()),
        }
    }

    fn note<T>(&mut self, option: &str, value: Option<String>, allowed: &str) -> Option<T> {
        self.faults.push(Fault {
            index: None,
            resource: check_name(self.resource).is_ok().then(|| self.resource.to_owned()),
            field: Some(option.to_owned()),
            value,
            allowed: allowed.to_owned(),
            line: None,
        });
        None
    }
}
