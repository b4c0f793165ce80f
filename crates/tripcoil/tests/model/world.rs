//! The library and the model side by side.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::sample::Index;
use tripcoil::{Change, OwnedEntry, Registry, Report, Resource, Totals, VirtualClock};
use tripcoil_model::{Breaker, MS, Mode, Model, ModelRule, Outcome, State};

use crate::ops::Op;
use crate::rules::{NAMES, SHORTEST_WINDOW_MS, document, matches, valid};

pub(crate) struct World {
    now: u64,
    latest: u64,
    clock: VirtualClock,
    registry: Registry,
    told: Arc<Mutex<Vec<Change>>>,
    announced: u64,
    model: Model,
    entries: Vec<(OwnedEntry, usize)>,
}

/// A difference, in words.
type Checked = Result<(), String>;

impl World {
    pub(crate) fn new() -> Self {
        let clock = VirtualClock::new();
        let registry = Registry::builder().clock(clock.clone()).build();
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        registry.observe("test", move |change| telling.lock().unwrap().push(change.clone()));
        let mut model = Model::default();
        model.matches = Some(matches);
        Self { now: 0, latest: 0, clock, registry, told, announced: 0, model, entries: Vec::new() }
    }

    pub(crate) fn step(&mut self, op: Op) -> Checked {
        match op {
            Op::Enter(name) => self.enter(name)?,
            Op::End(entry, outcome, measured) => self.end(entry, outcome, measured)?,
            Op::Advance(by) => self.set_clock(self.now + by),
            Op::GoBack(by) => self.go_back(by),
            Op::AdvanceToDeadline(breaker, offset) => self.advance_to_deadline(breaker, offset),
            Op::AdvanceToMultiple(stretch, before) => {
                self.set_clock((self.now / stretch + 1) * stretch - before);
            }
            Op::SetMode(name, position, mode) => self.set_mode(name, position, Some(mode)),
            Op::Reset(name, position) => self.set_mode(name, position, None),
            Op::ResetAll(name) => {
                self.resource(name).reset();
                for position in 0..self.model.breakers(name).len() {
                    let mode = self.model.breakers(name)[position].mode;
                    self.model.set_mode(name, position, mode);
                }
            }
            reload => {
                self.reload(reload);
                NAMES.into_iter().try_for_each(|name| self.check_rules(name))?;
            }
        }
        self.check_events()?;
        NAMES.into_iter().try_for_each(|name| self.check_breakers(name))
    }

    fn resource(&self, name: &str) -> Resource {
        self.registry.resource(name).unwrap()
    }

    fn set_clock(&mut self, now: u64) {
        self.now = now;
        self.latest = self.latest.max(now);
        self.clock.set(Duration::from_nanos(now));
    }

    /// A clock that goes back further than this is taken for one that went back less, as the core says.
    fn go_back(&mut self, by: u64) {
        const MOST_WINDOWS: u64 = 16_383;
        let earliest = self.latest.saturating_sub(MOST_WINDOWS * SHORTEST_WINDOW_MS * MS);
        self.set_clock(self.now.saturating_sub(by).max(earliest));
    }

    fn advance_to_deadline(&mut self, breaker: Index, offset: i64) {
        let now = self.now;
        let mut waits = Vec::new();
        for name in NAMES {
            waits.extend(self.model.breakers(name).iter().filter_map(|breaker| breaker.retry_after(now)));
        }
        if !waits.is_empty() {
            self.set_clock((now + breaker.get(&waits)).saturating_add_signed(offset));
        }
    }

    fn enter(&mut self, name: &str) -> Checked {
        let resource = self.resource(name);
        match (resource.enter_owned(), self.model.enter(name, self.now)) {
            (Ok(entry), Ok(number)) => self.entries.push((entry, number)),
            (Err(blocked), Err(position)) => {
                let breakers = self.model.breakers(name);
                let by = breakers[position];
                let retry_after = by.retry_after(self.now).map(Duration::from_nanos);
                same("blocked: retry_after", blocked.retry_after(), retry_after)?;
                same("blocked: state", blocked.state(), state(by.state))?;
                same("blocked: mode", blocked.mode(), mode(by.mode))?;
                let rule = resource.breakers()[position].rule().clone();
                same("blocked: rule", blocked.rule(), Some(rule))?;
            }
            (library, model) => return Err(format!("enter {name}: library {library:?}, model {model:?}")),
        }
        Ok(())
    }

