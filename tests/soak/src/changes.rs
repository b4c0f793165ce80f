//! What happens beside the calls: reloads, observers, modes, clocks, registries that come and go.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tripcoil::{Mode, Outcome, Registry, Release, VirtualClock};

use crate::Random;
use crate::calls::call;
use crate::tally::Tally;
use crate::world::World;

/// The rules that are always there, edited by `seconds`.
pub(crate) fn lasting(seconds: u64) -> Vec<Value> {
    let rule = |resource: &str, id: &str, more: Value| {
        let mut rule = json!({"resource": resource, "id": id, "timeWindow": seconds, "statIntervalMs": 1000});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rule
    };
    let ratio = json!({"grade": 1, "count": 0.5, "statSlidingWindowBucketCount": 10, "probeNum": 3});
    vec![
        rule("kept", "kept", ratio.clone()),
        rule("three", "slow", json!({"grade": 0, "count": 40, "slowRatioThreshold": 0.6})),
        rule("three", "ratio", ratio),
        rule("three", "run", json!({"grade": 3, "count": 8, "backoffFactor": 1.5})),
    ]
}

fn document(random: &mut Random) -> String {
    let mut rules = lasting(1 + random.below(2));
    if random.below(2) == 0 {
        rules.push(json!({"resource": "brief", "grade": 2, "count": 5, "timeWindow": 1}));
    }
    if random.below(2) == 0 {
        rules.push(
            json!({"resource": "like-[0-9]+", "regex": true, "grade": 1, "count": 0.5, "timeWindow": 1}),
        );
    }
    Value::from(rules).to_string()
}

impl World {
    /// Does one thing of those that a program may do while others call.
    pub(crate) fn change(&self, random: &mut Random) {
        match random.below(10) {
            0 | 1 => self.reload(&document(random)),
            2 => self.reload(&Value::from(lasting(1)).to_string()),
            3 => self.reload_defaults(random),
            4 => self.observers(random),
            5 => self.modes(random),
            6 => self.another_registry(random),
            7 => self.read(),
            8 => self.clock.set(Duration::from_millis(random.below(1 << 20))),
            _ => self.clock.advance(Duration::from_millis(random.below(1_500))),
        }
    }

    fn reload(&self, document: &str) {
        self.registry.load_json(document).expect("the rules are valid");
        self.registry.load_json(r#"[{"resource": "kept", "grade": 9}]"#).expect_err("no such grade");
        self.reloads.fetch_add(1, Ordering::Relaxed);
    }

    fn reload_defaults(&self, random: &mut Random) {
        let rule = json!({"resource": "*", "grade": 2, "count": 2 + random.below(3), "timeWindow": 1});
        let rules = if random.below(4) == 0 { json!([]) } else { json!([rule]) };
        self.registry.load_defaults_json(rules.to_string()).expect("the rules are valid");
        self.registry.exclude(["other-1"]).unwrap();
        self.registry.include(["other-1"]).unwrap();
        self.reloads.fetch_add(1, Ordering::Relaxed);
    }

    /// Replaces one of four, and removes one.
    fn observers(&self, random: &mut Random) {
        let told = Arc::clone(&self.told);
        self.registry.observe(&random.below(4).to_string(), move |change| {
            assert!(change.trip.as_ref().is_none_or(|trip| !trip.to_string().is_empty()));
            told.fetch_add(1, Ordering::Relaxed);
        });
        self.registry.unobserve(&random.below(4).to_string());
        self.observers.fetch_add(1, Ordering::Relaxed);
    }

    fn modes(&self, random: &mut Random) {
        for name in ["kept", "three", "brief"] {
            let resource = self.resource(name);
            match random.below(4) {
                0 => resource.set_mode(Mode::ForcedOpen),
                1 => resource.set_mode(Mode::Disabled),
                _ => resource.reset(),
            };
            resource.set_mode(Mode::Normal);
        }
    }

    /// A registry with a limit that lives for a few calls, an entry of which outlives it.
    fn another_registry(&self, random: &mut Random) {
        let clock = VirtualClock::new();
        let registry = Registry::builder().clock(clock.clone()).max_resources(16).build();
        registry.load_json(Value::from(lasting(1)).to_string()).expect("the rules are valid");
        registry.load_defaults_json(r#"{"resource": "*", "grade": 2, "count": 2, "timeWindow": 1}"#).unwrap();
        let (kept, tally, told) = (registry.resource("kept").unwrap(), Tally::default(), AtomicU64::new(0));
        registry.observe("count", move |_| _ = told.fetch_add(1, Ordering::Relaxed));
        for step in 0..64 {
            call(&kept, &tally, random, step);
            let name = format!("name-{}", random.below(64));
            registry.resource(&name).unwrap().set_mode(Mode::ObserveOnly);
            clock.advance(Duration::from_millis(100));
        }
        tally.check(&kept, 0);
        assert!(registry.len() <= 16);
        let legacy = r#"[{"resource": "kept", "grade": 2, "count": 4, "timeWindow": 1}]"#;
        registry.load_legacy(Release::V1_7, legacy).expect("the rules are valid");
        let entry = kept.enter_owned();
        drop((registry, kept));
        if let Ok(entry) = entry {
            entry.end(Outcome::Good).expect("nobody else ends it");
        }
        self.registries.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self) {
        for resource in self.registry.resources() {
            for breaker in resource.breakers() {
                let (totals, trip) = (breaker.snapshot().totals, breaker.last_trip());
                assert!(totals.late <= totals.passed || !breaker.is_removed());
                assert!(trip.is_none_or(|trip| trip.to_string().contains(resource.name())));
            }
        }
    }
}
