//! The library does what the sequential model does, whatever happens: verdicts, states, events, counts,
//! waits and totals are the same after every step.

use arbitrary::Unstructured;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;
use tripcoil_model::{MS, ModelRule, Outcome};
use tripcoil_random::{Mix, Op, Pick, SHORTEST_WINDOW_MS, Trace, World};

fn config() -> Config {
    // Regressions become named vectors, which every language runs, and not a file of seeds.
    let default = Config::default();
    Config { failure_persistence: None, cases: 4 * default.cases, ..default }
}

/// Some hundred operations.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 1..600)
}

fn run(bytes: &[u8], mix: Mix) -> Result<(), TestCaseError> {
    let trace = Trace::draw(&mut Unstructured::new(bytes), mix).unwrap();
    World::run(&trace).map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn calls_under_rules_that_stay(bytes in bytes()) {
        run(&bytes, Mix::Calls)?;
    }

    #[test]
    fn calls_while_rules_are_replaced(bytes in bytes()) {
        run(&bytes, Mix::All)?;
    }

    #[test]
    fn calls_under_manual_control(bytes in bytes()) {
        run(&bytes, Mix::Manual)?;
    }

    #[test]
    fn a_clock_that_goes_back_by_very_many_windows(outcome in prop_oneof![Just(Outcome::Good), Just(Outcome::Bad)]) {
        let far = 20_000 * SHORTEST_WINDOW_MS * MS;
        let rule = ModelRule {
            resource: "a".to_owned(),
            grade: 2,
            min_request_amount: 1,
            stat_interval_ms: SHORTEST_WINDOW_MS,
            buckets: 1,
            time_window_ms: 1000,
            probe_num: 1,
            backoff_factor: 1.0,
            max_retry_timeout_ms: 1000,
            limit_app: "default".to_owned(),
            ..ModelRule::default()
        };
        let call = [Op::Enter("a"), Op::End(Pick(0), outcome, None), Op::Advance(MS)];
        let ops = [Op::Load(vec![rule]), Op::Advance(far), Op::ResetAll("a"), Op::GoBack(far)];
        World::run(&Trace(ops.into_iter().chain(call).collect())).map_err(TestCaseError::fail)?;
    }
}
