//! Which rules a resource's slots have, and how a reload keeps what it can (spec section 7, D5, D7).

use std::sync::Arc;

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
        let mut old: Vec<Option<InUse>> = std::mem::take(&mut self.breakers).into_iter().map(Some).collect();
        let mut kept: Vec<Option<u32>> = vec![None; rules.len()];
        for same in [equal as fn(&Guarding, &Guarding) -> bool, edited] {
            for (place, rule) in kept.iter_mut().zip(rules).filter(|(place, _)| place.is_none()) {
                let found =
                    old.iter_mut().find(|old| old.as_ref().is_some_and(|old| same(&old.guarding, rule)));
                *place = found.and_then(Option::take).map(|breaker| breaker.slot);
            }
        }
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
        for InUse { slot, .. } in old.into_iter().flatten() {
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

fn equal(old: &Guarding, new: &Guarding) -> bool {
    old.default == new.default && old.rule.same(&new.rule)
}

/// D7: another rule of the same id keeps its breaker where the window keeps its shape.
fn edited(old: &Guarding, new: &Guarding) -> bool {
    let (old_rule, new_rule) = (&old.rule, &new.rule);
    old.default == new.default
        && old_rule.id().is_some()
        && old_rule.id() == new_rule.id()
        && old_rule.resource() == new_rule.resource()
        && old_rule.regex() == new_rule.regex()
        && compile(old_rule).same_shape(&compile(new_rule))
}