    fn end(&mut self, entry: Index, outcome: Outcome, measured: Option<u64>) -> Checked {
        if self.entries.is_empty() {
            return Ok(());
        }
        let (entry, number) = entry.get(&self.entries);
        let library = match outcome {
            Outcome::Good => tripcoil::Outcome::Good,
            Outcome::Bad => tripcoil::Outcome::Bad,
            Outcome::Ignored => tripcoil::Outcome::Ignored,
            Outcome::Cancelled => tripcoil::Outcome::Cancelled,
        };
        let ended = match measured {
            Some(time) => entry.end_with(library, Duration::from_nanos(time)),
            None => entry.end(library),
        };
        same("ended now", ended.is_ok(), self.model.end(*number, outcome, measured, self.now))
    }

    fn set_mode(&mut self, name: &str, position: Index, to: Option<Mode>) {
        let breakers = self.resource(name).breakers();
        if breakers.is_empty() {
            return;
        }
        let position = position.index(breakers.len());
        let before = self.model.breakers(name)[position].mode;
        match to {
            Some(to) => breakers[position].set_mode(mode(to)),
            None => breakers[position].reset(),
        };
        self.model.set_mode(name, position, to.unwrap_or(before));
    }

    fn reload(&mut self, op: Op) {
        let registry = self.registry.clone();
        let mut ordinary = self.model.ordinary.clone();
        let taken = match op {
            Op::LoadDefaults(rules) => {
                self.model.defaults = rules;
                registry.load_defaults_json(document(&self.model.defaults))
            }
            Op::LoadResource(name, rules) => {
                ordinary.retain(|rule| rule.regex || rule.resource != name);
                self.model.ordinary = [ordinary, rules.clone()].concat();
                registry.load_resource_json(name, document(&rules))
            }
            Op::Exclude(name, true) => {
                self.model.excluded.insert(name.to_owned());
                registry.exclude([name]).unwrap();
                Ok(Report::default())
            }
            Op::Exclude(name, false) => {
                self.model.excluded.remove(name);
                registry.include([name]).unwrap();
                Ok(Report::default())
            }
            other => {
                edit(&mut ordinary, other);
                self.model.ordinary = valid(ordinary);
                registry.load_json(document(&self.model.ordinary))
            }
        };
        taken.unwrap();
        self.model.reload();
    }

    fn check_rules(&mut self, name: &str) -> Checked {
        let library = self.resource(name).breakers();
        let model = self.model.breakers(name);
        same("number of rules", library.len(), model.len())?;
        let mut pairs = library.iter().zip(model);
        pairs.try_for_each(|(library, model)| same("rule", library.rule().to_json(), rule_json(&model.rule)))
    }

    fn check_events(&mut self) -> Checked {
        let told = std::mem::take(&mut *self.told.lock().unwrap());
        let wanted = std::mem::take(&mut self.model.events);
        same("number of events", told.len(), wanted.len())?;
        for (change, (resource, position, (from, to, snapshot))) in told.iter().zip(wanted) {
            self.announced += 1;
            same(
                "event: resource and position",
                (&*change.resource, change.position),
                (&*resource, position),
            )?;
            same("event: from", (change.from, change.from_mode), (state(from.0), mode(from.1)))?;
            same("event: to", (change.to, change.to_mode), (state(to.0), mode(to.1)))?;
            same("event: snapshot", change.snapshot, snapshot)?;
            same("event: at", change.at, Duration::from_nanos(self.now))?;
            same("event: sequence", change.sequence, self.announced)?;
        }
        Ok(())
    }

