//! The check before 1.8 (spec section 12), as a registry makes it.

mod support;

use serde_json::json;
use support::{World, call, calls, is_blocked, ms, r0_with};
use tripcoil::{Outcome, Release, Resource, State};

const FIRST_ARTICLE: &str = r#"[{"resource": "r", "grade": 2, "count": 4, "timeWindow": 10}]"#;

fn world(release: Release, rules: &str) -> World {
    let world = World::new(&json!([]));
    world.registry.load_legacy(release, rules).unwrap();
    world
}

/// Makes failing calls; how many passed and how many were blocked.
fn failing(r: &Resource, count: usize) -> (usize, usize) {
    let passed = (0..count).filter(|_| r.enter().map(|entry| entry.end(Outcome::Bad)).is_ok()).count();
    (passed, count - passed)
}

#[test]
fn the_first_articles_run_passes_four_and_blocks_six() {
    for release in [Release::V1_6, Release::V1_7] {
        for (pause, one_more) in [(11, (0, 1)), (60, (1, 0))] {
            let world = world(release, FIRST_ARTICLE);
            let r = world.r();
            assert_eq!(failing(&r, 10), (4, 6));
            world.at(pause * 1000);
            assert_eq!(failing(&r, 1), one_more, "after {pause} s");
        }
    }
}

#[test]
fn a_rejection_names_its_rule_and_how_long_the_cut_lasts() {
    let world = world(Release::V1_7, FIRST_ARTICLE);
    let r = world.r();
    calls(&r, 4, Outcome::Bad);
    let blocked = r.enter().unwrap_err();
    assert_eq!((blocked.resource(), blocked.state(), blocked.rule()), ("r", State::Open, None));
    assert_eq!(blocked.legacy_rule().unwrap().time_window_s, 10);
    assert_eq!(blocked.retry_after(), Some(ms(10_000)));
    world.at(4_000);
    assert_eq!(r.enter().unwrap_err().retry_after(), Some(ms(6_000)));
}

#[test]
fn it_has_no_states_and_makes_no_events() {
    let world = world(Release::V1_7, FIRST_ARTICLE);
    failing(&world.r(), 10);
    assert_eq!((world.r().breakers().len(), world.changes().len()), (0, 0));
}

#[test]
fn a_call_without_outcome_is_a_pass_and_no_more() {
    let world = world(Release::V1_7, FIRST_ARTICLE);
    let r = world.r();
    call(&r, Outcome::Good);
    call(&r, Outcome::Ignored);
    call(&r, Outcome::Cancelled);
    drop(r.enter().unwrap());
    let entry = r.enter().unwrap();
    world.at(400);
    entry.end_with(Outcome::Bad, ms(6_000));
    let now = r.legacy_statistics().unwrap();
    assert_eq!((now.pass, now.block, now.success, now.exception), (5, 0, 2, 1));
    assert_eq!(now.rt, 4_900, "a response time is capped");
}

#[test]
fn statistics_outlive_reloads_and_the_rules_are_replaced_at_once() {
    let world = world(Release::V1_7, FIRST_ARTICLE);
    let r = world.r();
    calls(&r, 3, Outcome::Bad);
    let lower = FIRST_ARTICLE.replace(r#""count": 4"#, r#""count": 3"#);
    world.registry.load_legacy(Release::V1_7, &lower).unwrap();
    assert!(is_blocked(&r));
    world.registry.load_legacy(Release::V1_7, "[]").unwrap();
    call(&r, Outcome::Bad);
    world.registry.load_legacy(Release::V1_7, FIRST_ARTICLE).unwrap();
    assert!(is_blocked(&r), "the fourth was counted without a rule");
}

#[test]
fn a_faulty_document_changes_nothing_and_every_fault_is_named() {
    let world = world(Release::V1_7, FIRST_ARTICLE);
    let wrong = r#"[{"resource": "r", "grade": 3, "count": 1, "timeWindow": 0},
                    {"resource": "", "grade": 1, "count": 1.5, "timeWindow": 1}]"#;
    let faults = world.registry.load_legacy(Release::V1_7, wrong).unwrap_err();
    let mut places: Vec<_> = faults.iter().map(|f| (f.index.unwrap(), f.field.clone().unwrap())).collect();
    places.sort();
    let expected = [(0, "grade"), (0, "timeWindow"), (1, "count"), (1, "resource")];
    assert_eq!(places, expected.map(|(index, field)| (index, field.to_owned())));
    assert_eq!(failing(&world.r(), 10), (4, 6));
}

#[test]
fn the_release_decides_what_the_amounts_are() {
    let rules = r#"[{"resource": "r", "grade": 1, "count": 0.5, "timeWindow": 10, "minRequestAmount": 2}]"#;
    for (release, passes, warnings) in [(Release::V1_6, 5, 1), (Release::V1_7, 2, 0)] {
        let world = World::new(&json!([]));
        let report = world.registry.load_legacy(release, rules).unwrap();
        assert_eq!((report.rules, report.warnings.len()), (1, warnings));
        assert_eq!(failing(&world.r(), 10).0, passes, "{release:?}");
    }
}

#[test]
fn it_is_apart_from_the_breakers() {
    let world = World::new(&json!([r0_with(&json!({"minRequestAmount": 2}))]));
    let r = world.r();
    assert_eq!(r.legacy_statistics(), None, "it is chosen explicitly");
    world.registry.load_legacy(Release::V1_6, FIRST_ARTICLE).unwrap();
    calls(&r, 2, Outcome::Bad);
    let blocked = r.enter().unwrap_err();
    assert!(blocked.rule().is_some() && blocked.legacy_rule().is_none());
}

#[test]
fn a_call_that_it_blocks_moves_no_breaker() {
    let world = World::new(&json!([r0_with(&json!({"timeWindow": 1}))]));
    let r = world.r();
    world.registry.load_legacy(Release::V1_7, FIRST_ARTICLE).unwrap();
    calls(&r, 4, Outcome::Bad);
    world.at(1_000);
    world.changes();
    assert!(r.enter().unwrap_err().legacy_rule().is_some());
    assert_eq!(world.moves(), [], "no probe was made");
}
