//! The text of a vector file, field by field: what it does not know, it refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};
use tripcoil::Release;

use crate::runner::{Answer, Mode, Op, Scope, State, Step};
use crate::suite::{Case, Content, WantedEvent, WantedStep};

/// What a file's cases are, as its name tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Trace,
    Legacy(Release),
    Rules,
}

impl Kind {
    pub(crate) fn of(name: &str) -> Result<Self, String> {
        let Some(stem) = name.strip_suffix(".json") else {
            return Err("not a vector file: its name does not end in .json".to_owned());
        };
        match stem.strip_prefix("legacy-") {
            Some(release) if release.starts_with("1.6.") => Ok(Self::Legacy(Release::V1_6)),
            Some(release) if release.starts_with("1.7.") => Ok(Self::Legacy(Release::V1_7)),
            Some(release) => {
                Err(format!("no legacy check of release {release}: there are those of 1.6 and 1.7"))
            }
            None if stem == "rules" => Ok(Self::Rules),
            None => Ok(Self::Trace),
        }
    }
}

/// The cases of a file of this kind.
pub(crate) fn cases(kind: Kind, bytes: &[u8]) -> Result<Vec<Case>, String> {
    let cases: Vec<Case> = match kind {
        Kind::Rules => each(bytes, RawDocument::into_case)?,
        _ => each(bytes, |case: RawTrace| case.into_case(kind))?,
    };
    let mut names = BTreeSet::new();
    match cases.iter().find(|case| case.name.trim().is_empty() || !names.insert(&case.name)) {
        Some(case) => Err(format!("case {:?}: blank, or the name of an earlier case", case.name)),
        None if cases.is_empty() => Err("no case".to_owned()),
        None => Ok(cases),
    }
}