    fn check_breakers(&mut self, name: &str) -> Checked {
        // The library derives what has passed from what has ended.
        let at_rest = self.entries.iter().all(|(entry, _)| entry.has_ended());
        let library = self.resource(name).breakers();
        let model = self.model.breakers(name);
        same(&format!("breakers of {name}"), library.len(), model.len())?;
        for (position, (library, model)) in library.iter().zip(model).enumerate() {
            let at = |what: &str| format!("{name} {position}: {what}");
            let seen = library.snapshot();
            same(&at("id"), library.rule().id(), model.rule.id.as_deref())?;
            same(&at("state and mode"), (seen.state, seen.mode), (state(model.state), mode(model.mode)))?;
            let retry_after = model.retry_after(self.now).map(Duration::from_nanos);
            same(&at("retry_after"), seen.retry_after, retry_after)?;
            let (bad, total) = model.counts(self.now);
            same(&at("good and bad"), (seen.good, seen.bad), (total - bad, bad))?;
            // Only a closed breaker's run decides anything.
            let runs = model.rule.grade == 3 && model.state == State::Closed;
            let run = if runs { model.run } else { 0 };
            same(&at("run"), seen.run, run)?;
            let mut wanted = totals(model);
            if !at_rest {
                wanted.passed = seen.totals.passed;
            }
            same(&at("totals"), seen.totals, wanted)?;
        }
        Ok(())
    }
}

fn edit(rules: &mut Vec<ModelRule>, op: Op) {
    match op {
        Op::Load(new) => *rules = new,
        Op::Reverse => rules.reverse(),
        Op::SwapIds(one, other) if !rules.is_empty() => {
            let (one, other) = (one.index(rules.len()), other.index(rules.len()));
            let id = rules[one].id.clone();
            rules[one].id = std::mem::replace(&mut rules[other].id, id);
        }
        Op::Remove(position) if !rules.is_empty() => {
            rules.remove(position.index(rules.len()));
        }
        Op::Edit(position, numbers) if !rules.is_empty() => {
            let position = position.index(rules.len());
            let rule = &mut rules[position];
            // A count is valid for its grade only.
            let count = if numbers.grade == rule.grade { numbers.count } else { rule.count };
            *rule = ModelRule {
                id: rule.id.take(),
                resource: rule.resource.clone(),
                regex: rule.regex,
                grade: rule.grade,
                count,
                stat_interval_ms: rule.stat_interval_ms,
                buckets: rule.buckets,
                ..numbers
            };
        }
        _ => {}
    }
}

/// The rule as the library prints it.
fn rule_json(rule: &ModelRule) -> String {
    let scope = if rule.resource == "*" { tripcoil::Scope::Defaults } else { tripcoil::Scope::Ordinary };
    let text = document(std::slice::from_ref(rule));
    tripcoil::Document::parse(text.as_bytes(), scope).rules[0].to_json()
}

fn totals(breaker: &Breaker) -> Totals {
    let total = |what| breaker.totals.get(what).copied().unwrap_or(0);
    Totals {
        passed: total("passed"),
        blocked: total("blocked"),
        good: total("good"),
        bad: total("bad"),
        ignored: total("ignored"),
        cancelled: total("cancelled"),
        late: total("late"),
        observed: total("observed"),
    }
}

fn same<T: PartialEq + Debug>(what: &str, library: T, model: T) -> Checked {
    if library == model { Ok(()) } else { Err(format!("{what}: library {library:?}, model {model:?}")) }
}

fn state(state: State) -> tripcoil::State {
    match state {
        State::Closed => tripcoil::State::Closed,
        State::Open => tripcoil::State::Open,
        State::HalfOpen => tripcoil::State::HalfOpen,
    }
}

fn mode(mode: Mode) -> tripcoil::Mode {
    match mode {
        Mode::Normal => tripcoil::Mode::Normal,
        Mode::ForcedOpen => tripcoil::Mode::ForcedOpen,
        Mode::Disabled => tripcoil::Mode::Disabled,
        Mode::ObserveOnly => tripcoil::Mode::ObserveOnly,
    }
}
