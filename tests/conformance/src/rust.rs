//! The crate `tripcoil` in this process, through its public API.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tripcoil::{Breaker, Document, NameError, Outcome, OwnedEntry, Registry, VirtualClock};

use crate::runner::{Answer, Event, Mode, Observation, Op, Reading, Runner, Scope, Step};

/// Runs the Rust library.
pub struct Rust;

impl Runner for Rust {
    fn name(&self) -> &str {
        "rust"
    }

    fn run(&mut self, steps: &[Step]) -> Result<Vec<Observation>, String> {
        let mut run = Run::new();
        steps.iter().map(|step| run.step(step)).collect()
    }

    fn read(&mut self, text: &str) -> Result<Reading, String> {
        let document = Document::parse(text.as_bytes(), tripcoil::Scope::Ordinary);
        let rules = document.rules.iter().map(|rule| serde_json::from_str(&rule.to_json()));
        let faults = document.faults.iter().map(|fault| (fault.index, fault.field.clone()));
        Ok(Reading {
            rules: rules.collect::<Result<_, _>>().map_err(|error| error.to_string())?,
            faults: faults.collect(),
        })
    }
}

/// One case's registry, and what has been seen of it.
struct Run {
    clock: VirtualClock,
    registry: Registry,
    entries: BTreeMap<String, OwnedEntry>,
    told: Arc<Mutex<Vec<Event>>>,
}

impl Run {
    fn new() -> Self {
        let clock = VirtualClock::new();
        let registry = Registry::builder().clock(clock.clone()).build();
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        registry.observe("conformance", move |change| {
            telling.lock().unwrap_or_else(PoisonError::into_inner).push(Event {
                resource: change.resource.to_string(),
                rule: change.position,
                from: change.from.into(),
                to: change.to.into(),
                snapshot: change.snapshot,
                modes: [change.from_mode, change.to_mode].map(Mode::from),
            });
        });
        Self { clock, registry, entries: BTreeMap::new(), told }
    }

    fn step(&mut self, step: &Step) -> Result<Observation, String> {
        self.clock.set(step.at);
        let answer = match &step.op {
            Op::Load { scope, rules } => self.load(scope, rules),
            Op::Enter { id, resource } => self.enter(id, resource)?,
            Op::Exit { id, error: false } => self.end(id, Outcome::Good),
            Op::Exit { id, error: true } => self.end(id, Outcome::Bad),
            Op::Cancel { id } => self.end(id, Outcome::Cancelled),
            Op::Ignore { id } => self.end(id, Outcome::Ignored),
            Op::SetMode { resource, rule, mode } => {
                self.control(resource, *rule, |breaker| breaker.set_mode((*mode).into()))?
            }
            Op::Reset { resource, rule } => self.control(resource, *rule, |breaker| breaker.reset())?,
            Op::Exclude { resource } => done(self.registry.exclude([resource]))?,
            Op::Include { resource } => done(self.registry.include([resource]))?,
        };
        let mut states = BTreeMap::new();
        for name in &step.watch {
            let resource = self.registry.resource(name).map_err(|error| error.to_string())?;
            let breakers = resource.breakers();
            states.insert(name.clone(), breakers.iter().map(|breaker| breaker.state().into()).collect());
        }
        let events = std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Observation { answer, states, events })
    }

    fn load(&self, scope: &Scope, rules: &str) -> Answer {
        let loaded = match scope {
            Scope::Ordinary => self.registry.load_json(rules),
            Scope::Defaults => self.registry.load_defaults_json(rules),
            Scope::Resource(resource) => self.registry.load_resource_json(resource, rules),
            Scope::Legacy(release) => self.registry.load_legacy(*release, rules),
        };
        if loaded.is_ok() { Answer::Loaded } else { Answer::Refused }
    }

    fn control(
        &self,
        resource: &str,
        rule: usize,
        control: impl FnOnce(&Breaker) -> bool,
    ) -> Result<Answer, String> {
        let resource = self.registry.resource(resource).map_err(|error| error.to_string())?;
        match resource.breakers().get(rule).map(control) {
            Some(true) => Ok(Answer::Done),
            _ => Ok(Answer::NoBreaker),
        }
    }

    fn enter(&mut self, id: &str, resource: &str) -> Result<Answer, String> {
        let resource = self.registry.resource(resource).map_err(|error| error.to_string())?;
        let Ok(entry) = resource.enter_owned() else { return Ok(Answer::Block) };
        self.entries.insert(id.to_owned(), entry);
        Ok(Answer::Pass)
    }

    fn end(&self, id: &str, outcome: Outcome) -> Answer {
        match self.entries.get(id).map(|entry| entry.end(outcome)) {
            Some(Ok(())) => Answer::Ended,
            Some(Err(_)) => Answer::EndedBefore,
            None => Answer::NoEntry,
        }
    }
}

fn done(result: Result<(), NameError>) -> Result<Answer, String> {
    result.map(|()| Answer::Done).map_err(|error| error.to_string())
}
