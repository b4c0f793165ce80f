//! Rules of a resource's own: beneath what is loaded for it, above default rules.

mod support;

use serde_json::json;
use support::{World, call, is_blocked, r0, r0_with, snapshot, trip};
use tripcoil::{Outcome, Registry, Resource, Rule, RuleBuilder, Strategy};

fn rule(name: &str, threshold: f64) -> Rule {
    let builder = RuleBuilder::new(Strategy::ErrorCount, name).threshold(threshold).min_request_amount(1);
    builder.retry_timeout(std::time::Duration::from_secs(1)).build().unwrap()
}

fn thresholds(resource: &Resource) -> Vec<f64> {
    resource.breakers().iter().map(|breaker| breaker.rule().threshold()).collect()
}

#[test]
fn loaded_rules_come_before_own_ones_and_own_ones_before_default_ones() {
    let world = World::new(&json!([]));
    let registry = &world.registry;
    registry.load_defaults_json(r0_with(&json!({"resource": "*"})).to_string()).unwrap();
    registry.set_own_rules("r", [rule("r", 7.0)]).unwrap();
    assert_eq!(thresholds(&world.r()), [7.0]);
    registry.load_rules([rule("r", 2.0)]).unwrap();
    assert_eq!(thresholds(&world.r()), [2.0]);
    registry.set_own_rules("r", [rule("r", 8.0)]).unwrap();
    assert_eq!(thresholds(&world.r()), [2.0], "whatever came later");
    let pattern = r0_with(&json!({"resource": ".", "regex": true, "count": 0.25}));
    registry.load_json(pattern.to_string()).unwrap();
    assert_eq!(thresholds(&world.r()), [0.25]);
    registry.load_rules([]).unwrap();
    assert_eq!(thresholds(&world.r()), [8.0]);
    registry.set_own_rules("r", []).unwrap();
    assert_eq!(thresholds(&world.r()), [0.5], "the default rule's");
}

#[test]
fn a_load_of_others_keeps_the_breaker_of_an_own_rule_and_so_does_one_of_the_same() {
    let world = World::new(&json!([]));
    world.registry.set_own_rules("r", [rule("r", 7.0)]).unwrap();
    let resource = world.r();
    call(&resource, Outcome::Bad);
    world.registry.load_json(r0_with(&json!({"resource": "other"})).to_string()).unwrap();
    assert_eq!(snapshot(&resource).bad, 1);
    world.registry.load_rules([rule("r", 7.0)]).unwrap();
    assert_eq!(snapshot(&resource).bad, 1);
}

#[test]
fn own_rules_are_listed_while_they_guard() {
    let world = World::new(&json!([r0()]));
    world.registry.set_own_rules("r", [rule("r", 7.0)]).unwrap();
    world.registry.set_own_rules("s", [rule("s", 3.0)]).unwrap();
    let listed: Vec<_> = world.registry.rules().iter().map(|rule| rule.resource().to_owned()).collect();
    assert_eq!(listed, ["r", "s"]);
    assert_eq!(world.registry.rules()[1].threshold(), 3.0);
    let listed: Vec<Rule> = world.registry.rules().iter().map(|rule| (**rule).clone()).collect();
    world.registry.load_rules(listed).unwrap();
    assert_eq!((thresholds(&world.r()), thresholds(&world.resource("s"))), (vec![0.5], vec![3.0]));
}

#[test]
fn own_rules_must_be_the_resources() {
    let registry = Registry::new();
    assert!(registry.set_own_rules("r", [rule("s", 7.0)]).is_err());
    assert!(registry.set_own_rules(" ", [rule("s", 7.0)]).is_err());
    assert!(registry.is_empty() && registry.rules().is_empty());
}

#[test]
fn a_bounded_registry_forgets_them_with_the_resource() {
    let registry = Registry::builder().max_resources(10).build();
    for number in 0..1000 {
        let name = number.to_string();
        assert!(!registry.resource(&name).unwrap().has_own_rules());
        registry.set_own_rules(&name, [rule(&name, 1.0)]).unwrap();
        assert!(registry.resource(&name).unwrap().has_own_rules());
    }
    assert_eq!((registry.len(), registry.rules().len()), (10, 10));

    let held: Vec<Resource> = registry.resources();
    registry.set_own_rules("beyond", [rule("beyond", 1.0)]).unwrap();
    let beyond = registry.resource("beyond").unwrap();
    assert!(beyond.is_unguarded() && !beyond.has_own_rules());
    drop(held);
}

#[test]
fn they_trip() {
    let world = World::new(&json!([]));
    world.registry.set_own_rules("r", [rule("r", 4.0)]).unwrap();
    trip(&world.r());
    assert!(is_blocked(&world.r()));
}

#[test]
fn a_bounded_registry_reports_none_for_a_name_that_it_has_no_place_for() {
    let registry = Registry::builder().max_resources(1).build();
    let held = registry.resource("held").unwrap();
    assert_eq!(registry.set_own_rules("held", [rule("held", 7.0)]).unwrap().rules, 1);
    assert_eq!(registry.set_own_rules("other", [rule("other", 7.0)]).unwrap().rules, 0);
    assert_eq!((thresholds(&held), registry.rules().len()), (vec![7.0], 1));
}
