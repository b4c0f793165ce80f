//! The specification as a program: one call after another, nothing shared, nothing packed.
//!
//! The real breaker is compared with it. Times are ns on a clock that starts at 0. Rules come valid and
//! with their defaults filled in; documents, observers and the bounded registry are not its business.
#![allow(missing_docs, reason = "the names are the words of the specification")]

mod breaker;

use std::collections::{BTreeMap, BTreeSet};

pub use breaker::{Breaker, Change, Mode, ModelRule, Outcome, Permit, State};

pub const MS: u64 = 1_000_000;
/// When an entry was admitted, and by which breakers; none once it has ended.
type Entry = Option<(u64, Vec<(usize, Permit)>)>;

/// All resources: which breakers guard one, entries, reloads (sections 5 to 8). Loading is changing the
/// lists of rules and of excluded names, and calling [`Model::reload`].
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Whether a pattern matches a whole name; without it, no regex rule matches any.
    pub matches: Option<fn(pattern: &str, name: &str) -> bool>,
    pub ordinary: Vec<ModelRule>,
    pub defaults: Vec<ModelRule>,
    pub excluded: BTreeSet<String>,
    /// What observers were told: the resource, its breaker's position, the change.
    pub events: Vec<(String, usize, Change)>,
    /// Every breaker that ever was: entries complete on those that admitted them (D4).
    breakers: Vec<Breaker>,
    /// Each resource's breakers in the order in which they are asked, and whether by default rules.
    guards: BTreeMap<String, (Vec<usize>, bool)>,
    entries: Vec<Entry>,
}

impl Model {
    pub fn reload(&mut self) {
        for resource in self.guards.keys().cloned().collect::<Vec<_>>() {
            self.match_rules(&resource);
        }
    }

    /// Gives each rule of a resource its breaker: that of the same rule, else (D7) of the rule that it
    /// edits, else a fresh one.
    fn match_rules(&mut self, resource: &str) {
        let (rules, by_default) = self.rules_of(resource);
        let (mut old, was_default) = self.guards.remove(resource).unwrap_or_default();
        old.retain(|_| was_default == by_default);
        let mut kept = vec![None; rules.len()];
        for keeps in [ModelRule::same, ModelRule::edits] {
            for (rule, kept) in rules.iter().zip(&mut kept).filter(|(_, kept)| kept.is_none()) {
                let found = old.iter().position(|&breaker| keeps(rule, &self.breakers[breaker].rule));
                *kept = found.map(|position| old.remove(position));
            }
        }
        let mut guards = Vec::new();
        for (rule, kept) in rules.into_iter().zip(kept) {
            let breaker = kept.unwrap_or(self.breakers.len());
            self.breakers.resize_with(self.breakers.len().max(breaker + 1), Breaker::default);
            self.breakers[breaker].rule = rule;
            guards.push(breaker);
        }
        self.guards.insert(resource.to_owned(), (guards, by_default));
    }

    /// Exact rules, then regex rules; where there are none, default rules unless excluded. The same
    /// rule twice counts once.
    fn rules_of(&self, resource: &str) -> (Vec<ModelRule>, bool) {
        let is_match = |rule: &ModelRule| self.matches.is_some_and(|is| is(&rule.resource, resource));
        let exact = self.ordinary.iter().filter(|rule| !rule.regex && rule.resource == resource);
        let regex = self.ordinary.iter().filter(|rule| rule.regex && is_match(rule));
        let mut rules: Vec<_> = exact.chain(regex).cloned().collect();
        let by_default = rules.is_empty();
        if by_default && !self.excluded.contains(resource) {
            rules = self.defaults.clone();
        }
        let mut once = Vec::<ModelRule>::new();
        for rule in rules {
            let again = once.iter().any(|first| first.same(&rule));
            once.extend((!again).then_some(rule));
        }
        (once, by_default)
    }

    /// The entry's number, or the position of the first breaker that rejects. D6: then nothing moves.
    pub fn enter(&mut self, resource: &str, now: u64) -> Result<usize, usize> {
        let guards = self.guards(resource);
        if let Some(position) = guards.iter().position(|&breaker| self.breakers[breaker].rejects(now)) {
            self.breakers[guards[position]].tally("blocked");
            return Err(position);
        }
        let mut permits = Vec::new();
        for breaker in guards {
            let (permit, change) = self.breakers[breaker].admit(now);
            permits.extend(permit.map(|permit| (breaker, permit)));
            self.announce(breaker, change);
        }
        self.entries.push(Some((now, permits)));
        Ok(self.entries.len() - 1)
    }

    /// Ends an entry, with the response time that its caller measured if so. False: it has ended before.
    pub fn end(&mut self, entry: usize, outcome: Outcome, measured: Option<u64>, now: u64) -> bool {
        let Some((admitted, permits)) = self.entries[entry].take() else { return false };
        let response_time = measured.unwrap_or(now.saturating_sub(admitted));
        for (breaker, permit) in permits {
            let change = self.breakers[breaker].end(permit, outcome, response_time, now);
            self.announce(breaker, change);
        }
        true
    }

    /// Sets a breaker's mode: to the one that it has, a reset.
    pub fn set_mode(&mut self, resource: &str, position: usize, mode: Mode) {
        let breaker = self.guards(resource)[position];
        let change = self.breakers[breaker].set_mode(mode);
        self.announce(breaker, Some(change));
    }

    /// Resets all of a resource's breakers within their modes.
    pub fn reset(&mut self, resource: &str) {
        for position in 0..self.guards(resource).len() {
            let mode = self.breakers(resource)[position].mode;
            self.set_mode(resource, position, mode);
        }
    }

    /// How often something has happened, at all breakers that ever were.
    pub fn total(&self, what: &str) -> u64 {
        self.breakers.iter().filter_map(|breaker| breaker.totals.get(what)).sum()
    }

    /// A resource's breakers, made on its first use, in the order in which they are asked.
    pub fn breakers(&mut self, resource: &str) -> Vec<&Breaker> {
        self.guards(resource).iter().map(|&breaker| &self.breakers[breaker]).collect()
    }

    fn guards(&mut self, resource: &str) -> Vec<usize> {
        if !self.guards.contains_key(resource) {
            self.match_rules(resource);
        }
        self.guards[resource].0.clone()
    }

    /// A breaker that a reload removed (D4) has no place, and says nothing.
    fn announce(&mut self, breaker: usize, change: Option<Change>) {
        for (resource, (guards, _)) in &self.guards {
            let position = guards.iter().position(|&guard| guard == breaker);
            let told = position.zip(change).map(|(position, change)| (resource.clone(), position, change));
            self.events.extend(told);
        }
    }
}
