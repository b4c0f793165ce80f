//! Replacing rules (spec section 7, D4, D7), one after the other.

mod support;

use serde_json::{Value, json};
use support::{World, breaker, call, calls, is_blocked, ms, r0, r0_with, snapshot, state, states, trip};
use tripcoil::{Fault, Outcome, Rule, State};

fn places(faults: &[Fault]) -> Vec<(usize, String)> {
    faults.iter().map(|fault| (fault.index.unwrap(), fault.field.clone().unwrap())).collect()
}

fn three_faults() -> Value {
    json!([
        r0(),
        r0_with(&json!({"count": 1.5})),
        {"resource": "other", "grade": 2, "count": 1, "timeWindow": 0, "probeNum": 0},
    ])
}

#[test]
fn one_bad_rule_in_a_set_and_nothing_is_applied() {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    let faults = world.registry.load_json(three_faults().to_string()).unwrap_err();
    let expected = [(1, "count"), (2, "timeWindow"), (2, "probeNum")];
    let mut named = places(&faults);
    named.sort();
    let mut expected = expected.map(|(index, field)| (index, field.to_owned()));
    expected.sort();
    assert_eq!(named, expected, "every fault is named");
    assert_eq!(faults.to_string().lines().count(), 3);
    assert_eq!((state(&r), world.registry.rules().len()), (State::Open, 1));
    assert!(world.resource("other").breakers().is_empty());
}

#[test]
fn a_lenient_load_takes_the_valid_rules_and_reports_the_same_faults() {
    let world = World::new(&json!([]));
    let report = world.registry.load_json_lenient(three_faults().to_string()).unwrap();
    let strict = world.registry.load_json(three_faults().to_string()).unwrap_err();
    assert_eq!((report.rules, &report.faults[..]), (1, &strict[..]));
    assert_eq!((world.r().breakers().len(), world.resource("other").breakers().len()), (1, 0));
    assert!(world.registry.load_json_lenient("{").is_err());
    assert_eq!(world.r().breakers().len(), 1, "an unreadable document changes nothing");
}

#[test]
fn an_entry_outlives_its_rule_and_its_old_breaker_says_nothing() {
    let world = World::new(&r0_with(&json!({"minRequestAmount": 1})));
    let r = world.r();
    let entry = r.enter().unwrap();
    world.load(&r0_with(&json!({"minRequestAmount": 1, "timeWindow": 9})));
    entry.end(Outcome::Bad);
    assert_eq!((state(&r), snapshot(&r).totals.passed), (State::Closed, 0));
    assert_eq!(world.moves(), []);
    call(&r, Outcome::Bad);
    assert_eq!(world.moves(), [(State::Closed, State::Open)]);
}

#[test]
fn an_entry_completes_on_the_breaker_that_a_reload_has_kept() {
    let kept = r0_with(&json!({"id": "kept"}));
    let world = World::new(&json!([kept]));
    let r = world.r();
    let entries: Vec<_> = (0..4).map(|_| r.enter_owned().unwrap()).collect();
    let other = json!({"resource": "r", "grade": 3, "count": 1, "timeWindow": 9});
    world.load(&json!([other, kept]));
    entries.iter().for_each(|entry| entry.end(Outcome::Bad).unwrap());
    assert_eq!(states(&r), [State::Closed, State::Open], "the new one has not admitted them");
    let change = world.changes().pop().unwrap();
    assert_eq!((change.position, change.rule.id()), (1, Some("kept")), "its position is the new one");
}

#[test]
fn a_slot_that_has_had_many_rules_serves_its_last_alone() {
    let world = World::new(&json!([]));
    let r = world.r();
    let mut old = Vec::new();
    for round in 1..200_u64 {
        let buckets = [1, 10, 2, 5][round as usize % 4];
        let fields = json!({"timeWindow": round, "statSlidingWindowBucketCount": buckets});
        world.load(&r0_with(&fields));
        old.push(r.enter_owned().unwrap());
        assert_eq!(snapshot(&r).totals.passed, 0, "round {round}");
        calls(&r, 3, Outcome::Bad);
        for late in old.iter().rev().skip(1).step_by(3) {
            let _ = late.end(Outcome::Bad);
        }
        let now = snapshot(&r);
        assert_eq!((now.state, now.bad, now.totals.passed), (State::Closed, 3, 3), "round {round}");
        call(&r, Outcome::Bad);
        assert_eq!(snapshot(&r).retry_after, Some(ms(round * 1000)), "round {round}");
    }
    assert_eq!(world.changes().len(), 199);
}

