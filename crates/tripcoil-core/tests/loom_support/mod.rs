//! What the loom models share: one breaker in memory that threads hold in common, and the short names
//! that keep a model down to what it is about. The memory is in std's `Arc`, not loom's: whose last it is
//! is no part of any model, and would be explored.
#![allow(dead_code)] // Every model uses its own part of this.

use loom::model::Builder;
use loom::thread;
use std::sync::Arc;
use tripcoil_core::time::millis;
use tripcoil_core::{
    Admission, Breaker, Bucket, Completion, Condition, Counts, Ending, Head, Permit, Rule, State, Transition,
};

/// The memory of one breaker.
pub(crate) struct Memory {
    head: Head,
    buckets: Vec<Bucket>,
}

impl Memory {
    /// Memory that has no rule yet.
    pub(crate) fn empty(buckets: u32) -> Arc<Self> {
        Arc::new(Self { head: Head::new(), buckets: (0..buckets).map(|_| Bucket::new()).collect() })
    }

    /// The memory of a closed breaker of `rule`.
    pub(crate) fn of(rule: &Rule) -> Arc<Self> {
        let memory = Self::empty(rule.buckets);
        memory.breaker().assign(rule).expect("the models' rules are valid");
        memory
    }

    /// The memory of a breaker of `rule` that one bad call has tripped at 0.
    pub(crate) fn open(rule: &Rule) -> Arc<Self> {
        let memory = Self::of(rule);
        let breaker = memory.breaker();
        let tripped = breaker.complete(admitted(admit(breaker, 0)).0, BAD, 0).transition;
        assert_eq!(tripped.map(|change| change.to), Some(State::Open));
        memory
    }

    /// The memory of a breaker of `rule` whose probe round has begun at `now`, and its first probe.
    pub(crate) fn half_open(rule: &Rule, now: u64) -> (Arc<Self>, Permit) {
        let memory = Self::open(rule);
        let (permit, begun) = admitted(admit(memory.breaker(), now));
        assert_eq!(begun.map(|change| change.to), Some(State::HalfOpen));
        (memory, permit)
    }

    /// The breaker that is in this memory.
    pub(crate) fn breaker(&self) -> Breaker<'_> {
        Breaker::new(&self.head, &self.buckets)
    }

    /// The permit of one more call, at `now`.
    pub(crate) fn permit(&self, now: u64) -> Permit {
        admitted(admit(self.breaker(), now)).0
    }
}

/// Trips at the first bad call; open for 1000 ms, four times as long after every reopening.
pub(crate) fn one_bad_trips() -> Rule {
    Rule { min_request_amount: 1, backoff_factor: 4.0, ..Rule::new(Condition::ErrorCount(0.0), 1000) }
}

/// Never trips; windows of 1 s, in `buckets` buckets.
pub(crate) fn never_trips(buckets: u32) -> Rule {
    Rule { buckets, ..Rule::new(Condition::ErrorCount(1e9), 1000) }
}

/// Which of a model's threads goes first.
///
/// Loom tries the other orders by itself where it sees that two accesses depend on each other. But it
/// remembers one last access a location: where a thread reads what another has read and then writes
/// it, the earlier read is forgotten, and the order "write, then that read" is not tried. So every
/// model is explored once for every thread that can go first.
#[derive(Clone, Copy)]
pub(crate) struct First(usize);

/// Explores the interleavings of `model` that have up to `preemptions` preemptions; with each of its
/// first `threads` threads going first (1 where they all do the same).
pub(crate) fn explore(
    threads: usize,
    preemptions: usize,
    model: impl Fn(First) + Copy + Sync + Send + 'static,
) {
    for first in 0..threads {
        let mut builder = Builder::new();
        builder.preemption_bound = Some(preemptions);
        builder.max_branches = 20_000;
        builder.check(move || model(First(first)));
    }
}

/// Runs both parts on a breaker, each on a thread of its own.
pub(crate) fn both<A: 'static, B: 'static>(
    first: First,
    memory: &Arc<Memory>,
    a: impl FnOnce(Breaker<'_>) -> A + 'static,
    b: impl FnOnce(Breaker<'_>) -> B + 'static,
) -> (A, B) {
    let (one, other) = (memory.clone(), memory.clone());
    spawn_both(first, move || a(one.breaker()), move || b(other.breaker()))
}

/// Runs both parts, each on a thread of its own.
pub(crate) fn spawn_both<A: 'static, B: 'static>(
    First(first): First,
    a: impl FnOnce() -> A + 'static,
    b: impl FnOnce() -> B + 'static,
) -> (A, B) {
    let (a, b) = match first {
        0 => {
            let a = thread::spawn(a);
            (a, thread::spawn(b))
        }
        _ => {
            let b = thread::spawn(b);
            (thread::spawn(a), b)
        }
    };
    (a.join().unwrap(), b.join().unwrap())
}

/// Admits a call at `now`, on a clock that stands still.
pub(crate) fn admit(breaker: Breaker<'_>, now: u64) -> Admission {
    breaker.admit(now, || now)
}

/// The permit of a call that must have passed, and what its admission changed.
pub(crate) fn admitted(admission: Admission) -> (Permit, Option<Transition>) {
    match admission {
        Admission::Passed(permit, change) => (permit, change),
        other => panic!("not admitted: {other:?}"),
    }
}

/// The permit of a call that has passed, where it has.
pub(crate) fn passed(admission: Admission) -> Option<Permit> {
    match admission {
        Admission::Passed(permit, _) => Some(permit),
        _ => None,
    }
}

/// The transition that an admission made, where it made one.
pub(crate) fn change(admission: Admission) -> Option<Transition> {
    match admission {
        Admission::Passed(_, change) => change,
        Admission::Settled(change) => Some(change),
        _ => None,
    }
}

/// Admits a call at `now` and ends it then.
pub(crate) fn call(breaker: Breaker<'_>, ending: Ending, now: u64) -> Completion {
    breaker.complete(admitted(admit(breaker, now)).0, ending, now)
}

/// Asserts that the transitions are those from `first` on, one a generation, and returns them in order.
pub(crate) fn in_order(first: u64, changes: impl IntoIterator<Item = Option<Transition>>) -> Vec<Transition> {
    let mut changes: Vec<_> = changes.into_iter().flatten().collect();
    changes.sort_by_key(|change| change.generation);
    let generations: Vec<_> = changes.iter().map(|change| change.generation).collect();
    assert_eq!(generations, (first..first + changes.len() as u64).collect::<Vec<_>>());
    changes
}

/// What the window holds at `now`, as good and bad.
pub(crate) fn window(breaker: Breaker<'_>, now: u64) -> (u64, u64) {
    let Counts { good, bad } = breaker.snapshot(now).window;
    (good, bad)
}

pub(crate) const GOOD: Ending = Ending { error: false, response_time: 0 };
pub(crate) const BAD: Ending = Ending { error: true, response_time: 0 };
/// When a breaker that tripped at 0 lets a probe through.
pub(crate) const DUE: u64 = millis(1000);
