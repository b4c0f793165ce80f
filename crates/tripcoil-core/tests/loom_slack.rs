//! What is known of the window: nobody is spared judging by what is not true any more.
//!
//! Checked: of calls that meet, none leaves behind more bad calls that cannot trip than there are; a rule
//! that is edited meanwhile judges the next call. See `loom_trip.rs` for what loom cannot see.
#![cfg(loom)]

mod loom_support;

use loom_support::*;
use tripcoil_core::{Condition, Rule, State};

fn trips_above(bad: f64) -> Rule {
    Rule { min_request_amount: 1, ..Rule::new(Condition::ErrorCount(bad), 1000) }
}

/// Bad calls one after the other, until the breaker opens: how many there were.
fn bad_calls_until_open(memory: &Memory) -> u64 {
    let mut count = 0;
    while memory.breaker().state() == State::Closed {
        let _ = call(memory.breaker(), BAD, 0);
        count += 1;
    }
    count
}

#[test]
fn two_bad_calls_that_both_sum_up_leave_no_more_than_there_is() {
    explore(1, 3, |first| {
        let memory = Memory::of(&trips_above(2.0));
        let (p, q) = (memory.permit(0), memory.permit(0));
        let (a, b) = both(first, &memory, move |b| b.complete(p, BAD, 0), move |b| b.complete(q, BAD, 0));
        assert_eq!((a.transition, b.transition), (None, None));
        assert_eq!(bad_calls_until_open(&memory), 1);
    });
}

#[test]
fn a_bad_call_that_meets_a_good_one_which_sums_up_is_not_forgotten() {
    explore(2, 3, |first| {
        let memory = Memory::of(&trips_above(2.0));
        let _ = call(memory.breaker(), BAD, 0);
        // Another life of the window, so that nothing is known, and the bad call is of this one.
        let _ = memory.breaker().reset(0);
        let _ = call(memory.breaker(), BAD, 0);
        memory.breaker().edit(&trips_above(2.0)).expect("the same shape");
        let (p, q) = (memory.permit(0), memory.permit(0));
        let (a, b) = both(first, &memory, move |b| b.complete(p, GOOD, 0), move |b| b.complete(q, BAD, 0));
        assert_eq!((a.transition, b.transition), (None, None));
        assert_eq!(bad_calls_until_open(&memory), 1);
    });
}

#[test]
fn two_bad_calls_of_which_one_could_take_the_last_place_trip_it_once() {
    explore(1, 3, |first| {
        let memory = Memory::of(&trips_above(2.0));
        let _ = call(memory.breaker(), BAD, 0);
        let (p, q) = (memory.permit(0), memory.permit(0));
        let (a, b) = both(first, &memory, move |b| b.complete(p, BAD, 0), move |b| b.complete(q, BAD, 0));
        assert_eq!(in_order(p.generation() + 1, [a.transition, b.transition]).len(), 1);
    });
}

#[test]
fn a_rule_that_is_edited_while_a_call_sums_up_judges_the_next_one() {
    for slow in [false, true] {
        explore(2, 3, move |first| {
            let rule = |bad| match slow {
                false => trips_above(bad),
                true => Rule {
                    min_request_amount: 1,
                    ..Rule::new(Condition::SlowRatio { threshold: bad / 10.0, slow_after: 5 }, 1000)
                },
            };
            let ending = tripcoil_core::Ending { error: true, response_time: 9 };
            let (memory, edited) = (Memory::of(&rule(9.0)), rule(1.0));
            for _ in 0..3 {
                let _ = call(memory.breaker(), GOOD, 0);
            }
            let p = memory.permit(0);
            let (a, ()) = both(
                first,
                &memory,
                move |b| b.complete(p, ending, 0),
                move |b| b.edit(&edited).expect("the same shape"),
            );
            if a.transition.is_none() {
                let _ = call(memory.breaker(), ending, 0);
            }
            assert_eq!(memory.breaker().state(), State::Open);
        });
    }
}
