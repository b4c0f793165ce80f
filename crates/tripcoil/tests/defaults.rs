//! Default and regex rules, exclusion, and what they keep over a reload (spec section 7, D5).

mod support;

use serde_json::{Value, json};
use support::{World, call, calls, is_blocked, r0, r0_with, snapshot, state, states, trip};
use tripcoil::{Breaker, Outcome, Resource, State};

fn default_rule() -> Value {
    r0_with(&json!({"resource": "*"}))
}

fn world(ordinary: &Value, defaults: &Value) -> World {
    let world = World::new(ordinary);
    world.registry.load_defaults_json(defaults.to_string()).unwrap();
    world
}

fn guards(resource: &Resource) -> Vec<String> {
    resource.breakers().iter().map(|breaker| breaker.rule().resource().to_owned()).collect()
}

#[test]
fn default_rules_guard_whom_no_other_rule_matches_each_with_breakers_of_its_own() {
    let pattern = r0_with(&json!({"resource": "cart/.*", "regex": true}));
    let world = world(
        &json!([r0(), pattern]),
        &json!([default_rule(), {"resource": "*", "count": 9, "timeWindow": 1}]),
    );
    assert_eq!(guards(&world.r()), ["r"]);
    assert_eq!(guards(&world.resource("cart/7")), ["cart/.*"]);
    let (a, b) = (world.resource("a"), world.resource("b"));
    assert_eq!((guards(&a), guards(&b)), (vec!["*".to_owned(); 2], vec!["*".to_owned(); 2]));
    trip(&a);
    assert!(is_blocked(&a) && !is_blocked(&b));
    let change = world.changes().pop().unwrap();
    assert_eq!((&*change.resource, change.rule.resource()), ("a", "*"), "the resource's own name is told");
    assert_eq!(a.enter().unwrap_err().resource(), "a");
}

#[test]
fn the_star_is_a_plain_name_in_an_ordinary_load() {
    let world = World::new(&default_rule());
    assert_eq!(guards(&world.resource("a")), [""; 0]);
    assert_eq!(guards(&world.resource("*")), ["*"]);
}

#[test]
fn excluded_names_are_not_guarded_and_can_be_included_again() {
    let world = world(&json!([]), &default_rule());
    let (a, b) = (world.resource("a"), world.resource("b"));
    trip(&a);
    trip(&b);
    world.registry.exclude(["a", "later"]).unwrap();
    assert_eq!(world.registry.excluded(), ["a", "later"]);
    assert!(a.breakers().is_empty() && world.resource("later").breakers().is_empty());
    call(&a, Outcome::Bad);
    assert_eq!(state(&b), State::Open, "the others keep theirs");
    world.registry.include(["a"]).unwrap();
    assert_eq!(world.registry.excluded(), ["later"]);
    assert_eq!((states(&a), snapshot(&a).bad), (vec![State::Closed], 0), "it returns fresh");
    assert_eq!(state(&b), State::Open);
}

#[test]
fn a_name_that_no_resource_can_have_is_not_excluded() {
    let world = world(&json!([]), &default_rule());
    world.registry.exclude(["a"]).unwrap();
    for wrong in ["", " ", "a\0", &"a".repeat(1025)] {
        let error = tripcoil::check_name(wrong).unwrap_err();
        assert_eq!(world.registry.exclude(["b", wrong]), Err(error));
        assert_eq!(world.registry.include(["a", wrong]), Err(error));
    }
    assert_eq!(world.registry.excluded(), ["a"]);
}

#[test]
fn exclusion_is_from_default_rules_only() {
    let world = world(&json!([r0(), r0_with(&json!({"resource": "x.*", "regex": true}))]), &default_rule());
    world.registry.exclude(["r", "x1"]).unwrap();
    assert_eq!((guards(&world.r()), guards(&world.resource("x1"))), (vec!["r".into()], vec!["x.*".into()]));
}

