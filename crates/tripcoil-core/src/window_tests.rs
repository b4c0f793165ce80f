//! The window beside a plain one that knows whole laps, and what happens at its limits.

use super::*;
use crate::anchor::{FAR, REACH, STEP};
use crate::breaker::Head;
use crate::completion::Ending;
use crate::rule::Rule;
use crate::time::millis;
use crate::word::State;

const BUCKETS: u32 = 4;
const INTERVAL_MS: u64 = 4;

fn rule(condition: Condition) -> Rule {
    Rule { stat_interval_ms: INTERVAL_MS, buckets: BUCKETS, ..Rule::new(condition, 1000) }
}

fn never_trips() -> Rule {
    rule(Condition::ErrorCount(1e300))
}

struct Memory {
    head: Head,
    buckets: [Bucket; BUCKETS as usize],
}

impl Memory {
    fn new(rule: &Rule) -> Self {
        let memory = Self { head: Head::new(), buckets: [Bucket::NEW; BUCKETS as usize] };
        memory.breaker().assign(rule).expect("a valid rule");
        memory
    }

    fn breaker(&self) -> Breaker<'_> {
        Breaker::new(&self.head, &self.buckets)
    }

    fn call(&self, error: bool, now: u64) {
        let permit = self.breaker().admit_closed().expect("closed");
        let _ = self.breaker().complete(permit, Ending { error, response_time: 0 }, now);
    }

    fn counts(&self, now: u64) -> Counts {
        self.breaker().snapshot(now).window
    }
}

/// Buckets that know their whole lap, as the specification has them.
#[derive(Default)]
struct Plain([(u64, Counts); BUCKETS as usize]);

impl Plain {
    fn add(&mut self, bad: bool, now: u64) {
        let bucket = now / millis(INTERVAL_MS / u64::from(BUCKETS));
        let (lap, slot) = (bucket / u64::from(BUCKETS), (bucket % u64::from(BUCKETS)) as usize);
        if self.0[slot].0 < lap {
            self.0[slot] = (lap, Counts::default());
        }
        let counts = &mut self.0[slot].1;
        if bad { counts.bad += 1 } else { counts.good += 1 }
    }

    fn counts(&self, now: u64) -> Counts {
        let bucket = now / millis(INTERVAL_MS / u64::from(BUCKETS));
        let earliest = (bucket + 1).saturating_sub(u64::from(BUCKETS));
        let mut sum = Counts::default();
        for (slot, (lap, counts)) in self.0.iter().enumerate() {
            if lap * u64::from(BUCKETS) + slot as u64 >= earliest {
                sum.good += counts.good;
                sum.bad += counts.bad;
            }
        }
        sum
    }
}

/// A generator of its own: the core has no dependencies, not for its tests either.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[test]
fn the_window_counts_as_whole_laps_would() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let (memory, mut plain) = (Memory::new(&never_trips()), Plain::default());
        let mut now = random.below(3) * millis(1_000_000_007);
        let mut ended = Counts::default();
        for _ in 0..200 {
            let laps = [0, 1, 2, STEP - 1, STEP, REACH, REACH + 1, FAR, FAR + 1, 1 << 40];
            now = match random.below(10) {
                0 => now.saturating_add(millis(INTERVAL_MS) * laps[random.below(10) as usize]),
                1 => now.saturating_sub(millis(random.below(3 * INTERVAL_MS))),
                _ => now.saturating_add(millis(random.below(INTERVAL_MS + 2)) + random.below(2)),
            };
            let bad = random.below(3) == 0;
            memory.call(bad, now);
            plain.add(bad, now);
            if bad {
                ended.bad += 1
            } else {
                ended.good += 1
            }
            assert_eq!(memory.counts(now), plain.counts(now), "seed {seed} at {now}");
            let totals = memory.breaker().totals();
            assert_eq!((totals.good, totals.bad), (ended.good, ended.bad), "seed {seed} at {now}");
        }
    }
}

#[test]
fn a_window_survives_every_move_of_its_anchor() {
    let memory = Memory::new(&never_trips());
    for lap in 0..3 * FAR {
        let now = lap * millis(INTERVAL_MS);
        memory.call(true, now);
        // The call before was in the same bucket of the lap before, and has expired.
        assert_eq!(memory.counts(now), Counts { good: 0, bad: 1 }, "lap {lap}");
        assert_eq!(memory.counts(now + millis(INTERVAL_MS - 1)).bad, 1, "lap {lap}");
    }
    assert_eq!(memory.breaker().totals().bad, 3 * FAR);
}

#[test]
fn a_clock_that_goes_back_by_very_much_loses_no_count() {
    let memory = Memory::new(&never_trips());
    let late = millis(INTERVAL_MS) * 10 * FAR;
    memory.call(true, late);
    memory.call(true, 0);
    assert_eq!(memory.counts(0).bad, 2);
    assert_eq!(memory.breaker().totals().bad, 2);
}

