//! The rules of a registry, and which of them guard a name.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::Rule;
use crate::assigned::Guarding;
use crate::few::Few;
use crate::names::Names;
use crate::resource::Inner;
use crate::rules::{LegacyRule, Release};

/// Guarded by the registry's lock.
#[derive(Default)]
pub(crate) struct RuleSet {
    exact: ByResource<Rule>,
    regex: Vec<Arc<Rule>>,
    defaults: Vec<Arc<Rule>>,
    excluded: HashSet<String>,
    legacy: Option<Legacy>,
}

struct Legacy {
    release: Release,
    rules: ByResource<LegacyRule>,
}

impl RuleSet {
    /// Replaces all exact and regex rules.
    pub(crate) fn set(&mut self, rules: Vec<Rule>) {
        // What is replaced is dropped first, so that not both are there at once.
        (self.exact, self.regex) = (ByResource::with_capacity(rules.len()), Vec::new());
        for rule in rules.into_iter().map(Arc::new) {
            match rule.regex() {
                true => self.regex.push(rule),
                false => self.exact.add(rule),
            }
        }
    }

    /// Replaces one resource's exact rules.
    pub(crate) fn set_resource(&mut self, name: &str, rules: Vec<Rule>) {
        self.exact.remove(name);
        rules.into_iter().map(Arc::new).for_each(|rule| self.exact.add(rule));
    }

    /// Replaces all default rules.
    pub(crate) fn set_defaults(&mut self, rules: Vec<Rule>) {
        self.defaults = rules.into_iter().map(Arc::new).collect();
    }

    /// Replaces all rules of the legacy check.
    pub(crate) fn set_legacy(&mut self, release: Release, rules: Vec<LegacyRule>) {
        let mut by_resource = ByResource::with_capacity(rules.len());
        rules.into_iter().map(Arc::new).for_each(|rule| by_resource.add(rule));
        self.legacy = Some(Legacy { release, rules: by_resource });
    }

    /// Names that default rules do not guard.
    pub(crate) fn excluded(&mut self) -> &mut HashSet<String> {
        &mut self.excluded
    }

    /// All rules: exact ones, regex ones, resources' own ones that none of these replaces, default ones.
    pub(crate) fn all(&self, resources: &Names) -> Vec<Arc<Rule>> {
        let mut all: Vec<Arc<Rule>> = self.exact.all().chain(&self.regex).cloned().collect();
        resources.for_each(|resource| {
            if let Some(own) = resource.own_rules()
                && self.loaded(&resource.name).next().is_none()
            {
                all.extend_from_slice(&own);
            }
        });
        all.extend_from_slice(&self.defaults);
        all
    }

    /// Gives a resource the rules that guard its name, in the order of spec section 5.
    pub(crate) fn apply_to(&self, resource: &Inner) {
        if let Some(legacy) = &self.legacy {
            let rules = legacy.rules.get(&resource.name).to_vec();
            resource.legacy().set_rules(legacy.release, rules);
        }
        resource.assigned().apply(resource, &self.guarding(resource));
    }

    fn guarding(&self, resource: &Inner) -> Vec<Guarding> {
        let name = resource.name.as_str();
        let loaded: Vec<Guarding> = self.loaded(name).map(|rule| guarding(rule, false)).collect();
        if !loaded.is_empty() {
            return loaded;
        }
        if let Some(own) = resource.own_rules() {
            return own.iter().map(|rule| guarding(rule, false)).collect();
        }
        if self.excluded.contains(name) {
            return Vec::new();
        }
        self.defaults.iter().map(|rule| guarding(rule, true)).collect()
    }

    /// The exact rules of a name, and the regex rules that match it.
    fn loaded(&self, name: &str) -> impl Iterator<Item = &Arc<Rule>> {
        self.exact.get(name).iter().chain(self.regex.iter().filter(move |rule| rule.matches(name)))
    }
}

fn guarding(rule: &Arc<Rule>, default: bool) -> Guarding {
    Guarding { rule: Arc::clone(rule), default }
}

/// A rule that names its resource.
trait Named {
    fn name(&self) -> &str;
}

impl Named for Rule {
    fn name(&self) -> &str {
        self.resource()
    }
}

impl Named for LegacyRule {
    fn name(&self) -> &str {
        &self.resource
    }
}

/// Rules by their resource's name, which is in the rules alone: there may be millions.
struct ByResource<R> {
    lists: HashTable<Few<Arc<R>>>,
    hasher: RandomState,
}

impl<R: Named> ByResource<R> {
    fn with_capacity(rules: usize) -> Self {
        Self { lists: HashTable::with_capacity(rules), hasher: RandomState::default() }
    }

    /// After those of the same resource.
    fn add(&mut self, rule: Arc<R>) {
        let Self { lists, hasher } = self;
        let is_its = |list: &Few<Arc<R>>| name_of(list) == rule.name();
        let hash = |list: &Few<Arc<R>>| hasher.hash_one(name_of(list));
        let entry = lists.entry(hasher.hash_one(rule.name()), is_its, hash);
        entry.or_insert_with(Few::default).into_mut().push(rule);
    }

    fn get(&self, name: &str) -> &[Arc<R>] {
        let found = self.lists.find(self.hasher.hash_one(name), |list| name_of(list) == name);
        found.map_or(&[], |list| list)
    }

    fn remove(&mut self, name: &str) {
        if let Ok(found) = self.lists.find_entry(self.hasher.hash_one(name), |list| name_of(list) == name) {
            found.remove();
        }
    }

    fn all(&self) -> impl Iterator<Item = &Arc<R>> {
        self.lists.iter().flat_map(|list| list.iter())
    }
}

impl<R: Named> Default for ByResource<R> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

/// The name that the rules of a list have; none is empty.
fn name_of<R: Named>(list: &[Arc<R>]) -> &str {
    list.first().map_or("", |rule| rule.name())
}