fn each<'b, T: Deserialize<'b>>(
    bytes: &'b [u8],
    into_case: impl Fn(T) -> Result<Case, String>,
) -> Result<Vec<Case>, String> {
    let file: RawFile<T> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if file.origin.trim().is_empty() {
        return Err("origin: blank".to_owned());
    }
    file.cases.into_iter().map(into_case).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile<T> {
    /// What made the file.
    origin: String,
    cases: Vec<T>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTrace {
    name: String,
    #[serde(default, rename = "why")]
    _why: String,
    steps: Vec<RawStep>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    #[serde(deserialize_with = "millis")]
    at: Duration,
    op: RawOp,
    #[serde(default, deserialize_with = "present")]
    id: Option<String>,
    #[serde(default, deserialize_with = "present")]
    resource: Option<String>,
    #[serde(default, deserialize_with = "present")]
    error: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    rules: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "present")]
    refused: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    rule: Option<usize>,
    #[serde(default, deserialize_with = "present")]
    mode: Option<Mode>,
    #[serde(default, deserialize_with = "present")]
    expect: Option<Verdict>,
    #[serde(default, deserialize_with = "present")]
    states: Option<BTreeMap<String, Vec<State>>>,
    #[serde(default, deserialize_with = "present")]
    events: Option<Vec<RawEvent>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RawOp {
    Load,
    LoadDefaults,
    LoadResource,
    Enter,
    Exit,
    Cancel,
    Ignore,
    SetMode,
    Reset,
    Exclude,
    Include,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Pass,
    Block,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEvent {
    #[serde(default, deserialize_with = "present")]
    resource: Option<String>,
    rule: usize,
    from: State,
    to: State,
    // Without a default, so that leaving it out is not the same as null.
    #[serde(deserialize_with = "Option::deserialize")]
    snapshot: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    modes: Option<[Mode; 2]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDocument {
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
    fn into_case(self) -> Result<Case, String> {
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

impl RawTrace {
    fn into_case(self, kind: Kind) -> Result<Case, String> {
        let Self { name, steps, .. } = self;
        if steps.is_empty() {
            return Err(format!("case {name:?}: no step"));
        }
        let mut so_far = SoFar::default();
        let (mut script, mut wanted) = (Vec::new(), Vec::new());
        for (position, raw) in steps.into_iter().enumerate() {
            let parted = raw.part(kind, &mut so_far);
            let (step, want) =
                parted.map_err(|reason| format!("case {name:?}: step {position}: {reason}"))?;
            script.push(step);
            wanted.push(want);
        }
        Ok(Case { name, content: Content::Trace { steps: script, wanted } })
    }
}

/// What the steps of a case have come to so far.
#[derive(Default)]
struct SoFar {
    /// The entries, and whether they are open.
    entries: BTreeMap<String, bool>,
    /// States that nothing has happened to since they were wanted.
    states: BTreeMap<String, Vec<State>>,
}

impl RawStep {
    /// What to do, and what must come of it.
    fn part(mut self, kind: Kind, so_far: &mut SoFar) -> Result<(Step, WantedStep), String> {
        let (op, answer) = match self.op {
            RawOp::Enter => self.enter(&mut so_far.entries)?,
            RawOp::Exit => {
                let (id, answer) = self.end(&mut so_far.entries)?;
                (Op::Exit { id, error: need(self.error.take(), "error")? }, answer)
            }
            RawOp::Cancel => {
                let (id, answer) = self.end(&mut so_far.entries)?;
                (Op::Cancel { id }, answer)
            }
            RawOp::Ignore => {
                let (id, answer) = self.end(&mut so_far.entries)?;
                (Op::Ignore { id }, answer)
            }
            RawOp::SetMode | RawOp::Reset | RawOp::Exclude | RawOp::Include => {
                (self.control()?, Answer::Done)
            }
            _ => self.load(kind)?,
        };
        let legacy = matches!(kind, Kind::Legacy(_));
        let events = match legacy {
            true => None,
            false => Some(need(self.events.take(), "events")?.into_iter().map(WantedEvent::from).collect()),
        };
        self.refuse_the_rest(legacy)?;
        let states = so_far.states_after(answer, self.states);
        let step = Step { at: self.at, op, watch: states.keys().cloned().collect() };
        Ok((step, WantedStep { answer, states, events }))
    }

    fn enter(&mut self, entries: &mut BTreeMap<String, bool>) -> Result<(Op, Answer), String> {
        let id = need(self.id.take(), "id")?;
        let answer = match need(self.expect.take(), "expect")? {
            Verdict::Pass if entries.insert(id.clone(), true).is_some() => {
                return Err(format!("{id:?} is an earlier entry's id"));
            }
            Verdict::Pass => Answer::Pass,
            Verdict::Block => Answer::Block,
        };
        Ok((Op::Enter { id, resource: need(self.resource.take(), "resource")? }, answer))
    }

    fn end(&mut self, entries: &mut BTreeMap<String, bool>) -> Result<(String, Answer), String> {
        let id = need(self.id.take(), "id")?;
        match entries.insert(id.clone(), false) {
            Some(true) => Ok((id, Answer::Ended)),
            Some(false) => Ok((id, Answer::EndedBefore)),
            None => Err(format!("no entry {id:?} before this step")),
        }
    }

    fn load(&mut self, kind: Kind) -> Result<(Op, Answer), String> {
        let scope = match (self.op, kind) {
            (RawOp::Load, Kind::Legacy(release)) => Scope::Legacy(release),
            (_, Kind::Legacy(_)) => return Err("the legacy check has one list of rules: `load`".to_owned()),
            (RawOp::LoadDefaults, _) => Scope::Defaults,
            (RawOp::LoadResource, _) => Scope::Resource(need(self.resource.take(), "resource")?),
            _ => Scope::Ordinary,
        };
        let answer = if self.refused.take() == Some(true) { Answer::Refused } else { Answer::Loaded };
        let rules = Value::Array(need(self.rules.take(), "rules")?).to_string();
        Ok((Op::Load { scope, rules }, answer))
    }

    fn control(&mut self) -> Result<Op, String> {
        let resource = need(self.resource.take(), "resource")?;
        Ok(match self.op {
            RawOp::SetMode => {
                let (rule, mode) = (need(self.rule.take(), "rule")?, need(self.mode.take(), "mode")?);
                Op::SetMode { resource, rule, mode }
            }
            RawOp::Reset => Op::Reset { resource, rule: need(self.rule.take(), "rule")? },
            RawOp::Exclude => Op::Exclude { resource },
            _ => Op::Include { resource },
        })
    }

    /// Whatever the operation has left is not its own.
    fn refuse_the_rest(&self, legacy: bool) -> Result<(), String> {
        let left = [
            ("id", self.id.is_some()),
            ("resource", self.resource.is_some()),
            ("error", self.error.is_some()),
            ("rules", self.rules.is_some()),
            ("refused", self.refused.is_some()),
            ("rule", self.rule.is_some()),
            ("mode", self.mode.is_some()),
            ("expect", self.expect.is_some()),
            ("states", legacy && self.states.is_some()),
            ("events", self.events.is_some()),
        ];
        match left.iter().find(|(_, is_left)| *is_left) {
            Some((field, _)) => Err(format!("`{field}` has no meaning in this step")),
            None => Ok(()),
        }
    }
}

impl SoFar {
    /// The states that are wanted after a step: those that it names, and after a refused load also those
    /// from before, as nothing may have changed.
    fn states_after(
        &mut self,
        answer: Answer,
        named: Option<BTreeMap<String, Vec<State>>>,
    ) -> BTreeMap<String, Vec<State>> {
        if answer == Answer::Loaded || (named.is_none() && answer != Answer::Refused) {
            self.states.clear();
        }
        let named = named.unwrap_or_default();
        self.states.extend(named.clone());
        if answer == Answer::Refused { self.states.clone() } else { named }
    }
}

impl From<RawEvent> for WantedEvent {
    fn from(RawEvent { resource, rule, from, to, snapshot, modes }: RawEvent) -> Self {
        Self { resource, rule, from, to, snapshot, modes }
    }
}

fn need<T>(value: Option<T>, field: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("no `{field}`"))
}

/// A field that may be left out, but not be null.
fn present<'d, D: Deserializer<'d>, T: Deserialize<'d>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Milliseconds, in whole nanoseconds: 1, 1.0, 50.4.
fn millis<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Duration, D::Error> {
    let number = Number::deserialize(deserializer)?;
    let time = match (number.as_u64(), number.as_f64()) {
        (Some(ms), _) => Some(Duration::from_millis(ms)),
        (_, Some(ms)) => Duration::try_from_secs_f64(ms / 1000.0).ok(),
        (None, None) => None,
    };
    time.ok_or_else(|| serde::de::Error::custom(format!("{number} is not a time in ms")))
}
