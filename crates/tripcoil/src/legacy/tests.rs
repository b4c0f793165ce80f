use std::sync::Arc;

use super::{LegacyCheck, LegacyStatistics};
use crate::rules::{LegacyRule, Release};

fn rule(grade: u8, count: f64, time_window_s: u64) -> Arc<LegacyRule> {
    Arc::new(LegacyRule {
        resource: "r".into(),
        grade,
        count,
        time_window_s,
        min_request_amount: 5,
        rt_slow_request_amount: 5,
    })
}

fn check(rules: &[Arc<LegacyRule>]) -> LegacyCheck {
    let mut check = LegacyCheck::new();
    check.set_rules(Release::V1_7, rules.to_vec());
    check
}

/// Calls `n` times; every call that passes fails at once. How many passed, and how many did not.
fn failing_calls(check: &mut LegacyCheck, n: usize, now_ms: u64) -> (usize, usize) {
    let mut pass = 0;
    for _ in 0..n {
        if check.enter(now_ms).is_ok() {
            pass += 1;
            check.exit(now_ms, 0, true);
        }
    }
    (pass, n - pass)
}

#[test]
fn the_first_articles_run_blocks_six_of_ten() {
    for release in [Release::V1_6, Release::V1_7] {
        let mut check = LegacyCheck::new();
        check.set_rules(release, vec![rule(2, 4.0, 10)]);
        assert_eq!(failing_calls(&mut check, 10, 0), (4, 6));
        let expected = LegacyStatistics { pass: 4, block: 6, success: 4, exception: 4, rt: 0 };
        assert_eq!(check.statistics(0), expected);
    }
}

#[test]
fn the_first_articles_run_blocks_again_after_eleven_seconds() {
    let mut check = check(&[rule(2, 4.0, 10)]);
    failing_calls(&mut check, 10, 0);
    assert_eq!(check.enter(11_000).expect_err("the minute still has four").retry_after_ms, 10_000);
    assert_eq!(check.statistics(11_000).block, 1);
}

#[test]
fn the_first_articles_run_passes_after_a_minute() {
    let mut check = check(&[rule(2, 4.0, 10)]);
    failing_calls(&mut check, 10, 0);
    assert_eq!(check.enter(60_000), Ok(()));
    assert_eq!(check.statistics(60_000).pass, 1);
}

#[test]
fn response_times_are_capped() {
    let mut check = check(&[]);
    for response_time in [4899, 4901, u64::MAX] {
        assert_eq!(check.enter(0), Ok(()));
        check.exit(0, response_time, false);
    }
    assert_eq!(check.statistics(0).rt, 4899 + 2 * 4900);
}

#[test]
fn a_call_without_outcome_is_a_pass_and_no_more() {
    let mut check = check(&[rule(0, 10.0, 1)]);
    assert_eq!(check.enter(0), Ok(()));
    let expected = LegacyStatistics { pass: 1, ..LegacyStatistics::default() };
    assert_eq!(check.statistics(0), expected);
}

#[test]
fn release_1_6_ignores_the_amounts() {
    let mut eager = (*rule(1, 0.5, 1)).clone();
    eager.min_request_amount = 1;
    for (release, passes) in [(Release::V1_6, 5), (Release::V1_7, 1)] {
        let mut check = LegacyCheck::new();
        check.set_rules(release, vec![Arc::new(eager.clone())]);
        assert_eq!(failing_calls(&mut check, 10, 0).0, passes);
    }
}

#[test]
fn statistics_outlive_a_reload() {
    let mut check = check(&[]);
    failing_calls(&mut check, 4, 0);
    check.set_rules(Release::V1_7, vec![rule(2, 4.0, 10)]);
    assert!(check.enter(0).is_err());
}

#[test]
fn an_unchanged_rule_keeps_its_cut_and_a_changed_one_does_not() {
    let rules = [rule(2, 4.0, 10), rule(2, 4.0, 10), rule(1, 1.0, 3)];
    let mut check = check(&rules);
    failing_calls(&mut check, 5, 0);
    check.set_rules(Release::V1_7, vec![rules[2].clone(), rule(2, 4.0, 10)]);
    assert_eq!(check.enter(4_000).expect_err("still cut").retry_after_ms, 6_000);
    check.set_rules(Release::V1_7, vec![rule(2, 4.0, 90)]);
    assert_eq!(check.enter(4_000).expect_err("cut anew").retry_after_ms, 90_000);
    check.set_rules(Release::V1_7, vec![rule(2, 5.0, 90)]);
    assert_eq!(check.enter(4_000), Ok(()));
}

#[test]
fn the_first_rule_that_rejects_is_named() {
    let rules = [rule(2, 9.0, 10), rule(2, 3.0, 20), rule(2, 2.0, 30)];
    let mut check = check(&rules);
    failing_calls(&mut check, 2, 0);
    let block = check.enter(0).expect_err("two exceptions");
    assert_eq!(block.rule, rules[2]);
}

#[test]
fn a_clock_that_steps_back_does_not_prolong_a_cut() {
    let mut check = check(&[rule(2, 1.0, 10)]);
    failing_calls(&mut check, 2, 1_000_000);
    assert_eq!(check.enter(7).expect_err("cut").retry_after_ms, 10_000);
    assert_eq!(check.enter(10_006).expect_err("cut").retry_after_ms, 1);
    assert_eq!(check.enter(1_100_000), Ok(()));
}

#[test]
fn extremes_do_not_panic() {
    let mut check = check(&[rule(0, 0.0, u64::MAX), rule(1, 0.0, u64::MAX), rule(2, 0.0, 0)]);
    for now in [u64::MAX, 0, 1, u64::MAX - 1, 500, u64::MAX] {
        failing_calls(&mut check, 20, now);
        check.exit(now, u64::MAX, true);
        check.statistics(now);
    }
}
