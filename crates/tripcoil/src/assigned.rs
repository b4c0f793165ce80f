//! Which rules a resource's slots have, and how a reload keeps what it can (spec section 7, D5, D7).

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::Rule;
use crate::compile::compile;
use crate::few::Few;
use crate::resource::Inner;
use crate::slot::Spare;

/// A rule that guards a resource.
pub(crate) struct Guarding {
    pub(crate) rule: Arc<Rule>,
    /// Whether it is a default rule: those are never matched with others.
    pub(crate) default: bool,
}

impl Guarding {
    /// It guards by the breaker in this slot.
    fn by(&self, slot: u32) -> InUse {
        InUse { rule: Arc::clone(&self.rule), slot, default: self.default }
    }
}

/// A rule in use, and the slot of its breaker once that is made.
struct InUse {
    rule: Arc<Rule>,
    slot: u32,
    default: bool,
}

impl InUse {
    /// What tells it from others of its resource.
    fn guarding(&self) -> (bool, &Rule) {
        (self.default, &self.rule)
    }
}

/// Guarded by its resource's lock.
///
/// No breaker is made before the first call: of the names that a program has rules for, it may call few. Until
/// then a resource is *dormant*, and its rules are only kept.
#[derive(Default)]
pub(crate) struct Assigned {
    rules: Few<InUse>,
    spare: Spare,
}

impl Assigned {
    /// The slots in use, in the order in which their breakers are asked.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> {
        let made = if self.is_dormant() { &[] } else { &*self.rules };
        made.iter().map(|in_use| in_use.slot)
    }

    fn is_dormant(&self) -> bool {
        self.spare.is_unused()
    }

    /// Makes these the resource's rules. Breakers are kept for equal rules first, then for edited ones;
    /// the other rules get new ones, and the other breakers are retired.
    pub(crate) fn apply(&mut self, resource: &Inner, rules: &[Guarding]) {
        if self.is_dormant() {
            self.rules = rules.iter().map(|guarding| guarding.by(0)).collect();
            return match rules {
                [] if resource.follows_plan(&[]) => {}
                [] => resource.publish(&[]),
                _ => resource.publish_dormant(),
            };
        }
        let before: Vec<u32> = self.slots().collect();
        let rules_before = std::mem::take(&mut self.rules);
        let old: Vec<Old> = rules_before
            .iter()
            .map(|in_use| Old { slot: Cell::new(Some(in_use.slot)), guarding: in_use.guarding() })
            .collect();
        let mut kept: Vec<Option<u32>> = vec![None; rules.len()];
        keep_matching(&old, rules, &mut kept, equal, |_, _| true);
        keep_matching(&old, rules, &mut kept, same_id, same_shape);
        let slot_of = |(position, (slot, guarding)): (usize, (Option<u32>, &Guarding))| {
            guarding.by(match slot {
                Some(slot) => keep(resource, slot, &guarding.rule, position),
                None => begin(&mut self.spare, resource, &guarding.rule, position),
            })
        };
        self.rules = kept.into_iter().zip(rules).enumerate().map(slot_of).collect();
        let slots: Vec<u32> = self.slots().collect();
        // A slot that begins is never one of those before, so equal numbers are the same breakers, and a
        // call that is under way need not start again.
        if slots != before || !resource.follows_plan(&slots) {
            resource.publish(&slots);
        }
        // After the new plan is out: whoever still follows the old one will look again.
        for slot in old.iter().filter_map(|old| old.slot.get()) {
            resource.slot(slot).story().end();
            resource.slot(slot).breaker().retire();
            self.spare.give(slot);
        }
    }

    /// Makes the breakers of a dormant resource.
    pub(crate) fn wake(&mut self, resource: &Inner) {
        if !self.is_dormant() || self.rules.is_empty() {
            return;
        }
        for (position, in_use) in self.rules.iter_mut().enumerate() {
            in_use.slot = begin(&mut self.spare, resource, &in_use.rule, position);
        }
        resource.publish(&self.slots().collect::<Vec<u32>>());
    }
}

fn begin(spare: &mut Spare, resource: &Inner, rule: &Arc<Rule>, position: usize) -> u32 {
    let compiled = compile(rule);
    let number = spare.take(resource.slots(), compiled.buckets as usize);
    let slot = resource.slot(number);
    let born = slot.breaker().assign(&compiled).expect("rules are checked when they are made");
    slot.story().begin(Arc::clone(rule), born, position);
    number
}

fn keep(resource: &Inner, number: u32, rule: &Arc<Rule>, position: usize) -> u32 {
    let slot = resource.slot(number);
    let compiled = compile(rule);
    // The story first: a decision by the new numbers finds the new rule in it, one by the old numbers
    // finds the rule before the edit.
    slot.story().replace_rule(Arc::clone(rule), position);
    if slot.breaker().rule() != compiled {
        slot.breaker().edit(&compiled).expect("only rules of one shape are matched");
    }
    number
}

/// A breaker that was in use, until a new rule takes it.
struct Old<'r> {
    slot: Cell<Option<u32>>,
    guarding: (bool, &'r Rule),
}

/// Keeps breakers for rules of the same key, which one rule of a list has at most, where they fit.
fn keep_matching<'g, K: Hash + Eq>(
    old: &'g [Old<'_>],
    rules: &'g [Guarding],
    kept: &mut [Option<u32>],
    key: impl Fn((bool, &'g Rule)) -> Option<K>,
    fits: impl Fn(&Rule, &Rule) -> bool,
) {
    if kept.iter().all(Option::is_some) {
        return;
    }
    let left = old.iter().filter(|old| old.slot.get().is_some());
    // By hash, since one resource may have thousands of rules.
    let left: HashMap<K, &Old<'_>, RandomState> =
        left.filter_map(|old| Some((key(old.guarding)?, old))).collect();
    for (place, guarding) in kept.iter_mut().zip(rules).filter(|(place, _)| place.is_none()) {
        let found = key((guarding.default, &guarding.rule)).and_then(|key| left.get(&key));
        *place = found.filter(|old| fits(old.guarding.1, &guarding.rule)).and_then(|old| old.slot.take());
    }
}

fn equal((default, rule): (bool, &Rule)) -> Option<impl Hash + Eq + use<'_>> {
    Some((default, rule.key()))
}

/// D7: another rule of the same id keeps its breaker where the window keeps its shape.
fn same_id((default, rule): (bool, &Rule)) -> Option<impl Hash + Eq + use<'_>> {
    Some((default, rule.id()?, rule.resource(), rule.regex()))
}

fn same_shape(old: &Rule, new: &Rule) -> bool {
    compile(old).same_shape(&compile(new))
}
