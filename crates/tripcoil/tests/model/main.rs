//! The library does what the sequential model does, whatever happens: verdicts, states, events, counts,
//! waits and totals are the same after every step.

mod ops;
mod rules;
mod world;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;

use ops::{Op, manual, op};
use rules::rules;
use world::World;

fn config() -> Config {
    // Regressions become named vectors, which every language runs, and not a file of seeds.
    let default = Config::default();
    Config { failure_persistence: None, cases: 4 * default.cases, ..default }
}

fn run(ops: Vec<Op>) -> Result<(), TestCaseError> {
    let mut world = World::new();
    for (position, op) in ops.into_iter().enumerate() {
        let shown = format!("{op:?}");
        world.step(op).map_err(|difference| {
            TestCaseError::fail(format!("at operation {position}, {shown}: {difference}"))
        })?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn calls_under_rules_that_stay(rules in rules(), calls in vec(ops::call(), 1..150)) {
        run(std::iter::once(Op::Load(rules)).chain(calls).collect())?;
    }

    #[test]
    fn calls_while_rules_are_replaced(rules in rules(), ops in vec(op(), 1..150)) {
        run(std::iter::once(Op::Load(rules)).chain(ops).collect())?;
    }

    #[test]
    fn calls_under_manual_control(rules in rules(), ops in vec(prop_oneof![6 => ops::call(), 1 => manual()], 1..150)) {
        run(std::iter::once(Op::Load(rules)).chain(ops).collect())?;
    }
}