#[test]
fn both_keep_state_over_a_reload_that_leaves_them_unchanged() {
    let pattern = r0_with(&json!({"resource": "x.*", "regex": true}));
    let world = world(&json!([pattern]), &default_rule());
    let (matched, other) = (world.resource("x1"), world.resource("other"));
    let counting = world.resource("x2");
    calls(&counting, 3, Outcome::Bad);
    trip(&matched);
    trip(&other);
    world.load(&json!([r0(), pattern]));
    world.registry.load_defaults_json(json!([default_rule()]).to_string()).unwrap();
    assert_eq!((state(&matched), state(&other), snapshot(&counting).bad), (State::Open, State::Open, 3));
    call(&counting, Outcome::Bad);
    assert_eq!(state(&counting), State::Open);
}

#[test]
fn a_resource_that_leaves_a_pattern_or_the_defaults_and_returns_gets_fresh_breakers() {
    let pattern = r0_with(&json!({"resource": "x.*", "regex": true}));
    let world = world(&json!([pattern]), &default_rule());
    let (matched, other) = (world.resource("x1"), world.resource("other"));
    trip(&matched);
    trip(&other);
    let own = r0_with(&json!({"resource": "other", "timeWindow": 3}));
    world.load(&json!([own]));
    assert_eq!((guards(&matched), state(&matched)), (vec!["*".into()], State::Closed));
    assert_eq!((guards(&other), state(&other)), (vec!["other".into()], State::Closed));
    world.load(&json!([pattern]));
    assert_eq!((guards(&matched), state(&matched)), (vec!["x.*".into()], State::Closed));
    assert_eq!((guards(&other), state(&other)), (vec!["*".into()], State::Closed));
}

#[test]
fn default_and_ordinary_rules_are_never_matched_with_each_other() {
    let world = world(&json!([]), &r0_with(&json!({"resource": "*", "id": 1})));
    let star = world.resource("*");
    trip(&star);
    world.load(&json!([r0_with(&json!({"resource": "*", "id": 1}))]));
    assert_eq!(state(&star), State::Closed, "the same rule, loaded otherwise, is another breaker");
    trip(&star);
    world.load(&json!([]));
    assert_eq!(state(&star), State::Closed);
}

#[test]
fn exact_rules_come_before_regex_rules_each_in_their_order() {
    let pattern = |text| r0_with(&json!({"resource": text, "regex": true}));
    let exact = |id, seconds: u64| r0_with(&json!({"id": id, "timeWindow": seconds}));
    let world = World::new(&json!([pattern("r+"), exact("b", 3), pattern("[r]"), exact("a", 2)]));
    let order: Vec<_> = world.r().breakers().iter().map(|b: &Breaker| b.rule().to_json()).collect();
    let position = |text: &str| order.iter().position(|rule| rule.contains(text)).unwrap();
    let found = [r#""b""#, r#""a""#, "r+", "[r]"].map(position);
    assert_eq!(found, [0, 1, 2, 3]);
}

#[test]
fn a_pattern_must_match_the_whole_name_and_each_of_its_alternatives_too() {
    let world = World::new(&r0_with(&json!({"resource": "a|bc", "regex": true})));
    let guarded =
        ["a", "bc", "ab", "xbc", "abc", "A"].map(|name| !world.resource(name).breakers().is_empty());
    assert_eq!(guarded, [true, true, false, false, false, false]);
}

#[test]
fn a_faulty_default_load_changes_nothing() {
    let world = world(&json!([]), &default_rule());
    let a = world.resource("a");
    trip(&a);
    let faults = world.registry.load_defaults_json(json!([default_rule(), r0()]).to_string()).unwrap_err();
    assert_eq!((faults.len(), faults[0].index, faults[0].field.as_deref()), (1, Some(1), Some("resource")));
    assert_eq!((guards(&a), state(&a)), (vec!["*".into()], State::Open));
}
