//! The library does what the sequential model does, whatever happens: verdicts, states, events, counts,
//! waits and totals are the same after every step.

mod ops;
mod rules;
mod world;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::Config;
use tripcoil_model::{MS, ModelRule, Outcome};

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

    #[test]
    fn a_clock_that_goes_back_by_very_many_windows(entry in any::<Index>()) {
        let far = 20_000 * rules::SHORTEST_WINDOW_MS * MS;
        let rule = ModelRule {
            resource: "a".to_owned(),
            grade: 2,
            min_request_amount: 1,
            stat_interval_ms: rules::SHORTEST_WINDOW_MS,
            buckets: 1,
            time_window_ms: 1000,
            probe_num: 1,
            backoff_factor: 1.0,
            max_retry_timeout_ms: 1000,
            limit_app: "default".to_owned(),
            ..ModelRule::default()
        };
        let call = [Op::Enter("a"), Op::End(entry, Outcome::Good, None), Op::Advance(MS)];
        let ops = [Op::Load(vec![rule]), Op::Advance(far), Op::ResetAll("a"), Op::GoBack(far)];
        run(ops.into_iter().chain(call).collect())?;
    }
}
