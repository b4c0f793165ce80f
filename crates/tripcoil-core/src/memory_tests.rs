//! Stripes beside none: sequential calls come to the same, whatever stripes they are counted in.

use super::*;
use crate::breaker::Head;
use crate::completion::Ending;
use crate::rule::{Condition, Rule};
use crate::time::millis;
use crate::word::{Mode, State};

const BUCKETS: usize = 4;
const STRIPES: usize = 3;
const LIVES: u64 = 1 << crate::word::LIFE_BITS;

fn rule() -> Rule {
    let condition = Condition::ErrorRatio(0.5);
    Rule { min_request_amount: 4, stat_interval_ms: 4, buckets: BUCKETS as u32, ..Rule::new(condition, 1000) }
}

/// A breaker's memory with stripes, as the thread of one of them sees it.
struct Striped<'a> {
    buckets: &'a [Bucket; BUCKETS],
    stripes: &'a [[Line; 1]; STRIPES],
    own: usize,
}

impl Memory for Striped<'_> {
    fn buckets(&self) -> &[Bucket] {
        self.buckets
    }

    fn stripes(&self) -> usize {
        STRIPES
    }

    fn stripe(&self, number: usize) -> &[Line] {
        &self.stripes[number]
    }

    fn own_stripe(&self) -> Option<&[Line]> {
        Some(&self.stripes[self.own])
    }
}

/// A step of the story, the same for both breakers.
#[derive(Clone, Copy, Debug)]
enum Step {
    Call { error: bool },
    Reset,
}

fn play<M: Memory + ?Sized>(breaker: Breaker<'_, M>, step: Step, now: u64) -> (Option<State>, String) {
    let change = match step {
        Step::Reset => Some(breaker.reset(now)),
        Step::Call { error } => {
            let permit = breaker.admit_closed().expect("closed");
            breaker.complete(permit, Ending { error, response_time: 0 }, now).transition
        }
    };
    let seen = breaker.snapshot(now);
    if seen.state != State::Closed {
        let _ = breaker.set_mode(Mode::Normal, now);
    }
    (change.map(|change| change.to), format!("{:?} {:?}", seen.window, seen.totals))
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// The clock's next time: mostly a little later, at times earlier, or so much later that the anchor
    /// steps on or the window begins a new life.
    fn time(&mut self, now: u64) -> u64 {
        let lap = millis(4);
        match self.roll(40) {
            0 => now + lap * (15_000 + self.roll(60_000)),
            1..=5 => now.saturating_sub(self.roll(3 * lap)),
            6..=9 => now + self.roll(3 * lap),
            _ => now + self.roll(millis(1)),
        }
    }

    fn step(&mut self) -> Step {
        if self.roll(100) == 0 { Step::Reset } else { Step::Call { error: self.roll(3) == 0 } }
    }
}

#[test]
fn sequential_calls_come_to_the_same_in_whatever_stripes_they_are_counted() {
    for story in 0..60 {
        let mut dice = Dice(story);
        let (head, buckets) = (Head::new(), [Bucket::NEW; BUCKETS]);
        let stripes = [const { [Line::new()] }; STRIPES];
        let (plain_head, plain) = (Head::new(), [Bucket::NEW; BUCKETS]);
        let striped = |own| Striped { buckets: &buckets, stripes: &stripes, own };
        let begun = [Breaker::new(&head, &striped(0)).assign(&rule()), {
            Breaker::new(&plain_head, &plain).assign(&rule())
        }];
        assert!(begun.iter().all(Result::is_ok));
        let mut now = millis(dice.roll(1 << 40));
        // Some begin shortly before the lives' numbers come again, on stripes that nobody has used.
        if story % 3 == 0 {
            for _ in 0..LIVES - 4 + dice.roll(4) {
                let _ = (
                    Breaker::new(&head, &striped(0)).reset(now),
                    Breaker::new(&plain_head, &plain).reset(now),
                );
            }
        }
        for _ in 0..4000 {
            now = dice.time(now);
            let (step, own) = (dice.step(), dice.roll(STRIPES as u64) as usize);
            let with = play(Breaker::new(&head, &striped(own)), step, now);
            let without = play(Breaker::new(&plain_head, &plain), step, now);
            assert_eq!(with, without, "story {story}, {step:?} at {now}");
        }
    }
}

#[test]
fn a_bucket_whose_good_calls_are_all_in_stripes_takes_what_is_known_with_it() {
    let rule = Rule { min_request_amount: 5, stat_interval_ms: 2, buckets: 2, ..rule() };
    let (head, buckets) = (Head::new(), [Bucket::NEW; BUCKETS]);
    let stripes = [const { [Line::new()] }; STRIPES];
    let striped = |own| Striped { buckets: &buckets, stripes: &stripes, own };
    Breaker::new(&head, &striped(0)).assign(&rule).expect("a valid rule");
    let calls = |count, own, error, now| {
        for _ in 0..count {
            let (state, _) = play(Breaker::new(&head, &striped(own)), Step::Call { error }, now);
            assert_eq!(state, None);
        }
    };
    calls(10, 0, false, 0);
    // Seven more would not be half of all; but then those ten leave the window.
    calls(3, 0, true, millis(1));
    calls(1, 1, false, millis(2));
    let (state, _) = play(Breaker::new(&head, &striped(0)), Step::Call { error: true }, millis(1));
    assert_eq!(state, Some(State::Open), "four of five are bad");
}
