//! Rules as plain objects, both ways.

use std::time::Duration;

use napi_derive::napi;
use tripcoil::{Document, Faults, RuleBuilder, Scope};

use crate::names;
use crate::report::Fault;
use crate::time::{count, duration, millis};

/// The options of a rule. A number that is none of what its option allows (a negative one, a fraction, NaN
/// for what was no number at all) is refused by the library; `given` has what was really given.
#[napi(object, object_to_js = false)]
pub struct RuleOptions {
    /// The resource, or a pattern.
    pub resource: String,
    /// Whether it is a pattern.
    pub regex: Option<bool>,
    /// What calls are judged by.
    pub strategy: String,
    /// A ratio, or a number of errors.
    pub threshold: Option<f64>,
    /// In ms.
    pub max_allowed_rt: Option<f64>,
    /// In ms.
    pub retry_timeout: Option<f64>,
    /// Calls.
    pub min_request_amount: Option<f64>,
    /// In ms.
    pub stat_interval: Option<f64>,
    /// Buckets.
    pub stat_sliding_window_bucket_count: Option<f64>,
    /// Probes.
    pub probe_num: Option<f64>,
    /// In ms.
    pub probe_timeout: Option<f64>,
    /// A factor.
    pub backoff_factor: Option<f64>,
    /// In ms.
    pub max_retry_timeout: Option<f64>,
    /// Whether the threshold itself trips.
    pub inclusive: Option<bool>,
    /// The rule's name.
    pub id: Option<String>,
    /// How each option was written, for messages.
    pub given: Vec<Given>,
}

/// An option as it was written.
#[napi(object, object_to_js = false)]
pub struct Given {
    /// Its name.
    pub name: String,
    /// Its value, shown.
    pub value: String,
}

/// A valid rule.
#[napi(object, object_from_js = false)]
pub struct Rule {
    /// The resource, or a pattern.
    pub resource: String,
    /// Whether it is a pattern.
    pub regex: bool,
    /// What calls are judged by.
    #[napi(ts_type = "'slowRatio' | 'errorRatio' | 'errorCount' | 'consecutiveErrors'")]
    pub strategy: &'static str,
    /// A ratio, or a number of errors.
    pub threshold: f64,
    /// In ms; for the slow ratio only.
    pub max_allowed_rt: Option<f64>,
    /// In ms.
    pub retry_timeout: f64,
    /// Calls.
    pub min_request_amount: f64,
    /// In ms.
    pub stat_interval: f64,
    /// Buckets.
    pub stat_sliding_window_bucket_count: u32,
    /// Probes.
    pub probe_num: u32,
    /// In ms; 0: for ever.
    pub probe_timeout: f64,
    /// A factor.
    pub backoff_factor: f64,
    /// In ms.
    pub max_retry_timeout: f64,
    /// Whether the threshold itself trips.
    pub inclusive: bool,
    /// The rule's name.
    pub id: Option<String>,
}

impl From<&tripcoil::Rule> for Rule {
    fn from(rule: &tripcoil::Rule) -> Self {
        Self {
            resource: rule.resource().to_owned(),
            regex: rule.regex(),
            strategy: names::of_strategy(rule.strategy()),
            threshold: rule.threshold(),
            max_allowed_rt: rule.max_allowed_rt().map(millis),
            retry_timeout: millis(rule.retry_timeout()),
            min_request_amount: count(rule.min_request_amount()),
            stat_interval: millis(rule.stat_interval()),
            stat_sliding_window_bucket_count: rule.stat_sliding_window_bucket_count(),
            probe_num: rule.probe_num(),
            probe_timeout: rule.probe_timeout().map_or(0.0, millis),
            backoff_factor: rule.backoff_factor(),
            max_retry_timeout: millis(rule.max_retry_timeout()),
            inclusive: rule.inclusive(),
            id: rule.id().map(str::to_owned),
        }
    }
}

