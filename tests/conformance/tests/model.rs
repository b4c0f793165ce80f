//! The model as a second runner: what the comparer finds does not depend on who answers.

#[path = "../../model/tests/sentinel/mod.rs"]
mod sentinel;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tripcoil_conformance::{
    Answer, Event, Mode, Observation, Op, Reading, Runner, Scope, Step, Suite, check, random_cases,
};
use tripcoil_model::{Model, ModelRule, Outcome};

/// Runs the sequential model. It reads no documents and has no legacy check.
struct Sequential;

impl Runner for Sequential {
    fn name(&self) -> &str {
        "model"
    }

    fn run(&mut self, steps: &[Step]) -> Result<Vec<Observation>, String> {
        let mut model = Model::default();
        model.matches = Some(sentinel::matches);
        let mut run = Run { model, entries: BTreeMap::new() };
        steps.iter().map(|step| run.step(step)).collect()
    }

    fn read(&mut self, _: &str) -> Result<Reading, String> {
        Err("reads no documents".to_owned())
    }
}

struct Run {
    model: Model,
    entries: BTreeMap<String, usize>,
}

impl Run {
    fn step(&mut self, step: &Step) -> Result<Observation, String> {
        let now = u64::try_from(step.at.as_nanos()).unwrap();
        let answer = match &step.op {
            Op::Load { scope, rules } => match self.load(scope, rules) {
                Ok(()) => Answer::Loaded,
                Err(_) => Answer::Refused,
            },
            Op::Enter { id, resource } => match self.model.enter(resource, now) {
                Ok(entry) => {
                    self.entries.insert(id.clone(), entry);
                    Answer::Pass
                }
                Err(_) => Answer::Block,
            },
            Op::Exit { id, error: true } => self.end(id, Outcome::Bad, now),
            Op::Exit { id, error: false } => self.end(id, Outcome::Good, now),
            Op::Cancel { id } => self.end(id, Outcome::Cancelled, now),
            Op::Ignore { id } => self.end(id, Outcome::Ignored, now),
            other => self.control(other),
        };
        let mut states = BTreeMap::new();
        for name in &step.watch {
            let breakers = self.model.breakers(name);
            states.insert(name.clone(), breakers.iter().map(|breaker| breaker.state.into()).collect());
        }
        let told = std::mem::take(&mut self.model.events);
        let events = told.into_iter().map(|(resource, rule, (from, to, snapshot))| Event {
            resource,
            rule,
            from: from.0.into(),
            to: to.0.into(),
            snapshot,
            modes: [from.1, to.1].map(Mode::from),
        });
        Ok(Observation { answer, states, events: events.collect() })
    }

    fn load(&mut self, scope: &Scope, rules: &str) -> Result<(), String> {
        let rules: Vec<Value> = serde_json::from_str(rules).map_err(|error| error.to_string())?;
        let rules = rules.iter().map(sentinel::rule).collect::<Result<Vec<ModelRule>, _>>()?;
        match scope {
            Scope::Ordinary => self.model.ordinary = rules,
            Scope::Defaults if rules.iter().any(|rule| rule.resource != "*") => {
                return Err("not *".to_owned());
            }
            Scope::Defaults => self.model.defaults = rules,
            Scope::Resource(resource) => {
                self.model.ordinary.retain(|rule| rule.regex || rule.resource != *resource);
                self.model.ordinary.extend(rules);
            }
            Scope::Legacy(_) => return Err("no legacy check".to_owned()),
        }
        self.model.reload();
        Ok(())
    }

    fn control(&mut self, op: &Op) -> Answer {
        match op {
            Op::SetMode { resource, rule, mode } => {
                self.model.set_mode(resource, *rule, (*mode).into());
            }
            Op::Reset { resource, rule } => {
                let mode = self.model.breakers(resource)[*rule].mode;
                self.model.set_mode(resource, *rule, mode);
            }
            Op::Exclude { resource } => drop(self.model.excluded.insert(resource.clone())),
            Op::Include { resource } => drop(self.model.excluded.remove(resource)),
            other => panic!("{other:?}"),
        }
        self.model.reload();
        Answer::Done
    }

    fn end(&mut self, id: &str, outcome: Outcome, now: u64) -> Answer {
        match self.entries.get(id) {
            Some(entry) if self.model.end(*entry, outcome, None, now) => Answer::Ended,
            Some(_) => Answer::EndedBefore,
            None => Answer::NoEntry,
        }
    }
}

#[test]
fn the_model_agrees_with_every_trace() {
    let mut suite = Suite::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors")).unwrap();
    suite.files.retain(|file| file.name != "rules.json" && !file.name.starts_with("legacy-"));
    let mut differences = Vec::new();
    let tally = check(&suite, &mut Sequential, |difference| differences.push(difference.to_string()));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(tally.files >= 6 && tally.steps > 10_000, "{tally}");
}

/// Steps and documents of random cases say what the model was asked when they were made.
#[test]
fn the_model_agrees_with_random_cases() {
    for case in random_cases(1, 20_000).0 {
        assert_eq!(case.difference(&mut Sequential), Ok(None), "seed {}", case.seed);
    }
}
