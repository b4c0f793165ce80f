//! The rules of a registry, and which of them guard a name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use compact_str::CompactString;
use foldhash::fast::RandomState;

use crate::Rule;
use crate::assigned::Guarding;
use crate::names::Names;
use crate::resource::Inner;
use crate::rules::{LegacyRule, Release};

type ByResource<R> = HashMap<CompactString, Vec<Arc<R>>, RandomState>;

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
        let (regex, exact): (Vec<_>, Vec<_>) = rules.into_iter().map(Arc::new).partition(|rule| rule.regex());
        self.regex = regex;
        self.exact = by_resource(exact, |rule| rule.resource());
    }

    /// Replaces one resource's exact rules.
    pub(crate) fn set_resource(&mut self, name: &str, rules: Vec<Rule>) {
        if rules.is_empty() {
            self.exact.remove(name);
        } else {
            self.exact.insert(name.into(), rules.into_iter().map(Arc::new).collect());
        }
    }

    /// Replaces all default rules.
    pub(crate) fn set_defaults(&mut self, rules: Vec<Rule>) {
        self.defaults = rules.into_iter().map(Arc::new).collect();
    }

    /// Replaces all rules of the legacy check.
    pub(crate) fn set_legacy(&mut self, release: Release, rules: Vec<LegacyRule>) {
        let rules = rules.into_iter().map(Arc::new).collect();
        self.legacy = Some(Legacy { release, rules: by_resource(rules, |rule| &rule.resource) });
    }

    /// Names that default rules do not guard.
    pub(crate) fn excluded(&mut self) -> &mut HashSet<String> {
        &mut self.excluded
    }

    /// All rules: exact ones, regex ones, resources' own ones that none of these replaces, default ones.
    pub(crate) fn all(&self, resources: &Names) -> Vec<Arc<Rule>> {
        let exact = self.exact.values().flatten();
        let mut all: Vec<Arc<Rule>> = exact.chain(&self.regex).cloned().collect();
        resources.for_each(|resource| {
            if let Some(own) = &*resource.own_rules.load()
                && self.loaded(&resource.name).next().is_none()
            {
                all.extend_from_slice(own);
            }
        });
        all.extend_from_slice(&self.defaults);
        all
    }

    /// Gives a resource the rules that guard its name, in the order of spec section 5.
    pub(crate) fn apply_to(&self, resource: &Inner) {
        if let Some(legacy) = &self.legacy {
            let rules = legacy.rules.get(resource.name.as_str()).cloned().unwrap_or_default();
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
        if let Some(own) = &*resource.own_rules.load() {
            return own.iter().map(|rule| guarding(rule, false)).collect();
        }
        if self.excluded.contains(name) {
            return Vec::new();
        }
        self.defaults.iter().map(|rule| guarding(rule, true)).collect()
    }

    /// The exact rules of a name, and the regex rules that match it.
    fn loaded(&self, name: &str) -> impl Iterator<Item = &Arc<Rule>> {
        let exact = self.exact.get(name).into_iter().flatten();
        exact.chain(self.regex.iter().filter(move |rule| rule.matches(name)))
    }
}

fn guarding(rule: &Arc<Rule>, default: bool) -> Guarding {
    Guarding { rule: Arc::clone(rule), default }
}

fn by_resource<R>(rules: Vec<Arc<R>>, name: impl Fn(&R) -> &str) -> ByResource<R> {
    let mut map = ByResource::with_capacity_and_hasher(rules.len(), RandomState::default());
    for rule in rules {
        match map.get_mut(name(&rule)) {
            Some(list) => list.push(rule),
            None => {
                map.insert(name(&rule).into(), vec![rule]);
            }
        }
    }
    map
}
