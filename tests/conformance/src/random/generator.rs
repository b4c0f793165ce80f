//! From what happens in a trace to steps that runners know, and what must come of them.

use std::time::Duration;

use tripcoil_model::{Change, Outcome};
use tripcoil_random::{Course, NAMES, Op as Happening, Pick, document};

use crate::random::coverage::Coverage;
use crate::runner::{Answer, Mode, Op, Scope, Step};
use crate::suite::{WantedEvent, WantedStep};

/// Times that every language's clock tells to the ns.
const FARTHEST: u64 = 1 << 41;

pub(super) struct Generator<'c> {
    course: Course,
    /// The calls that have begun, and of those that were admitted the model's numbers, and whether they are open.
    begun: usize,
    entries: Vec<(String, usize, bool)>,
    steps: Vec<Step>,
    wanted: Vec<WantedStep>,
    coverage: &'c mut Coverage,
}

impl<'c> Generator<'c> {
    pub(super) fn run(ops: &[Happening], coverage: &'c mut Coverage) -> (Vec<Step>, Vec<WantedStep>) {
        let mut generator = Self {
            course: Course::default(),
            begun: 0,
            entries: Vec::new(),
            steps: Vec::new(),
            wanted: Vec::new(),
            coverage,
        };
        ops.iter().for_each(|op| generator.happen(op));
        generator.coverage.end(&generator.course.model);
        (generator.steps, generator.wanted)
    }

    fn happen(&mut self, op: &Happening) {
        match *op {
            Happening::Advance(by) | Happening::GoBack(by) if by > FARTHEST => {}
            Happening::Enter(name) => self.enter(name),
            Happening::End(entry, outcome, _) => self.end(entry, outcome),
            Happening::SetMode(name, position, mode) => {
                if let Some(rule) = self.course.breaker(name, position) {
                    self.course.model.set_mode(name, rule, mode);
                    let op = Op::SetMode { resource: name.to_owned(), rule, mode: mode.into() };
                    self.push(op, Answer::Done, &[name]);
                }
            }
            Happening::Reset(name, position, _) => {
                if let Some(rule) = self.course.breaker(name, position) {
                    self.reset(name, rule);
                }
            }
            Happening::ResetAll(name) => {
                (0..self.course.model.breakers(name).len()).for_each(|rule| self.reset(name, rule));
            }
            _ => {
                let before = self.course.now();
                if self.course.pass_time(op) {
                    self.coverage.add("clocks that went back", self.course.now() < before);
                } else {
                    self.replace_rules(op);
                }
            }
        }
    }

    fn enter(&mut self, name: &str) {
        let id = self.begun.to_string();
        self.begun += 1;
        let entered = self.course.model.enter(name, self.course.now());
        let op = Op::Enter { id: id.clone(), resource: name.to_owned() };
        self.coverage.add("blocked by a later rule", entered.is_err_and(|position| position > 0));
        match entered {
            Ok(entry) => {
                self.entries.push((id, entry, true));
                self.push(op, Answer::Pass, &[name]);
            }
            Err(_) => self.push(op, Answer::Block, &[name]),
        }
    }

    fn end(&mut self, entry: Pick, outcome: Outcome) {
        let Some(position) = entry.entry(&self.entries, |(.., is_open)| *is_open) else { return };
        let (id, entry) = (self.entries[position].0.clone(), self.entries[position].1);
        self.entries[position].2 = false;
        let answer = match self.course.model.end(entry, outcome, None, self.course.now()) {
            true => Answer::Ended,
            false => Answer::EndedBefore,
        };
        self.coverage.add("ended twice", answer == Answer::EndedBefore);
        let op = match outcome {
            Outcome::Good => Op::Exit { id, error: false },
            Outcome::Bad => Op::Exit { id, error: true },
            Outcome::Ignored => Op::Ignore { id },
            Outcome::Cancelled => Op::Cancel { id },
        };
        self.push(op, answer, &NAMES);
    }

    fn reset(&mut self, name: &str, rule: usize) {
        let mode = self.course.model.breakers(name)[rule].mode;
        self.course.model.set_mode(name, rule, mode);
        self.coverage.add("resets", true);
        self.push(Op::Reset { resource: name.to_owned(), rule }, Answer::Done, &[name]);
    }

    fn replace_rules(&mut self, op: &Happening) {
        if let Happening::Remove(_) = op {
            // Refused: nothing may change.
            self.coverage.add("refused loads", true);
            let rules = r#"[{"resource": "a", "grade": 2, "count": 1, "timeWindow": 0}]"#.to_owned();
            self.push(Op::Load { scope: Scope::Ordinary, rules }, Answer::Refused, &NAMES);
        }
        self.coverage.before_reload(&mut self.course.model);
        self.course.replace_rules(op);
        self.coverage.after_reload(&mut self.course.model, op);
        let load = |scope, rules: &[_]| (Op::Load { scope, rules: document(rules) }, Answer::Loaded);
        let (op, answer) = match op {
            Happening::Exclude(name, true) => (Op::Exclude { resource: (*name).to_owned() }, Answer::Done),
            Happening::Exclude(name, false) => (Op::Include { resource: (*name).to_owned() }, Answer::Done),
            Happening::LoadDefaults(rules) => load(Scope::Defaults, rules),
            Happening::LoadResource(name, rules) => load(Scope::Resource((*name).to_owned()), rules),
            _ => load(Scope::Ordinary, &self.course.model.ordinary),
        };
        self.push(op, answer, &NAMES);
    }

    fn push(&mut self, op: Op, answer: Answer, watch: &[&str]) {
        let now = self.course.now();
        let told = std::mem::take(&mut self.course.model.events);
        for (resource, position, change) in &told {
            let breaker = self.course.model.breakers(resource)[*position];
            self.coverage.note(&op, breaker, change, now);
        }
        let states = watch.iter().map(|name| {
            let breakers = self.course.model.breakers(name);
            ((*name).to_owned(), breakers.iter().map(|breaker| breaker.state.into()).collect())
        });
        let states = states.collect();
        let watch = watch.iter().map(|name| (*name).to_owned()).collect();
        self.steps.push(Step { at: Duration::from_nanos(now), op, watch });
        let events = Some(told.into_iter().map(event).collect());
        self.wanted.push(WantedStep { answer, states, events });
    }
}

fn event((resource, rule, (from, to, snapshot)): (String, usize, Change)) -> WantedEvent {
    let modes = Some([from.1, to.1].map(Mode::from));
    WantedEvent { resource: Some(resource), rule, from: from.0.into(), to: to.0.into(), snapshot, modes }
}
