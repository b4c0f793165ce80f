//! What happens: what traces are made of, and observers that come and go.

use std::sync::Arc;
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use tripcoil_model::{ModelRule, Outcome};

use super::{Habit, Life, Rules};
use crate::trace::{Mix, NAMES, Op, Pick, document, edit, library};

#[derive(Debug)]
pub(super) enum Act {
    Observe(u8, Habit),
    Unobserve(u8),
    Op(Op),
}

impl Act {
    pub(super) fn draw(bytes: &mut Unstructured<'_>) -> Result<Self> {
        Ok(match bytes.int_in_range(0..=7)? {
            0 => {
                let (acts, panics) = (bytes.ratio(3, 4)?, bytes.ratio(1, 4)?);
                let habit = Habit { acts, panics, acts_when_dropped: bytes.arbitrary()? };
                Self::Observe(bytes.int_in_range(0..=3)?, habit)
            }
            1 => Self::Unobserve(bytes.int_in_range(0..=3)?),
            _ => Self::Op(Op::draw(bytes, Mix::All)?),
        })
    }
}

impl Life {
    pub(super) fn make(self: &Arc<Self>, act: Act) {
        match act {
            Act::Observe(name, habit) => self.observe(name, habit),
            Act::Unobserve(name) => self.unobserve(name),
            Act::Op(op) => self.do_op(&op),
        }
    }

    fn do_op(&self, op: &Op) {
        let breakers = |name| self.registry.resource(name).expect("a name").breakers();
        let breaker = |name, position: Pick| {
            let mut breakers = breakers(name);
            (!breakers.is_empty()).then(|| breakers.swap_remove(position.of(breakers.len())))
        };
        match *op {
            Op::Enter(name) => self.enter(name),
            Op::End(entry, outcome, measured) => self.end(entry, outcome, measured),
            Op::Advance(by) => self.clock.advance(Duration::from_nanos(by)),
            Op::GoBack(by) => self.clock.set(self.clock.time().saturating_sub(Duration::from_nanos(by))),
            Op::AdvanceToMultiple(stretch, before) => {
                let into = self.clock.time().as_nanos() % u128::from(stretch);
                self.clock.advance(Duration::from_nanos(stretch - into as u64 - before));
            }
            Op::AdvanceToDeadline(which, _) => {
                let all = NAMES.into_iter().flat_map(breakers);
                let waits: Vec<_> = all.filter_map(|breaker| breaker.snapshot().retry_after).collect();
                if !waits.is_empty() {
                    self.clock.advance(waits[which.of(waits.len())]);
                }
            }
            Op::SetMode(name, position, mode) => {
                breaker(name, position).map(|breaker| breaker.set_mode(library::mode(mode)));
            }
            Op::Reset(name, position, _) => {
                breaker(name, position).map(|breaker| breaker.reset());
            }
            Op::ResetAll(name) => {
                self.registry.resource(name).expect("a name").reset();
            }
            Op::Exclude(name, true) => {
                self.rules.lock().unwrap().replaced += 1;
                self.registry.exclude([name]).expect("a name");
            }
            Op::Exclude(name, false) => {
                self.rules.lock().unwrap().replaced += 1;
                self.registry.include([name]).expect("a name");
            }
            Op::LoadDefaults(ref rules) => {
                let mut rules = rules.clone();
                self.rules.lock().unwrap().number(&mut rules);
                self.registry.load_defaults_json(document(&rules)).expect("valid rules");
            }
            ref load => {
                let rules = self.rules.lock().unwrap().edit(load.clone());
                self.registry.load_json(document(&rules)).expect("valid rules");
            }
        }
    }

    fn enter(&self, name: &str) {
        let resource = self.registry.resource(name).expect("a name");
        let replaced = || self.rules.lock().unwrap().replaced;
        let before = replaced();
        let entered = resource.enter_owned();
        let unsure = replaced() != before;
        let mut ledger = self.ledger.lock().unwrap();
        match entered {
            Ok(entry) => {
                ledger.admitted(&resource, unsure);
                self.entries.lock().unwrap().push(Arc::new(entry));
            }
            Err(blocked) => {
                let rule = blocked.rule();
                ledger.blocked(name, rule.as_ref().and_then(|rule| rule.id()), unsure);
            }
        }
    }

    fn end(&self, entry: Pick, outcome: Outcome, measured: Option<u64>) {
        let mut entries = self.entries.lock().unwrap();
        let Some(position) = entry.entry(&entries, |entry| !entry.has_ended()) else { return };
        let entry = Arc::clone(&entries[position]);
        let has_ended = entry.has_ended();
        if has_ended {
            entries.swap_remove(position);
        }
        drop(entries);
        let outcome = library::outcome(outcome);
        let ended = match measured {
            Some(time) => entry.end_with(outcome, Duration::from_nanos(time)),
            None => entry.end(outcome),
        };
        assert_eq!(ended.is_err(), has_ended, "ends once");
    }

    /// Until no call is out: what is told of their ends may begin others.
    pub(super) fn end_all(self: &Arc<Self>) {
        loop {
            let Some(entry) = self.entries.lock().unwrap().pop() else { return };
            let _ = entry.end(tripcoil::Outcome::Cancelled);
            self.act();
        }
    }
}

impl Rules {
    /// Makes rules that have not been there before.
    fn number(&mut self, rules: &mut [ModelRule]) {
        self.replaced += 1;
        for rule in &mut *rules {
            self.numbered += 1;
            rule.id = Some(self.numbered.to_string());
        }
        set_apart(rules);
    }

    /// The ordinary rules after an operation on them.
    fn edit(&mut self, mut op: Op) -> Vec<ModelRule> {
        match &mut op {
            Op::Load(rules) | Op::LoadResource(_, rules) => self.number(rules),
            // Breakers are known by their ids.
            Op::SwapIds(..) => op = Op::Reverse,
            _ => {}
        }
        self.replaced += 1;
        edit(&mut self.ordinary, &op);
        set_apart(&mut self.ordinary);
        self.ordinary.clone()
    }
}

/// No two rules are the same; and none has a lease, whose end is a generation that nobody is told of.
fn set_apart(rules: &mut [ModelRule]) {
    for rule in rules {
        rule.limit_app = rule.id.clone().expect("every rule has one");
        rule.probe_timeout_ms = 0;
    }
}
