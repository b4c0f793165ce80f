//! Stripes: good calls that threads count each in a word of its own are in the window, in the totals and
//! in every verdict as if there were one word.
//!
//! Checked, where a good call in a stripe meets another one, a bad one, a new lap, a new life of the
//! window or a reset, and where stripes appear between calls: none is lost, none is revived, and nobody
//! trips on a window that never was.
//!
//! Loom cannot see sequential consistency, load buffering, real time, or more threads and preemptions
//! than a model has: `loom_trip.rs` says more.
#![cfg(loom)]

mod loom_support;

use std::sync::Arc;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom_support::{BAD, First, GOOD, explore, never_trips};
use tripcoil_core::time::millis;
use tripcoil_core::{
    Admission, Breaker, Bucket, Completion, Condition, Ending, Head, Line, Memory, Permit, Rule, Totals,
};

/// A breaker's memory with two stripes, which are there once they have been switched on.
struct Striped {
    head: Head,
    buckets: Vec<Bucket>,
    stripes: [[Line; 1]; 2],
    on: AtomicBool,
}

/// The memory as one thread sees it.
struct View<'a> {
    striped: &'a Striped,
    own: usize,
}

impl Memory for View<'_> {
    fn buckets(&self) -> &[Bucket] {
        &self.striped.buckets
    }

    fn stripes(&self) -> usize {
        // Acquire: as of a cell that is set once.
        if self.striped.on.load(Ordering::Acquire) { 2 } else { 0 }
    }

    fn stripe(&self, number: usize) -> &[Line] {
        &self.striped.stripes[number]
    }

    fn own_stripe(&self) -> Option<&[Line]> {
        (self.stripes() > 0).then(|| self.stripe(self.own))
    }
}

impl Striped {
    fn of(rule: &Rule, on: bool) -> Arc<Self> {
        let striped = Arc::new(Self {
            head: Head::new(),
            buckets: (0..rule.buckets).map(|_| Bucket::new()).collect(),
            stripes: [[Line::new()], [Line::new()]],
            on: AtomicBool::new(on),
        });
        striped.see(0, |breaker| breaker.assign(rule).expect("the models' rules are valid"));
        striped
    }

    /// What the thread of this number does with the breaker.
    fn see<T>(&self, own: usize, act: impl FnOnce(Breaker<'_, View<'_>>) -> T) -> T {
        act(Breaker::new(&self.head, &View { striped: self, own }))
    }

    fn permit(&self) -> Permit {
        match self.see(0, |breaker| breaker.admit(0, || 0)) {
            Admission::Passed(permit, None) => permit,
            other => panic!("not admitted: {other:?}"),
        }
    }

    fn call(&self, own: usize, ending: Ending, now: u64) -> Completion {
        let permit = self.permit();
        self.see(own, |breaker| breaker.complete(permit, ending, now))
    }

    /// What the window holds at `now`, as good and bad, and the totals.
    fn held(&self, now: u64) -> ((u64, u64), Totals) {
        let snapshot = self.see(0, |breaker| breaker.snapshot(now));
        ((snapshot.window.good, snapshot.window.bad), snapshot.totals)
    }
}

/// Runs both parts, each on a thread of its own.
fn both<A: 'static, B: 'static>(
    first: First,
    memory: &Arc<Striped>,
    a: impl FnOnce(&Striped) -> A + 'static,
    b: impl FnOnce(&Striped) -> B + 'static,
) -> (A, B) {
    let (one, other) = (memory.clone(), memory.clone());
    loom_support::spawn_both(first, move || a(&one), move || b(&other))
}

const fn lap(laps: u64) -> u64 {
    millis(1000 * laps)
}

/// A good call in stripe 0, and another one in stripe 1, as it ends and when; over a window that holds a
/// good call of lap 0 in each stripe.
fn two_calls(good_at: u64, other: (Ending, u64), at: u64, held: (u64, u64)) {
    explore(2, 2, move |first| {
        let memory = Striped::of(&never_trips(1), true);
        let (p, q) = (memory.permit(), memory.permit());
        let _ = (memory.call(0, GOOD, 0), memory.call(1, GOOD, 0));
        let (ending, other_at) = other;
        let good = move |m: &Striped| m.see(0, |breaker| breaker.complete(p, GOOD, good_at));
        let other = move |m: &Striped| m.see(1, |breaker| breaker.complete(q, ending, other_at));
        let (a, b) = both(first, &memory, good, other);
        assert!(!a.late && !b.late);
        let (window, totals) = memory.held(at);
        let bad = u64::from(ending.error);
        assert_eq!((window, totals.good, totals.bad), (held, 4 - bad, bad));
    });
}

#[test]
fn calls_that_meet_in_two_stripes_are_both_counted() {
    two_calls(0, (GOOD, 0), 0, (4, 0));
    two_calls(0, (BAD, 0), 0, (3, 1));
}

#[test]
fn calls_that_meet_at_a_new_lap_are_both_counted() {
    two_calls(lap(1), (GOOD, lap(1)), lap(1), (2, 0));
    two_calls(lap(1), (BAD, lap(1)), lap(1), (1, 1));
}

#[test]
fn calls_that_meet_where_the_anchor_moves_are_both_counted() {
    for laps in [20_000, 40_000] {
        two_calls(lap(laps), (GOOD, lap(laps)), lap(laps), (2, 0));
    }
}

#[test]
fn a_good_call_that_meets_a_reset_is_not_in_the_window_after_it() {
    explore(2, 3, |first| {
        let memory = Striped::of(&never_trips(1), true);
        let _ = memory.call(1, GOOD, 0);
        let p = memory.permit();
        let good = move |m: &Striped| m.see(0, |breaker| breaker.complete(p, GOOD, 0)).late;
        let reset = |m: &Striped| m.see(1, |breaker| breaker.reset(0));
        let (late, _) = both(first, &memory, good, reset);
        let (window, totals) = memory.held(0);
        assert_eq!(window, (0, 0));
        assert_eq!((totals.good, totals.late), (2 - u64::from(late), u64::from(late)));
    });
}

/// The stripes appear while another call is being judged, and hold good calls that are older than a bad
/// one that it sees.
#[test]
fn nobody_trips_for_want_of_calls_in_stripes_that_have_just_appeared() {
    explore(2, 3, |first| {
        let rule = Rule { min_request_amount: 2, ..Rule::new(Condition::ErrorRatio(0.5), 1000) };
        let memory = Striped::of(&rule, false);
        let _ = memory.call(1, GOOD, 0);
        let p = memory.permit();
        let three = |m: &Striped| {
            m.on.store(true, Ordering::Release);
            [GOOD, GOOD, BAD].map(|ending| m.call(0, ending, 0).transition)
        };
        let one = move |m: &Striped| m.see(1, |breaker| breaker.complete(p, BAD, 0)).transition;
        assert_eq!(both(first, &memory, three, one), ([None; 3], None));
        assert_eq!(memory.held(0).0, (3, 2));
    });
}
