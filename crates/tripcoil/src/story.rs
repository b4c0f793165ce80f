//! What is told of one breaker: its rule, its changes in their true order, its last trip.

use std::collections::{BTreeMap, VecDeque};
use std::process;
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

/// Guarded by its slot's lock. Small until something happens: there may be millions.
#[derive(Default)]
pub(crate) struct Story {
    rule: Option<Arc<Rule>>,
    /// The breaker's position among its resource's.
    pub(crate) position: usize,
    /// The generation in which the present rule began; 0 while the slot has none.
    born: u64,
    events: Option<Box<Events>>,
}

/// What is made when there is something to tell, or to remember.
#[derive(Default)]
struct Events {
    /// The rule before the last edit of its numbers.
    edited: Option<Arc<Rule>>,
    former: VecDeque<(u64, Arc<Rule>)>,
    /// The generation whose transition is told next.
    next: u64,
    /// Transitions that came before one which precedes them.
    early: BTreeMap<u64, Transition>,
    ready: VecDeque<Told>,
    /// The process of which a thread is telling: it will tell what is added meanwhile, too. One of the
    /// parent's tells nothing in a child that was forked meanwhile.
    telling: Option<u32>,
    last_trip: Option<Box<Told>>,
}

impl Story {
    fn events(&mut self) -> &mut Events {
        let next = self.born + 1;
        self.events.get_or_insert_with(|| Box::new(Events { next, ..Events::default() }))
    }

    /// The slot's breaker begins in generation `born`, for this rule.
    pub(crate) fn begin(&mut self, rule: Arc<Rule>, born: u64, position: usize) {
        self.rule = Some(rule);
        self.position = position;
        self.born = born;
        if let Some(events) = &mut self.events {
            events.edited = None;
            events.next = born + 1;
            events.early.clear();
            events.last_trip = None;
        }
    }

    /// The breaker's rule has been removed: nothing more is told of it.
    pub(crate) fn end(&mut self) {
        let born = std::mem::take(&mut self.born);
        let rule = self.rule.take();
        let events = self.events();
        if let Some(rule) = rule {
            events.former.push_front((born, rule));
            events.former.truncate(FORMER);
        }
        events.early.clear();
        events.last_trip = None;
    }

    /// The same breaker under a rule of another id or other numbers.
    pub(crate) fn replace_rule(&mut self, rule: Arc<Rule>, position: usize) {
        let numbers = compile(&rule);
        let before = self.rule.replace(rule);
        if before.as_ref().is_some_and(|before| compile(before) != numbers) {
            self.events().edited = before;
        }
        self.position = position;
    }

    /// The rule that a decision with these numbers was made by: the one before an edit may still be told.
    fn rule_with(&self, numbers: &tripcoil_core::Rule) -> Option<Arc<Rule>> {
        let edited = self.events.as_ref().and_then(|events| events.edited.as_ref());
        let found = self.rule.iter().chain(edited).find(|rule| compile(rule) == *numbers);
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
        let mut former = self.events.iter().flat_map(|events| &events.former);
        former.find(|(born, _)| generation >= *born).map(|(_, rule)| Arc::clone(rule))
    }

    pub(crate) fn last_trip(&self) -> Option<Told> {
        self.events.as_ref()?.last_trip.as_deref().cloned()
    }

    /// Takes a transition in, and says whether the caller is to tell what is ready.
    pub(crate) fn add(&mut self, transition: Transition) -> bool {
        if self.born == 0 || transition.generation < self.events().next {
            return false;
        }
        self.events().early.insert(transition.generation, transition);
        while let Some(transition) = self.next_in_order() {
            let Some(rule) = self.rule_with(&transition.rule) else { break };
            if transition.is_forfeit() {
                continue;
            }
            let told = Told { transition, rule, position: self.position };
            let events = self.events();
            if told.transition.open_until.is_some() && !told.transition.given_back {
                events.last_trip = Some(Box::new(told.clone()));
            }
            events.ready.push_back(told);
        }
        let events = self.events();
        let own = Some(process::id());
        !events.ready.is_empty() && std::mem::replace(&mut events.telling, own) != own
    }

    fn next_in_order(&mut self) -> Option<Transition> {
        let events = self.events();
        let transition = events.early.remove(&events.next)?;
        events.next += 1;
        Some(transition)
    }

    /// The next change to tell; none ends the telling.
    pub(crate) fn pop(&mut self) -> Option<Told> {
        let events = self.events.as_mut()?;
        let told = events.ready.pop_front();
        events.telling = told.is_some().then(process::id);
        told
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{RuleBuilder, Strategy};

    fn rule(threshold: f64) -> Arc<Rule> {
        let builder = RuleBuilder::new(Strategy::ErrorCount, "r").threshold(threshold);
        Arc::new(builder.retry_timeout(Duration::from_secs(1)).build().unwrap())
    }

    #[test]
    fn a_generation_is_told_by_the_rule_that_it_was_under() {
        let mut story = Story::default();
        for (threshold, born) in [(1.0, 3), (2.0, 7)] {
            story.begin(rule(threshold), born, 0);
            story.end();
        }
        story.begin(rule(3.0), 11, 0);
        let under = |generation| story.rule_of(generation).map_or(0.0, |rule| rule.threshold());
        assert_eq!([2, 3, 6, 7, 10, 11].map(under), [0.0, 1.0, 1.0, 2.0, 2.0, 3.0]);
    }
}
