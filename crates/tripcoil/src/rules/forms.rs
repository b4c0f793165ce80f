//! The two forms a rule of a document comes in, each read into the same rule.

use super::document::Scope;
use super::fields::{self, Form};
use super::pattern::Budget;
use super::reader::Reader;
use super::rule::{Rule, Strategy, slow_after_ns};

/// Reads one rule. `None` just where the reader has noted a fault.
pub(super) fn read(reader: &mut Reader<'_, '_>, scope: Scope<'_>, patterns: &mut Budget) -> Option<Rule> {
    for member in reader.members() {
        if fields::form_of(&member.name).is_none() {
            reader.warn(member, "unknown, not used");
        }
    }
    match form(reader)? {
        Form::Sentinel => sentinel(reader, scope, patterns),
        Form::Go => go(reader, scope, patterns),
    }
}

/// The form, told by the fields that only one of them has; Sentinel's if there are none. With fields of
/// both it has none, which is noted.
fn form(reader: &mut Reader<'_, '_>) -> Option<Form> {
    let first_of = |form| reader.members().find(|member| fields::form_of(&member.name) == Some(Some(form)));
    match (first_of(Form::Sentinel), first_of(Form::Go)) {
        (Some(sentinel), Some(go)) => reader.whole_rule(
            || format!("{} together with {}", sentinel.name, go.name),
            "either in Sentinel's fields or in sentinel-golang's",
        ),
        (None, Some(_)) => Some(Form::Go),
        (_, None) => Some(Form::Sentinel),
    }
}

fn sentinel(reader: &mut Reader<'_, '_>, scope: Scope<'_>, patterns: &mut Budget) -> Option<Rule> {
    let regex = reader.flag("regex");
    let target = reader.target(regex, scope, patterns);
    let strategy = reader.whole(&fields::GRADE).and_then(Strategy::from_grade);
    let count = reader.real(&fields::count(strategy));
    let retry_timeout_ms = reader.whole(&fields::TIME_WINDOW).map(|s| s * 1000);
    let min_request_amount = reader.whole(&fields::MIN_REQUEST_AMOUNT);
    let slow_ratio = reader.real(&fields::slow_ratio(strategy));
    let stat_interval_ms = reader.whole(&fields::STAT_INTERVAL);
    let limit_app = reader.limit_app();
    let buckets = reader.buckets(&fields::BUCKETS, stat_interval_ms);
    let probe_num = reader.small(&fields::PROBE_NUM);
    let probe_timeout_ms = reader.whole_or(&fields::PROBE_TIMEOUT, retry_timeout_ms.unwrap_or_default());
    let inclusive = reader.flag("inclusive");
    let backoff_factor = reader.real(&fields::BACKOFF_FACTOR);
    let max_retry_timeout_ms = reader.whole(&fields::MAX_RETRY_TIMEOUT);
    let id = reader.id();

    let (strategy, count) = (strategy?, count?);
    Some(Rule {
        target: target?,
        strategy,
        count,
        slow_ratio: slow_ratio?,
        // Sentinel judges response times against a whole number of ms.
        slow_after_ns: slow_after_ns(strategy, count.round()),
        retry_timeout_ms: retry_timeout_ms?,
        min_request_amount: min_request_amount?,
        stat_interval_ms: stat_interval_ms?,
        buckets: buckets?,
        probe_num: probe_num?,
        probe_timeout_ms: probe_timeout_ms?,
        backoff_factor: backoff_factor?,
        max_retry_timeout_ms: max_retry_timeout_ms?,
        inclusive: inclusive?,
        limit_app: limit_app?.map(Into::into),
        id: id?.map(Into::into),
    })
}

fn go(reader: &mut Reader<'_, '_>, scope: Scope<'_>, patterns: &mut Budget) -> Option<Rule> {
    let target = reader.target(Some(false), scope, patterns);
    let strategy = reader.whole(&fields::STRATEGY).and_then(Strategy::from_grade);
    let threshold = reader.real(&fields::threshold(strategy));
    let max_allowed_rt_ms = match strategy {
        Some(Strategy::SlowRatio) => reader.real(&fields::max_allowed_rt()),
        _ => None,
    };
    let retry_timeout_ms = reader.whole(&fields::RETRY_TIMEOUT);
    let min_request_amount = reader.whole(&fields::MIN_REQUEST_AMOUNT);
    let stat_interval_ms = reader.whole(&fields::STAT_INTERVAL);
    let buckets = reader.small(&fields::GO_BUCKETS);
    let probe_num = reader.small(&fields::GO_PROBE_NUM);
    let probe_timeout_ms = reader.whole_or(&fields::PROBE_TIMEOUT, retry_timeout_ms.unwrap_or_default());
    let backoff_factor = reader.real(&fields::BACKOFF_FACTOR);
    let max_retry_timeout_ms = reader.whole(&fields::MAX_RETRY_TIMEOUT);
    let id = reader.id();

    let (strategy, threshold, stat_interval_ms) = (strategy?, threshold?, stat_interval_ms?);
    let (count, slow_ratio) = match strategy {
        Strategy::SlowRatio => (max_allowed_rt_ms?, threshold),
        _ => (threshold, fields::SLOW_RATIO_DEFAULT),
    };
    let divides = |buckets: &u32| *buckets > 0 && stat_interval_ms.is_multiple_of((*buckets).into());
    Some(Rule {
        target: target?,
        strategy,
        count,
        slow_ratio,
        slow_after_ns: slow_after_ns(strategy, count),
        retry_timeout_ms: retry_timeout_ms?,
        min_request_amount: min_request_amount?,
        stat_interval_ms,
        // As sentinel-golang does, which also gives at least one probe.
        buckets: Some(buckets?).filter(divides).unwrap_or(1),
        probe_num: probe_num?.max(1),
        probe_timeout_ms: probe_timeout_ms?,
        backoff_factor: backoff_factor?,
        max_retry_timeout_ms: max_retry_timeout_ms?,
        inclusive: true,
        limit_app: None,
        id: id?.map(Into::into),
    })
}
