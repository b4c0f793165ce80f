//! Cases of what happens step by step.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

use super::{Kind, present};
use crate::runner::{Answer, Mode, Op, Scope, State, Step};
use crate::suite::{Case, Content, WantedEvent, WantedStep};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTrace {
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

impl RawTrace {
    pub(super) fn into_case(self, kind: Kind) -> Result<Case, String> {
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