/// As if so many calls had been counted in the bucket of time 0.
fn fill(memory: &Memory, count: Counts) {
    memory.call(true, 0);
    let bucket = &memory.buckets[0];
    for (target, count) in [(&bucket.good, count.good), (&bucket.bad, count.bad)] {
        let cell = Cell(target.load(Ordering::Relaxed));
        target.store(cell.0 - cell.count() + count, Ordering::Relaxed);
    }
    memory.breaker().forget_slack();
}

#[test]
fn a_ratio_stays_right_when_a_count_is_full() {
    let ratio = Rule { min_request_amount: 1, ..rule(Condition::ErrorRatio(0.5)) };
    let memory = Memory::new(&ratio);
    memory.call(false, 0);
    fill(&memory, Counts { good: MAX_COUNT, bad: MAX_COUNT - 2 });
    let _ = memory.breaker().reset(0);
    assert_eq!(memory.counts(0), Counts::default(), "a reset leaves nothing of it");

    let memory = Memory::new(&ratio);
    memory.call(false, 0);
    memory.call(false, 0);
    fill(&memory, Counts { good: MAX_COUNT, bad: MAX_COUNT - 4 });
    let before = memory.breaker().totals();
    memory.call(false, 0);
    let counts = memory.counts(0);
    assert!(counts.good < MAX_COUNT && counts.good > counts.bad, "{counts:?}");
    assert_eq!(memory.breaker().totals().good, before.good + 1);
    assert_eq!(memory.breaker().state(), State::Closed, "a little under half have failed");
    for _ in 0..8 {
        if memory.breaker().state() == State::Closed {
            memory.call(true, 0);
        }
    }
    assert_eq!(memory.breaker().state(), State::Open, "a little over half have failed");
}

#[test]
fn a_count_of_errors_stays_at_its_limit() {
    let memory = Memory::new(&rule(Condition::ErrorCount(MAX_COUNT as f64 * 2.0)));
    fill(&memory, Counts { good: 0, bad: MAX_COUNT });
    let before = memory.breaker().totals();
    memory.call(true, 0);
    assert_eq!(memory.counts(0).bad, MAX_COUNT);
    assert_eq!(memory.breaker().totals().bad, before.bad + 1);
    assert_eq!(memory.breaker().state(), State::Closed);
}

#[test]
fn two_to_the_32_calls_in_one_bucket_are_no_limit() {
    let memory = Memory::new(&rule(Condition::ErrorCount((1u64 << 32) as f64)));
    fill(&memory, Counts { good: 5, bad: (1 << 32) - 1 });
    memory.call(true, 0);
    assert_eq!(memory.breaker().state(), State::Closed, "exactly at the threshold");
    memory.call(true, 0);
    assert_eq!(memory.breaker().state(), State::Open);
}

#[test]
fn buckets_beyond_a_smaller_window_do_not_come_back() {
    let (large, small) = (never_trips(), Rule { buckets: 1, ..never_trips() });
    // One of these numbers of clearings brings the buckets' life back.
    for clearings in 4_080..4_100 {
        let memory = Memory::new(&large);
        memory.call(true, millis(3));
        memory.breaker().assign(&small).expect("a valid rule");
        for _ in 0..clearings {
            let _ = memory.breaker().reset(0);
        }
        memory.breaker().assign(&large).expect("a valid rule");
        assert_eq!(memory.breaker().totals(), crate::totals::Totals::default(), "{clearings}");
        assert_eq!(memory.counts(millis(3)), Counts::default(), "{clearings}");
    }
}

#[test]
fn a_reset_forgets_the_run_itself_and_not_only_its_generation() {
    let memory = Memory::new(&rule(Condition::ConsecutiveErrors(3.0)));
    memory.call(true, 0);
    assert_ne!(memory.head.run.load(Ordering::Relaxed), 0);
    let _ = memory.breaker().reset(0);
    assert_eq!(memory.head.run.load(Ordering::Relaxed), 0);
}

#[test]
fn calls_count_wherever_the_clock_goes_back_to() {
    for back in [REACH - 1, REACH, REACH + 1, REACH + 2, 4 * (REACH + 1)] {
        let memory = Memory::new(&Rule { min_request_amount: 4, ..rule(Condition::ErrorCount(3.0)) });
        let lap = 5 * REACH;
        memory.call(false, millis(INTERVAL_MS * lap));
        let now = millis(INTERVAL_MS * (lap - back) + 1);
        for bad in 1..=4 {
            memory.call(true, now);
            assert_eq!(memory.counts(now), Counts { good: 1, bad }, "{back} windows back");
        }
        assert_eq!(memory.breaker().state(), State::Open, "{back} windows back");
    }
}
