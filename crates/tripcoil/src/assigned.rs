//! Which rules a resource's slots have, and how a reload keeps what it can (spec section 7, D5, D7).

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::Rule;
use crate::compile::compile;
use crate::resource::Inner;
use crate::slot::Spare;

/// A rule that guards a resource.
#[derive(Clone)]
pub(crate) struct Guarding {
    pub(crate) rule: Arc<Rule>,
    /// Whether it is a default rule: those are never matched with others.
    pub(crate) default: bool,
}

/// A breaker in use.
struct InUse {
    slot: u32,
    guarding: Guarding,
}

/// Guarded by its resource's lock.
#[derive(Default)]
pub(crate) struct Assigned {
    breakers: Vec<InUse>,
    spare: Spare,
}

impl Assigned {
    /// The slots in use, in the order in which their breakers are asked.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> {
        self.breakers.iter().map(|breaker| breaker.slot)
    }

    /// Makes these the resource's rules. Breakers are kept for equal rules first, then for edited ones;
    /// the other rules get new ones, and the other breakers are retired.
    pub(crate) fn apply(&mut self, resource: &Inner, rules: &[Guarding]) {
        let before: Vec<u32> = self.slots().collect();
        let old: Vec<Old> = std::mem::take(&mut self.breakers)
            .into_iter()
            .map(|InUse { slot, guarding }| Old { slot: Cell::new(Some(slot)), guarding })
            .collect();
        let mut kept: Vec<Option<u32>> = vec![None; rules.len()];
        keep_matching(&old, rules, &mut kept, equal, |_, _| true);
        keep_matching(&old, rules, &mut kept, same_id, same_shape);
        // Of these there may be millions, and most have one rule.
        self.breakers = Vec::with_capacity(rules.len());
        for (position, (slot, guarding)) in kept.into_iter().zip(rules).enumerate() {
            let slot = match slot {
                Some(slot) => keep(resource, slot, &guarding.rule, position),
                None => self.begin(resource, &guarding.rule, position),
            };
            self.breakers.push(InUse { slot, guarding: guarding.clone() });
        }
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

    fn begin(&mut self, resource: &Inner, rule: &Arc<Rule>, position: usize) -> u32 {
        let compiled = compile(rule);
        let number = self.spare.take(resource.slots(), compiled.buckets as usize);
        let slot = resource.slot(number);
        let born = slot.breaker().assign(&compiled).expect("rules are checked when they are made");
        slot.story().begin(Arc::clone(rule), born, position);
        number
    }
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
struct Old {
    slot: Cell<Option<u32>>,
    guarding: Guarding,
}

/// Keeps breakers for rules of the same key, which one rule of a list has at most, where they fit.
fn keep_matching<'g, K: Hash + Eq>(
    old: &'g [Old],
    rules: &'g [Guarding],
    kept: &mut [Option<u32>],
    key: impl Fn(&'g Guarding) -> Option<K>,
    fits: impl Fn(&Guarding, &Guarding) -> bool,
) {
    if kept.iter().all(Option::is_some) {
        return;
    }
    let left = old.iter().filter(|old| old.slot.get().is_some());
    // By hash, since one resource may have thousands of rules.
    let left: HashMap<K, &Old, RandomState> =
        left.filter_map(|old| Some((key(&old.guarding)?, old))).collect();
    for (place, rule) in kept.iter_mut().zip(rules).filter(|(place, _)| place.is_none()) {
        let found = key(rule).and_then(|key| left.get(&key));
        *place = found.filter(|old| fits(&old.guarding, rule)).and_then(|old| old.slot.take());
    }
}

fn equal(guarding: &Guarding) -> Option<impl Hash + Eq + use<'_>> {
    Some((guarding.default, guarding.rule.key()))
}

/// D7: another rule of the same id keeps its breaker where the window keeps its shape.
fn same_id(guarding: &Guarding) -> Option<impl Hash + Eq + use<'_>> {
    let rule = &guarding.rule;
    Some((guarding.default, rule.id()?, rule.resource(), rule.regex()))
}

fn same_shape(old: &Guarding, new: &Guarding) -> bool {
    compile(&old.rule).same_shape(&compile(&new.rule))
}
