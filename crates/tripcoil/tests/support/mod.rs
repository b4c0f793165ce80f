//! What the tests share: a registry on a virtual clock that remembers what its observers are told.
#![allow(dead_code, reason = "each test crate uses its part")]

mod meeting;

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::{Value, json};
use tripcoil::{Breaker, Change, Outcome, Registry, Resource, Snapshot, State, VirtualClock};

#[allow(unused_imports, reason = "each test crate uses its part")]
pub(crate) use meeting::Meeting;

/// A registry on a virtual clock at 0, with an observer that keeps every change.
pub(crate) struct World {
    pub(crate) clock: VirtualClock,
    pub(crate) registry: Registry,
    changes: Arc<Mutex<Vec<Change>>>,
}

impl World {
    /// With these rules, or one rule.
    pub(crate) fn new(rules: &Value) -> Self {
        let clock = VirtualClock::new();
        let registry = Registry::builder().clock(clock.clone()).build();
        let changes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&changes);
        registry.observe("test", move |change| kept.lock().unwrap().push(change.clone()));
        registry.load_json(rules.to_string()).expect("the test's rules are valid");
        Self { clock, registry, changes }
    }

    /// With the rule R0 on the resource "r".
    pub(crate) fn r0() -> Self {
        Self::new(&r0())
    }

    pub(crate) fn at(&self, ms: u64) {
        self.clock.set(Duration::from_millis(ms));
    }

    pub(crate) fn load(&self, rules: &Value) {
        self.registry.load_json(rules.to_string()).expect("the test's rules are valid");
    }

    pub(crate) fn resource(&self, name: &str) -> Resource {
        self.registry.resource(name).expect("the test's names are valid")
    }

    /// The resource "r".
    pub(crate) fn r(&self) -> Resource {
        self.resource("r")
    }

    /// What has been told since it was last asked.
    pub(crate) fn changes(&self) -> Vec<Change> {
        std::mem::take(&mut *self.changes.lock().unwrap())
    }

    /// The states that were told since it was last asked.
    pub(crate) fn moves(&self) -> Vec<(State, State)> {
        self.changes().iter().map(|change| (change.from, change.to)).collect()
    }
}

/// An error-ratio rule: threshold 0.5 inclusive, at least 4 calls in 1000 ms of 10 buckets, open for
/// 2000 ms, one probe.
pub(crate) fn r0() -> Value {
    json!({
        "resource": "r", "grade": 1, "count": 0.5, "inclusive": true, "minRequestAmount": 4,
        "statIntervalMs": 1000, "statSlidingWindowBucketCount": 10, "timeWindow": 2,
    })
}

/// R0 with other fields.
pub(crate) fn r0_with(fields: &Value) -> Value {
    let mut rule = r0();
    for (name, value) in fields.as_object().expect("fields are an object") {
        rule[name] = value.clone();
    }
    rule
}

/// One admitted call that ends so.
pub(crate) fn call(resource: &Resource, outcome: Outcome) {
    resource.enter().expect("the call is admitted").end(outcome);
}

/// Several of them.
pub(crate) fn calls(resource: &Resource, count: usize, outcome: Outcome) {
    (0..count).for_each(|_| call(resource, outcome));
}

/// Four errors: R0 opens.
pub(crate) fn trip(resource: &Resource) {
    calls(resource, 4, Outcome::Bad);
    assert_eq!(state(resource), State::Open);
}

/// The resource's first breaker.
pub(crate) fn breaker(resource: &Resource) -> Breaker {
    resource.breakers().into_iter().next().expect("the resource has a breaker")
}

pub(crate) fn snapshot(resource: &Resource) -> Snapshot {
    breaker(resource).snapshot()
}

pub(crate) fn state(resource: &Resource) -> State {
    snapshot(resource).state
}

pub(crate) fn states(resource: &Resource) -> Vec<State> {
    resource.breakers().iter().map(Breaker::state).collect()
}

pub(crate) fn is_blocked(resource: &Resource) -> bool {
    resource.enter().is_err()
}

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Polls a future once.
pub(crate) fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// The result of a future that is ready at its first poll.
pub(crate) fn ready<F: Future>(future: F) -> F::Output {
    match poll_once(future) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future is not ready"),
    }
}
