//! The library and the model side by side.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tripcoil::{Change, OwnedEntry, Registry, Resource, Totals, VirtualClock};
use tripcoil_model::{Breaker, Mode, Model, Outcome, State};

use super::course::Course;
use super::library::{self, mode, state};
use super::op::{Op, Pick, Trace};
use super::rules::{NAMES, document};

/// A registry and a model that the same happens to.
pub struct World {
    course: Course,
    clock: VirtualClock,
    registry: Registry,
    told: Arc<Mutex<Vec<Change>>>,
    announced: u64,
    entries: Vec<(OwnedEntry, usize)>,
}

/// A difference, in words.
type Checked = Result<(), String>;

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// One without rules, at time 0.
    #[must_use]
    pub fn new() -> Self {
        let clock = VirtualClock::new();
        let registry = Registry::builder().clock(clock.clone()).build();
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        registry.observe("test", move |change| telling.lock().unwrap().push(change.clone()));
        Self { course: Course::default(), clock, registry, told, announced: 0, entries: Vec::new() }
    }

    /// Does a whole trace in a world of its own.
    ///
    /// # Errors
    /// The first difference, and at which operation.
    pub fn run(Trace(ops): &Trace) -> Checked {
        let mut world = Self::new();
        for (position, op) in ops.iter().enumerate() {
            let at = |difference| format!("at operation {position}, {op:?}: {difference}");
            world.step(op).map_err(at)?;
        }
        Ok(())
    }

    /// Does one thing to both.
    ///
    /// # Errors
    /// The first difference.
    pub fn step(&mut self, op: &Op) -> Checked {
        match *op {
            Op::Enter(name) => self.enter(name)?,
            Op::End(entry, outcome, measured) => self.end(entry, outcome, measured)?,
            Op::SetMode(name, position, mode) => self.set_mode(name, position, Some(mode), 1),
            Op::Reset(name, position, times) => self.set_mode(name, position, None, times),
            Op::ResetAll(name) => {
                self.resource(name).reset();
                self.model().reset(name);
            }
            _ if self.course.pass_time(op) => self.clock.set(Duration::from_nanos(self.course.now())),
            _ => {
                self.reload(op);
                NAMES.into_iter().try_for_each(|name| self.check_rules(name))?;
            }
        }
        self.check_events()?;
        NAMES.into_iter().try_for_each(|name| self.check_breakers(name))
    }

    fn model(&mut self) -> &mut Model {
        &mut self.course.model
    }

    fn resource(&self, name: &str) -> Resource {
        self.registry.resource(name).unwrap()
    }

    fn enter(&mut self, name: &str) -> Checked {
        let (resource, now) = (self.resource(name), self.course.now());
        match (resource.enter_owned(), self.model().enter(name, now)) {
            (Ok(entry), Ok(number)) => self.entries.push((entry, number)),
            (Err(blocked), Err(position)) => {
                let breakers = self.course.model.breakers(name);
                let by = breakers[position];
                let retry_after = by.retry_after(now).map(Duration::from_nanos);
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

    fn end(&mut self, entry: Pick, outcome: Outcome, measured: Option<u64>) -> Checked {
        let Some(position) = entry.entry(&self.entries, |(entry, _)| !entry.has_ended()) else {
            return Ok(());
        };
        let (entry, number) = &self.entries[position];
        let library = library::outcome(outcome);
        let ended = match measured {
            Some(time) => entry.end_with(library, Duration::from_nanos(time)),
            None => entry.end(library),
        };
        same("ended now", ended.is_ok(), self.course.model.end(*number, outcome, measured, self.course.now()))
    }

    /// Sets a breaker's mode, or resets it, so many times.
    fn set_mode(&mut self, name: &str, position: Pick, to: Option<Mode>, times: u32) {
        let Some(position) = self.course.breaker(name, position) else { return };
        let breaker = &self.resource(name).breakers()[position];
        for _ in 0..times {
            match to {
                Some(to) => breaker.set_mode(mode(to)),
                None => breaker.reset(),
            };
            let before = self.model().breakers(name)[position].mode;
            self.model().set_mode(name, position, to.unwrap_or(before));
        }
    }

    fn reload(&mut self, op: &Op) {
        self.course.replace_rules(op);
        let registry = &self.registry;
        match op {
            Op::Exclude(name, true) => registry.exclude([*name]).unwrap(),
            Op::Exclude(name, false) => registry.include([*name]).unwrap(),
            Op::LoadDefaults(rules) => drop(registry.load_defaults_json(document(rules)).unwrap()),
            Op::LoadResource(name, rules) => {
                registry.load_resource_json(name, document(rules)).unwrap();
            }
            _ => drop(registry.load_json(document(&self.course.model.ordinary)).unwrap()),
        }
    }

    fn check_rules(&mut self, name: &str) -> Checked {
        let library = self.resource(name).breakers();
        let model = self.course.model.breakers(name);
        same("number of rules", library.len(), model.len())?;
        let mut pairs = library.iter().zip(model);
        pairs.try_for_each(|(library, model)| {
            same("rule", &library::rule(library.rule(), &model.rule), &model.rule)
        })
    }

    fn check_events(&mut self) -> Checked {
        let told = std::mem::take(&mut *self.told.lock().unwrap());
        let wanted = std::mem::take(&mut self.course.model.events);
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
            same("event: at", change.at, Duration::from_nanos(self.course.now()))?;
            same("event: sequence", change.sequence, self.announced)?;
        }
        Ok(())
    }

    fn check_breakers(&mut self, name: &str) -> Checked {
        let now = self.course.now();
        // The library derives what has passed from what has ended.
        let at_rest = self.entries.iter().all(|(entry, _)| entry.has_ended());
        let library = self.resource(name).breakers();
        let model = self.course.model.breakers(name);
        let checked = || {
            same("breakers", library.len(), model.len())?;
            let mut pairs = library.iter().zip(&model);
            pairs.try_for_each(|(library, model)| check_breaker(library, model, now, at_rest))
        };
        checked().map_err(|difference: String| format!("{name}: {difference}"))
    }
}

fn check_breaker(library: &tripcoil::Breaker, model: &Breaker, now: u64, at_rest: bool) -> Checked {
    let seen = library.snapshot();
    same("id", library.rule().id(), model.rule.id.as_deref())?;
    same("state and mode", (seen.state, seen.mode), (state(model.state), mode(model.mode)))?;
    same("retry_after", seen.retry_after, model.retry_after(now).map(Duration::from_nanos))?;
    let (bad, total) = model.counts(now);
    same("good and bad", (seen.good, seen.bad), (total - bad, bad))?;
    // Only a closed breaker's run decides anything.
    let runs = model.rule.grade == 3 && model.state == State::Closed;
    same("run", seen.run, if runs { model.run } else { 0 })?;
    let mut wanted = totals(model);
    if !at_rest {
        wanted.passed = seen.totals.passed;
    }
    same("totals", seen.totals, wanted)
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