#[test]
fn replacing_many_rules_of_one_resource_does_not_take_quadratic_time() {
    let world = World::new(&json!([]));
    let r = world.r();
    // None of the slots that the rules before had fits the next, then all of them do.
    for (first, buckets) in [(1, 1), (100_001, 2), (200_001, 4), (300_001, 1), (400_001, 2)] {
        let fields = |n| json!({"timeWindow": n, "statSlidingWindowBucketCount": buckets});
        let rules: Vec<_> = (first..first + 100_000).map(|n| r0_with(&fields(n))).collect();
        world.load(&json!(rules));
        assert_eq!(r.breakers().len(), 100_000);
    }
}

#[test]
fn a_rejection_names_the_rule_that_made_it_after_a_reload_too() {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    let blocked = r.enter().unwrap_err();
    let rule = breaker(&r).rule().clone();
    world.load(&json!([]));
    assert_eq!(
        (blocked.rule(), blocked.state(), blocked.retry_after()),
        (Some(rule), State::Open, Some(ms(2_000)))
    );
    assert!(!is_blocked(&r));
}

#[test]
fn one_resources_exact_rules_can_be_set_alone() {
    let pattern = r0_with(&json!({"resource": "r|s", "regex": true}));
    let world = World::new(&json!([r0(), r0_with(&json!({"resource": "s"})), pattern]));
    let (r, s) = (world.r(), world.resource("s"));
    trip(&r);
    trip(&s);
    let own = json!([r0_with(&json!({"timeWindow": 5})), r0()]);
    let report = world.registry.load_resource_json("r", own.to_string()).unwrap();
    assert_eq!(report.rules, 2);
    assert_eq!(states(&r), [State::Closed, State::Open, State::Open], "the pattern's stays behind them");
    assert_eq!(states(&s), [State::Open, State::Open]);
    let foreign = json!([r0(), r0_with(&json!({"resource": "s"})), r0_with(&json!({"regex": true}))]);
    let faults = world.registry.load_resource_json("r", foreign.to_string()).unwrap_err();
    assert_eq!(places(&faults), [(1, "resource".into()), (2, "regex".into())]);
    assert_eq!(states(&r).len(), 3);
    world.registry.load_resource_rules("r", []).unwrap();
    assert_eq!(states(&r), [State::Open]);
}

#[test]
fn the_same_document_again_is_what_was_loaded_last_only_where_nothing_else_was() {
    let text = json!([r0(), r0_with(&json!({"resource": "s"}))]).to_string();
    let world = World::new(&json!([]));
    let report = world.registry.load_json(&text).unwrap();
    trip(&world.r());
    assert_eq!(world.registry.load_json(&text), Ok(report.clone()));
    assert_eq!(state(&world.r()), State::Open);
    let undone: [&dyn Fn(); 3] = [
        &|| drop(world.registry.load_resource_rules("r", []).unwrap()),
        &|| drop(world.registry.load_rules([]).unwrap()),
        &|| drop(world.registry.load_json("[]").unwrap()),
    ];
    for undo in undone {
        undo();
        assert!(world.r().breakers().is_empty());
        assert_eq!(world.registry.load_json(&text), Ok(report.clone()));
        assert_eq!(states(&world.r()), [State::Closed]);
    }
    let faulty = three_faults().to_string();
    let lenient = world.registry.load_json_lenient(&faulty).unwrap();
    assert!(world.registry.load_json(&faulty).is_err());
    assert_eq!(world.registry.load_json_lenient(&faulty), Ok(lenient));
}

#[test]
fn rules_for_a_resource_may_come_before_its_first_call() {
    let world = World::new(&json!([]));
    world.registry.load_resource_json("r", r0().to_string()).unwrap();
    assert!(world.registry.is_empty());
    trip(&world.r());
}

#[test]
fn rules_that_were_built_are_loaded_as_those_of_a_document() {
    let world = World::new(&json!([]));
    let build = |id: &str| {
        let rule = Rule::error_ratio("r").threshold(0.5).retry_timeout(ms(1_500)).min_request_amount(4);
        rule.id(id).build().unwrap()
    };
    world.registry.load_rules([build("1")]).unwrap();
    let r = world.r();
    trip(&r);
    assert_eq!(snapshot(&r).retry_after, Some(ms(1_500)));
    let other = Rule::error_count("r").threshold(3.0).retry_timeout(ms(1)).id(1).build().unwrap();
    let faults = world.registry.load_rules([build("1"), other]).unwrap_err();
    assert_eq!(places(&faults), [(1, "id".to_owned())]);
    assert_eq!(state(&r), State::Open);
}

#[test]
fn a_kept_breaker_takes_the_new_rules_id() {
    let world = World::new(&r0_with(&json!({"id": "old"})));
    let r = world.r();
    trip(&r);
    world.load(&r0_with(&json!({"id": "new"})));
    assert_eq!((state(&r), breaker(&r).rule().id().map(str::to_owned)), (State::Open, Some("new".into())));
    world.load(&r0_with(&json!({"id": "new", "timeWindow": 8})));
    assert_eq!((state(&r), snapshot(&r).retry_after), (State::Open, Some(ms(2_000))), "the deadline stays");
}
