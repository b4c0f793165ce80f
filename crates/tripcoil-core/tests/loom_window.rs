//! The recycled bucket: one that becomes another lap's, or another life's, neither loses nor revives a
//! count.
//!
//! Checked, where two calls meet at a new lap, at one far ahead, where the anchor steps on, or where the
//! window is cleared: both are in the window where they belong there, none that has expired is, and the
//! totals hold every call once.
//!
//! Loom cannot see sequential consistency, load buffering, real time, or more threads and preemptions
//! than a model has: `loom_trip.rs` says more.
#![cfg(loom)]

mod loom_support;

use loom_support::*;
use tripcoil_core::time::millis;
use tripcoil_core::{Breaker, Ending};

/// When the window has gone round `laps` times.
const fn lap(laps: u64) -> u64 {
    millis(1000 * laps)
}

/// A lap that the anchor must step on for, and one that begins a new life of the window.
const STEPS: u64 = lap(20_000);
const FAR: u64 = lap(40_000);
/// One whose low bits are those of lap 0.
const AROUND: u64 = lap(1 << 16);

/// Two calls, as they end and when, over a window of `buckets` that holds one good call of lap 0: what
/// the window then holds at `at` is one of `allowed`.
fn two_calls(
    preemptions: usize,
    buckets: u32,
    ends: [(Ending, u64); 2],
    at: u64,
    allowed: &'static [(u64, u64)],
) {
    explore(2, preemptions, move |first| {
        let memory = Memory::of(&never_trips(buckets));
        let (p, q) = (memory.permit(0), memory.permit(0));
        let _ = call(memory.breaker(), GOOD, 0);
        let [(p_end, p_at), (q_end, q_at)] = ends;
        let (a, b) =
            both(first, &memory, move |b| b.complete(p, p_end, p_at), move |b| b.complete(q, q_end, q_at));
        assert!(!a.late && !b.late);
        let totals = memory.breaker().totals();
        let bad = [p_end, q_end].into_iter().filter(|end| end.error).count() as u64;
        assert_eq!((totals.good, totals.bad), (3 - bad, bad));
        let held = window(memory.breaker(), at);
        assert!(allowed.contains(&held), "{held:?}");
    });
}

#[test]
fn two_calls_that_meet_at_a_new_lap_are_both_counted() {
    two_calls(3, 1, [(GOOD, lap(1)), (GOOD, lap(1))], lap(1), &[(2, 0)]);
    two_calls(3, 1, [(GOOD, lap(1)), (BAD, lap(1))], lap(1), &[(1, 1)]);
    two_calls(2, 1, [(BAD, lap(1)), (BAD, lap(1))], lap(1), &[(0, 2)]);
}

/// The late one is in its own lap, or in the next where that has begun.
#[test]
fn a_call_of_the_lap_before_does_not_take_the_bucket_back() {
    two_calls(3, 1, [(GOOD, lap(1) - 1), (BAD, lap(1))], lap(1), &[(0, 1), (1, 1)]);
    two_calls(3, 1, [(BAD, lap(1) - 1), (GOOD, lap(1))], lap(1), &[(1, 0), (1, 1)]);
}

#[test]
fn calls_of_two_laps_that_are_both_in_the_window_are_both_counted() {
    two_calls(3, 2, [(GOOD, lap(1) - 1), (BAD, lap(1))], lap(1), &[(1, 1)]);
}

#[test]
fn two_calls_that_meet_far_ahead_are_both_counted() {
    two_calls(2, 1, [(GOOD, FAR), (BAD, FAR)], FAR, &[(1, 1)]);
}

/// The late one is in its own lap, which has expired, or in that of the other.
#[test]
fn a_call_that_one_far_ahead_overtakes_does_not_take_the_bucket_back() {
    two_calls(2, 1, [(GOOD, 0), (BAD, FAR)], FAR, &[(0, 1), (1, 1)]);
}

#[test]
fn two_calls_that_meet_at_a_lap_which_looks_like_the_first_are_both_counted() {
    two_calls(2, 1, [(GOOD, AROUND), (GOOD, AROUND)], AROUND, &[(2, 0)]);
}

#[test]
fn two_calls_that_meet_where_the_anchor_steps_on_are_both_counted() {
    two_calls(2, 1, [(GOOD, STEPS), (BAD, STEPS)], STEPS, &[(1, 1)]);
}

/// By so many laps that the later one looks earlier.
#[test]
fn a_call_that_others_overtake_step_by_step_does_not_take_the_bucket_back() {
    explore(2, 1, |first| {
        let memory = Memory::of(&never_trips(1));
        let p = memory.permit(0);
        let steps = |b: Breaker<'_>| [20_000, 36_000].map(|laps| call(b, GOOD, lap(laps)).late);
        let (end, _) = both(first, &memory, move |b| b.complete(p, GOOD, 0), steps);
        assert!(!end.late);
        let held = window(memory.breaker(), lap(36_000));
        assert!(held == (1, 0) || held == (2, 0), "{held:?}");
    });
}

#[test]
fn a_reader_never_sees_an_expired_count_beside_the_new_one() {
    explore(2, 3, |first| {
        let memory = Memory::of(&never_trips(1));
        let _ = call(memory.breaker(), BAD, 0);
        let (_, seen) = both(first, &memory, |b| call(b, BAD, lap(1)), |b| window(b, lap(1)));
        assert!(seen == (0, 0) || seen == (0, 1), "{seen:?}");
    });
}

/// The first thread is held up in the middle of clearing; the second moves the anchor meanwhile.
#[test]
fn a_bucket_that_is_cleared_while_the_anchor_steps_on_still_expires() {
    explore(2, 2, |first| {
        let memory = Memory::of(&never_trips(2));
        let second_slot = STEPS + millis(500);
        let count = |b: Breaker<'_>| call(b, GOOD, STEPS);
        let _ = both(first, &memory, |b| b.reset(0), count);
        let _ = call(memory.breaker(), GOOD, second_slot);
        assert_eq!(window(memory.breaker(), STEPS + lap(3)), (0, 0));
    });
}
