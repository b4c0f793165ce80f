//! Calls by name, in an order that no cache foresees, beside calls by handle in the same order.

use std::collections::HashMap;
use std::hint::black_box;

use tripcoil::{Outcome, Resource};
use tripcoil_cases::{entered, entered_by_name, named};

use crate::rounds::{Rounds, timed};

/// Adds all subjects.
pub(crate) fn add_to(rounds: &mut Rounds) {
    for count in NAMES {
        let (registry, names) = named(count);
        let handles: Vec<Resource> =
            names.iter().map(|name| registry.resource(name).expect("a name")).collect();
        rounds.add_run(format!("by handle/{count}"), walk(handles, |handle| entered(handle, Outcome::Good)));
        // What a look-up takes without a registry, and with no other thread that may write.
        let map: HashMap<String, usize> = names.iter().cloned().zip(0..).collect();
        let wanted = names.clone();
        rounds.add_run(format!("HashMap::get/{count}"), walk(wanted, move |name| map.get(name).copied()));
        rounds.add_run(format!("by name/{count}"), walk(names, move |name| entered_by_name(&registry, name)));
    }
}

/// A run over the items, each turn from where the one before stopped.
fn walk<I: 'static, T>(items: Vec<I>, mut call: impl FnMut(&I) -> T + 'static) -> impl FnMut(u32) -> f64 {
    let mut next = 0;
    move |calls| {
        timed(calls, |calls| {
            for _ in 0..calls {
                black_box(call(&items[next]));
                next = if next + 1 == items.len() { 0 } else { next + 1 };
            }
        })
    }
}

pub(crate) const NAMES: [usize; 6] = [10, 100, 1_000, 10_000, 100_000, 1_000_000];
