//! What is told of one breaker: its rule, its changes in their true order, its last trip.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tripcoil_core::Transition;

use crate::Rule;
use crate::compile::compile;

/// How many rules that a slot had before are remembered, for errors that still name them.
const FORMER: usize = 4;

/// A change that is ready to be told, with what it was made under.
#[derive(Clone)]
pub(crate) struct Told {
    pub(crate) transition: Transition,
    pub(crate) rule: Arc<Rule>,
    pub(crate) position: usize,
}

/// Guarded by its slot's lock.
#[derive(Default)]
pub(crate) struct Story {
    rule: Option<Arc<Rule>>,
    /// The rule before the last edit of its numbers.
    edited: Option<Arc<Rule>>,
    /// The breaker's position among its resource's.
    pub(crate) position: usize,
    /// The generation in which the present rule began; 0 while the slot has none.
    born: u64,
    former: VecDeque<(u64, Arc<Rule>)>,
    /// The generation whose transition is told next.
    next: u64,
    /// Transitions that came before one which precedes them.
    early: BTreeMap<u64, Transition>,
    ready: VecDeque<Told>,
    /// Whether a thread is telling: it will tell what is added meanwhile, too.
    telling: bool,
    last_trip: Option<Box<Told>>,
}

impl Story {
    /// The slot's breaker begins in generation `born`, for this rule.
    pub(crate) fn begin(&mut self, rule: Arc<Rule>, born: u64, position: usize) {
        self.rule = Some(rule);
        self.edited = None;
        self.position = position;
        self.born = born;
        self.next = born + 1;
        self.early.clear();
        self.last_trip = None;
    }

    /// The breaker's rule has been removed: nothing more is told of it.
    pub(crate) fn end(&mut self) {
        if let Some(rule) = self.rule.take() {
            self.former.push_front((self.born, rule));
            self.former.truncate(FORMER);
        }
        self.born = 0;
        self.early.clear();
        self.last_trip = None;
    }

    /// The same breaker under a rule of another id or other numbers.
    pub(crate) fn replace_rule(&mut self, rule: Arc<Rule>, position: usize) {
        self.edited = self.rule.replace(rule);
        self.position = position;
    }

    /// The rule that a decision with these numbers was made by: the one before an edit may still be told.
    fn rule_with(&self, numbers: &tripcoil_core::Rule) -> Option<Arc<Rule>> {
        let candidates = [&self.rule, &self.edited];
        let found = candidates.into_iter().flatten().find(|rule| compile(rule) == *numbers);
        found.or(self.rule.as_ref()).cloned()
    }

    pub(crate) fn born(&self) -> u64 {
        self.born
    }

    /// The rule under which the slot's breaker was in `generation`.
    pub(crate) fn rule_of(&self, generation: u64) -> Option<Arc<Rule>> {
        if self.born != 0 && generation >= self.born {
            return self.rule.clone();
        }
        self.former.iter().find(|(born, _)| generation >= *born).map(|(_, rule)| Arc::clone(rule))
    }

    pub(crate) fn last_trip(&self) -> Option<Told> {
        self.last_trip.as_deref().cloned()
    }

    /// Takes a transition in, and says whether the caller is to tell what is ready.
    pub(crate) fn add(&mut self, transition: Transition) -> bool {
        if self.born == 0 || transition.generation < self.next {
            return false;
        }
        self.early.insert(transition.generation, transition);
        while let Some(transition) = self.early.remove(&self.next) {
            self.next += 1;
            let Some(rule) = self.rule_with(&transition.rule) else { break };
            if transition.is_forfeit() {
                continue;
            }
            let told = Told { transition, rule, position: self.position };
            if transition.open_until.is_some() && !transition.given_back {
                self.last_trip = Some(Box::new(told.clone()));
            }
            self.ready.push_back(told);
        }
        !self.ready.is_empty() && !std::mem::replace(&mut self.telling, true)
    }

    /// The next change to tell; none ends the telling.
    pub(crate) fn pop(&mut self) -> Option<Told> {
        let told = self.ready.pop_front();
        self.telling = told.is_some();
        told
    }
}
