//! What is known of the window is true, and is forgotten when it is not any more.

use super::*;
use crate::breaker::Head;
use crate::bucket::Bucket;
use crate::completion::Ending;
use crate::condition::Counts;
use crate::rule::{Condition, Rule};
use crate::time::millis;
use crate::word::State;

const BUCKETS: usize = 4;

struct Memory {
    head: Head,
    buckets: [Bucket; BUCKETS],
}

impl Memory {
    /// Windows of 4 ms in 4 buckets; trips where at least 4 calls have ended, and half of them badly.
    fn new() -> Self {
        let memory = Self { head: Head::new(), buckets: [Bucket::NEW; BUCKETS] };
        memory.breaker().assign(&rule(0.5)).expect("a valid rule");
        memory
    }

    fn breaker(&self) -> Breaker<'_> {
        Breaker::new(&self.head, &self.buckets)
    }

    fn calls(&self, count: usize, error: bool, now: u64) {
        for _ in 0..count {
            let permit = self.breaker().admit_closed().expect("closed");
            let _ = self.breaker().complete(permit, Ending { error, response_time: 0 }, now);
        }
    }

    fn is_open(&self) -> bool {
        self.breaker().state() == State::Open
    }
}

fn rule(threshold: f64) -> Rule {
    Rule {
        stat_interval_ms: 4,
        buckets: BUCKETS as u32,
        min_request_amount: 4,
        inclusive: true,
        ..Rule::new(Condition::ErrorRatio(threshold), 1000)
    }
}

#[test]
fn the_room_is_the_most_that_does_not_trip_with_any_number_of_good_calls() {
    let ratios = [0.0, 0.1, 0.25, 1.0 / 3.0, 0.5, 0.9, 1.0].map(Condition::ErrorRatio);
    let counts = [0.0, 1.0, 2.5, 17.0].map(Condition::ErrorCount);
    for condition in ratios.into_iter().chain(counts) {
        for inclusive in [false, true] {
            let rule = Rule { inclusive, min_request_amount: 1, ..Rule::new(condition, 1000) };
            for (good, bad) in (0..12).flat_map(|good| (0..12).map(move |bad| (good, bad))) {
                let trips = |more_bad: u64, more_good: u64| {
                    rule.trips(Counts { good: good + more_good, bad: bad + more_bad }).is_some()
                };
                let never = |more_bad: u64| (0..40).all(|more_good| !trips(more_bad, more_good));
                let plain = (0..=20).take_while(|&more| never(more)).last();
                let counts = Counts { good, bad };
                assert_eq!(rule.room(counts, 20), plain, "{condition:?} inclusive {inclusive}: {counts:?}");
                let later = Rule { min_request_amount: 30, ..rule };
                assert_eq!(later.room(counts, 20), plain, "good calls may come that make them enough");
            }
        }
    }
}

#[test]
fn bad_calls_take_what_there_is_and_the_next_one_is_judged() {
    let memory = Memory::new();
    memory.calls(6, false, 0);
    memory.calls(1, true, 0);
    let place = Place { lap: 0, slot: 0 };
    let life = memory.breaker().word().life();
    let room = || memory.breaker().slack().room();
    assert!(memory.breaker().slack_at(life, place).is_some());
    assert_eq!(room(), 5, "four more of eleven are not half");
    memory.calls(4, true, 0);
    assert_eq!((room(), memory.is_open()), (1, false));
    assert!(memory.breaker().slack_at(life, Place { lap: 0, slot: 1 }).is_none());
    assert!(memory.breaker().slack_at(life, Place { lap: 1, slot: 0 }).is_none());
    memory.calls(1, true, 0);
    assert!(memory.is_open());
}

#[test]
fn what_is_known_is_left_by_nobody_who_began_before_something_changed() {
    let memory = Memory::new();
    let (breaker, place) = (memory.breaker(), Place { lap: 0, slot: 0 });
    let life = breaker.word().life();
    let mark = breaker.take_slack(life, place).expect("nothing is known");
    breaker.forget_slack();
    breaker.leave_slack(mark, life, place, rule(0.5).room(Counts { good: 9, bad: 1 }, MAX_ROOM));
    assert!(breaker.slack_at(life, place).is_none());
    breaker.leave_slack(breaker.slack(), life, place, rule(0.5).room(Counts { good: 9, bad: 1 }, MAX_ROOM));
    assert!(breaker.slack_at(life, place).is_some());
}

#[test]
fn good_calls_that_leave_the_window_are_not_counted_on_when_the_clock_goes_back() {
    let memory = Memory::new();
    memory.calls(8, false, millis(1));
    memory.calls(2, true, millis(4));
    memory.calls(1, false, millis(4));
    // A lap and more on, the good calls' bucket is another's.
    memory.calls(1, false, millis(13));
    memory.calls(1, true, millis(4));
    assert!(memory.is_open(), "three of five are bad");
}

#[test]
fn an_edited_rule_judges_the_next_call() {
    let memory = Memory::new();
    memory.calls(8, false, 0);
    memory.calls(1, true, 0);
    memory.breaker().edit(&rule(0.2)).expect("the same shape");
    memory.calls(1, true, 0);
    assert!(memory.is_open());
}

#[test]
fn a_cleared_window_has_nothing_of_a_life_of_the_same_number() {
    let memory = Memory::new();
    memory.calls(8, false, 0);
    memory.calls(1, true, 0);
    let before = memory.breaker().word().life();
    while {
        let _ = memory.breaker().reset(0);
        memory.breaker().word().life() != before
    } {}
    memory.calls(4, true, 0);
    assert!(memory.is_open());
}

#[test]
fn what_is_known_is_left_by_nobody_to_whom_the_word_only_looks_unchanged() {
    let memory = Memory::new();
    let (breaker, earlier, later) = (memory.breaker(), millis(4), millis(6));
    let life = breaker.word().life();
    memory.calls(600, false, millis(1));
    memory.calls(1, true, later);
    memory.calls(20, false, later);
    memory.calls(1, true, earlier);
    memory.calls(1, false, earlier);
    // A good call at the later place sums up, and is held up.
    let (mark, place) = (breaker.slack(), Place { lap: 1, slot: 2 });
    let counts = breaker.counts(breaker.word(), place);
    memory.calls(15, true, earlier);
    memory.calls(1, false, later);
    // As much room again at the earlier place as there was: more than can be told.
    memory.calls(1, false, earlier);
    breaker.leave_slack(mark, life, place, rule(0.5).room(counts, MAX_ROOM));
    memory.calls(6, true, later);
    assert!(memory.is_open(), "half of 46 are bad");
}

#[test]
fn what_is_known_of_a_time_too_far_back_is_not_known_of_one_with_the_same_low_bits() {
    let window = |lap: u64| millis(4 * lap);
    let memory = Memory::new();
    memory.calls(100, false, window(65_530) + millis(3));
    memory.calls(3, true, window(65_541));
    memory.calls(1, false, window(5));
    memory.calls(1, true, window(65_541));
    assert!(memory.is_open(), "four of five are bad");
}
