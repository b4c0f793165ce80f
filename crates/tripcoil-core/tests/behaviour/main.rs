//! What one breaker does, call by call, at the nanosecond that matters. The library's tests say the same in
//! terms of rules, names and entries; these need nothing but the core.
#![cfg(not(loom))]

mod control;
mod probing;
mod rule;
mod tripping;

use tripcoil_core::time::millis;
use tripcoil_core::{
    Admission, Breaker, Bucket, Completion, Condition, Counts, Ending, Head, Permit, Rejection, Rule, State,
    Transition,
};

const GOOD: Ending = Ending { error: false, response_time: 0 };
const BAD: Ending = Ending { error: true, response_time: 0 };

/// The memory of one breaker.
struct Memory {
    head: Head,
    buckets: [Bucket; 10],
}

impl Memory {
    fn empty() -> Self {
        Self { head: Head::new(), buckets: [Bucket::NEW; 10] }
    }

    /// The memory of a closed breaker of `rule`.
    fn of(rule: &Rule) -> Self {
        let memory = Self::empty();
        memory.breaker().assign(rule).expect("a valid rule");
        memory
    }

    /// The memory of a breaker that one bad call has tripped at 0.
    fn open(rule: &Rule) -> Self {
        let memory = Self::of(rule);
        assert_eq!(change(memory.call(BAD, 0)).to, State::Open);
        memory
    }

    fn breaker(&self) -> Breaker<'_> {
        Breaker::new(&self.head, &self.buckets)
    }

    fn admit(&self, now: u64) -> Admission {
        self.breaker().admit(now, || now)
    }

    /// The permit of a call that must pass.
    fn permit(&self, now: u64) -> Permit {
        match self.admit(now) {
            Admission::Passed(permit, _) => permit,
            other => panic!("not admitted: {other:?}"),
        }
    }

    /// The rejection of a call that must not pass.
    fn rejection(&self, now: u64) -> Rejection {
        match self.admit(now) {
            Admission::Rejected(rejection) => rejection,
            other => panic!("not rejected: {other:?}"),
        }
    }

    fn call(&self, ending: Ending, now: u64) -> Completion {
        let permit = self.permit(now);
        self.breaker().complete(permit, ending, now)
    }

    fn calls(&self, count: usize, ending: Ending, now: u64) {
        for _ in 0..count {
            assert_eq!(self.call(ending, now).transition, None);
        }
    }

    fn state(&self) -> State {
        self.breaker().state()
    }

    fn window(&self, now: u64) -> Counts {
        self.breaker().snapshot(now).window
    }
}

fn change(completion: Completion) -> Transition {
    completion.transition.expect("it has changed the breaker")
}

fn counts(good: u64, bad: u64) -> Counts {
    Counts { good, bad }
}

/// Trips at the first bad call; open for a second.
fn one_bad_trips() -> Rule {
    Rule { min_request_amount: 1, ..Rule::new(Condition::ErrorCount(0.0), 1000) }
}

/// When a breaker that tripped at 0 lets a probe through.
const DUE: u64 = millis(1000);