/// A whole number; what is none becomes one that every option refuses.
fn whole(number: f64) -> u64 {
    if number >= 0.0 && number.fract() == 0.0 { number as u64 } else { u64::MAX }
}

fn small(number: f64) -> u32 {
    u32::try_from(whole(number)).unwrap_or(u32::MAX)
}

impl RuleOptions {
    /// The rule, or all that is wrong with it.
    fn build(&self) -> Result<tripcoil::Rule, Faults> {
        // JavaScript has refused another strategy already, and wants to know what else is wrong.
        let strategy = names::strategy(&self.strategy).unwrap_or(tripcoil::Strategy::ErrorCount);
        let mut rule = RuleBuilder::new(strategy, self.resource.as_str());
        rule = given(rule, self.regex, RuleBuilder::regex);
        rule = given(rule, self.threshold, RuleBuilder::threshold);
        rule = given(rule, self.max_allowed_rt.map(duration), RuleBuilder::max_allowed_rt);
        rule = given(rule, self.retry_timeout.map(duration), RuleBuilder::retry_timeout);
        rule = given(rule, self.min_request_amount.map(whole), RuleBuilder::min_request_amount);
        rule = given(rule, self.stat_interval.map(duration), RuleBuilder::stat_interval);
        let buckets = self.stat_sliding_window_bucket_count.map(small);
        rule = given(rule, buckets, RuleBuilder::stat_sliding_window_bucket_count);
        rule = given(rule, self.probe_num.map(small), RuleBuilder::probe_num);
        rule = given(rule, self.probe_timeout.map(duration), RuleBuilder::probe_timeout);
        rule = given(rule, self.backoff_factor, RuleBuilder::backoff_factor);
        rule = given(rule, self.max_retry_timeout.map(duration), RuleBuilder::max_retry_timeout);
        rule = given(rule, self.inclusive, RuleBuilder::inclusive);
        rule = given(rule, self.id.as_ref(), RuleBuilder::id);
        rule.build()
    }

    /// A fault of the builder's, in JavaScript's names and with what was really given.
    fn spelled(&self, index: usize, fault: tripcoil::Fault) -> Fault {
        let mut fault = Fault::from(fault);
        let field = fault.field.as_deref().map(camel).unwrap_or_default();
        let given = self.given.iter().find(|given| given.name == field);
        fault.index = u32::try_from(index).ok();
        fault.value = given.map(|given| given.value.clone());
        fault.allowed = fault.allowed.replace("stat_interval", "statInterval");
        fault.field = Some(field);
        fault
    }
}

fn given<T>(rule: RuleBuilder, option: Option<T>, set: fn(RuleBuilder, T) -> RuleBuilder) -> RuleBuilder {
    match option {
        Some(value) => set(rule, value),
        None => rule,
    }
}

/// `retry_timeout` as `retryTimeout`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut out = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        out.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

/// All rules, or everything that is wrong with them, one by one and together.
pub(crate) fn build_all(
    options: &[RuleOptions],
    scope: Scope<'_>,
) -> Result<Vec<tripcoil::Rule>, Vec<Fault>> {
    let (mut rules, mut places, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for (index, options) in options.iter().enumerate() {
        match options.build() {
            Ok(rule) => {
                rules.push(rule);
                places.push(index);
            }
            Err(found) => faults.extend(found.into_iter().map(|fault| options.spelled(index, fault))),
        }
    }
    // A duplicate is none of an error, and is dropped when the rules are loaded.
    let together = Document::from_rules(rules.clone(), scope);
    faults.extend(together.faults.into_iter().map(|fault| {
        let place = fault.index.and_then(|index| places.get(index)).copied();
        match place {
            Some(place) => options[place].spelled(place, fault),
            None => Fault::from(fault),
        }
    }));
    if faults.is_empty() { Ok(rules) } else { Err(faults) }
}

/// So long that it is meant as for ever.
pub(crate) fn limited(time: Option<Duration>) -> f64 {
    time.map_or(f64::INFINITY, millis)
}
