//! What happens in a trace.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use tripcoil_model::{MS, Mode, ModelRule, Outcome};

use crate::rules::{NAMES, rule, rules, rules_for};

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Enter(&'static str),
    /// Ends one of the entries, perhaps again, perhaps with a response time (ns) that the caller measured.
    End(Index, Outcome, Option<u64>),
    /// The clock goes on by so many ns.
    Advance(u64),
    /// The clock goes to where some breaker's wait ends, or 1 ns to either side of it.
    AdvanceToDeadline(Index, i64),
    /// The clock goes to where the current stretch of so many ns ends, or 1 ns before.
    AdvanceToMultiple(u64, u64),
    GoBack(u64),
    Load(Vec<ModelRule>),
    /// Another rule's numbers for one of the ordinary rules, which keeps its name, grade and window.
    Edit(Index, ModelRule),
    /// Two of the ordinary rules under each other's ids.
    SwapIds(Index, Index),
    /// The same ordinary rules from last to first.
    Reverse,
    /// One of the ordinary rules less.
    Remove(Index),
    LoadResource(&'static str, Vec<ModelRule>),
    LoadDefaults(Vec<ModelRule>),
    Exclude(&'static str, bool),
    SetMode(&'static str, Index, Mode),
    Reset(&'static str, Index),
    ResetAll(&'static str),
}

fn name() -> impl Strategy<Value = &'static str> {
    // Most calls on one resource, so that it gets somewhere.
    prop_oneof![4 => Just(NAMES[0]), 1 => select(&NAMES[..])]
}

/// Calls, and time.
pub(crate) fn call() -> impl Strategy<Value = Op> {
    let outcome = prop_oneof![
        8 => Just(Outcome::Bad),
        4 => Just(Outcome::Good),
        1 => Just(Outcome::Ignored),
        1 => Just(Outcome::Cancelled),
    ];
    let measured = select(&[None, None, None, Some(0), Some(10 * MS), Some(10 * MS + 1), Some(MS)][..]);
    let some_time =
        select(&[1, MS, 10 * MS, 10 * MS + 1, 100 * MS, 500 * MS, 1000 * MS, 2500 * MS, 20_000 * MS][..]);
    let stretch = select(&[MS, 100 * MS, 500 * MS, 1000 * MS][..]);
    prop_oneof![
        10 => name().prop_map(Op::Enter),
        9 => (any::<Index>(), outcome, measured).prop_map(|(entry, outcome, time)| Op::End(entry, outcome, time)),
        2 => some_time.clone().prop_map(Op::Advance),
        2 => (any::<Index>(), -1..=1_i64).prop_map(|(breaker, offset)| Op::AdvanceToDeadline(breaker, offset)),
        1 => (stretch, 0..=1_u64).prop_map(|(stretch, before)| Op::AdvanceToMultiple(stretch, before)),
        1 => some_time.prop_map(Op::GoBack),
    ]
}

/// Calls, and rules that are replaced between them.
pub(crate) fn op() -> impl Strategy<Value = Op> {
    let any_rule = || rule(Just((NAMES[0], false)));
    let for_name = select(&NAMES[..]).prop_flat_map(|name| (Just(name), rules_for(name)));
    let reload = prop_oneof![
        1 => rules().prop_map(Op::Load),
        4 => (any::<Index>(), any_rule()).prop_map(|(position, rule)| Op::Edit(position, rule)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(one, other)| Op::SwapIds(one, other)),
        1 => Just(Op::Reverse),
        1 => any::<Index>().prop_map(Op::Remove),
        1 => for_name.prop_map(|(name, rules)| Op::LoadResource(name, rules)),
        1 => rules_for("*").prop_map(Op::LoadDefaults),
        1 => (select(&NAMES[..]), any::<bool>()).prop_map(|(name, out)| Op::Exclude(name, out)),
    ];
    prop_oneof![20 => call(), 3 => reload, 1 => manual()]
}

/// Modes, and resets.
pub(crate) fn manual() -> impl Strategy<Value = Op> {
    let mode =
        select(&[Mode::Normal, Mode::ForcedOpen, Mode::Disabled, Mode::ObserveOnly, Mode::ObserveOnly][..]);
    prop_oneof![
        4 => (name(), any::<Index>(), mode).prop_map(|(name, position, mode)| Op::SetMode(name, position, mode)),
        1 => (name(), any::<Index>()).prop_map(|(name, position)| Op::Reset(name, position)),
        1 => name().prop_map(Op::ResetAll),
    ]
}
