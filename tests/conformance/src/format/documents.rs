//! Cases of rule documents: what a text is read as, or which faults it has.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::present;
use crate::suite::{Case, Content};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDocument {
    name: String,
    #[serde(default, rename = "why")]
    _why: String,
    text: String,
    ok: bool,
    #[serde(default, deserialize_with = "present")]
    rules: Option<Vec<RawRule>>,
    #[serde(default, deserialize_with = "present")]
    faults: Option<Vec<RawFault>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFault {
    #[serde(deserialize_with = "Option::deserialize")]
    index: Option<usize>,
    #[serde(deserialize_with = "Option::deserialize")]
    field: Option<String>,
}

/// A normalised rule: just these fields, and all of them.
#[derive(Deserialize)]
#[serde(try_from = "Map<String, Value>")]
struct RawRule(Map<String, Value>);

const RULE_FIELDS: [&str; 12] = [
    "resource",
    "grade",
    "count",
    "timeWindow",
    "minRequestAmount",
    "slowRatioThreshold",
    "statIntervalMs",
    "limitApp",
    "regex",
    "statSlidingWindowBucketCount",
    "probeNum",
    "inclusive",
];

impl TryFrom<Map<String, Value>> for RawRule {
    type Error = String;

    fn try_from(rule: Map<String, Value>) -> Result<Self, String> {
        let unknown = rule.keys().find(|field| !RULE_FIELDS.contains(&field.as_str()));
        let missing = RULE_FIELDS.iter().find(|field| !rule.contains_key(**field));
        match (unknown, missing) {
            (Some(field), _) => Err(format!("unknown field {field:?} of a normalised rule")),
            (_, Some(field)) => Err(format!("a normalised rule without {field:?}")),
            (None, None) => Ok(Self(rule)),
        }
    }
}

impl RawDocument {
    pub(super) fn into_case(self) -> Result<Case, String> {
        let Self { name, text, ok, rules, faults, .. } = self;
        let content = match (ok, rules, faults) {
            (true, Some(rules), None) => {
                Content::Rules { text, wanted: rules.into_iter().map(|rule| rule.0).collect() }
            }
            (false, None, Some(faults)) if !faults.is_empty() => {
                let places = faults.into_iter().map(|fault| (fault.index, fault.field));
                Content::Faults { text, wanted: places.collect() }
            }
            _ => return Err(format!("case {name:?}: wants `rules` where ok, else one of `faults` or more")),
        };
        Ok(Case { name, content })
    }
}
