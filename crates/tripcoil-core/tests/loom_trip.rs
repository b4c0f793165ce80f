//! The trip: calls that end at once make one transition between them, and generations are without gaps.
//!
//! Checked: of several calls whose ends make the condition true together, exactly one returns the
//! transition, with counts that hold what it decided on; of two bad probes, one reopens the breaker and
//! the deadline is its; a trip and a change of mode come one after the other.
//!
//! What loom cannot see, here and in the other models: sequentially consistent accesses (there are none
//! in this crate) are taken as acquire and release; a load never returns a value that is stored later
//! (load buffering), so relaxed accesses are reordered less than hardware may; a location remembers its
//! last 7 values only; nothing fails spuriously; time is what the model passes in; and nothing is said
//! of more threads, or of more preemptions of a thread, than the model has.
#![cfg(loom)]

mod loom_support;

use loom_support::*;
use tripcoil_core::time::millis;
use tripcoil_core::{Breaker, Condition, Counts, Mode, Rule, State};

fn two_bad_trip() -> Rule {
    Rule { min_request_amount: 2, ..Rule::new(Condition::ErrorRatio(0.5), 1000) }
}

#[test]
fn two_calls_that_complete_the_condition_trip_it_once() {
    explore(1, 2, |first| {
        let memory = Memory::of(&two_bad_trip());
        let (p, q) = (memory.permit(0), memory.permit(0));
        let (a, b) = both(first, &memory, move |b| b.complete(p, BAD, 0), move |b| b.complete(q, BAD, 0));
        assert!(!a.late && !b.late);
        let changes = in_order(p.generation() + 1, [a.transition, b.transition]);
        assert_eq!(changes.len(), 1);
        assert_eq!((changes[0].to, changes[0].counts), (State::Open, Counts { good: 0, bad: 2 }));
        assert_eq!(memory.breaker().snapshot(0).generation, changes[0].generation);
    });
}

#[test]
fn two_calls_of_which_each_alone_would_do_trip_it_once() {
    explore(1, 2, |first| {
        let memory = Memory::of(&one_bad_trips());
        let (p, q) = (memory.permit(0), memory.permit(0));
        let (a, b) = both(first, &memory, move |b| b.complete(p, BAD, 0), move |b| b.complete(q, BAD, 0));
        let changes = in_order(p.generation() + 1, [a.transition, b.transition]);
        assert_eq!(changes.len(), 1);
        let late = u64::from(a.late) + u64::from(b.late);
        let totals = memory.breaker().totals();
        assert_eq!((totals.bad, totals.late), (2 - late, late));
    });
}

#[test]
fn two_errors_in_a_row_that_meet_trip_it_once() {
    explore(1, 2, |first| {
        let memory = Memory::of(&Rule::new(Condition::ConsecutiveErrors(2.0), 1000));
        let (p, q) = (memory.permit(0), memory.permit(0));
        let (a, b) = both(first, &memory, move |b| b.complete(p, BAD, 0), move |b| b.complete(q, BAD, 0));
        let changes = in_order(p.generation() + 1, [a.transition, b.transition]);
        assert_eq!(changes.iter().map(|change| change.value).collect::<Vec<_>>(), [Some(2.0)]);
    });
}

#[test]
fn of_two_bad_probes_one_decides_and_the_deadline_is_its() {
    explore(2, 3, |first| {
        let (memory, p) = Memory::half_open(&Rule { probe_num: 2, ..one_bad_trips() }, DUE);
        let q = memory.permit(DUE);
        let later = DUE + millis(7);
        let (a, b) =
            both(first, &memory, move |b| b.complete(p, BAD, DUE), move |b| b.complete(q, BAD, later));
        assert!(a.late != b.late);
        let changes = in_order(p.generation() + 1, [a.transition, b.transition]);
        assert_eq!(changes.len(), 1);
        let (at, until) = (changes[0].at, changes[0].open_until.unwrap());
        assert_eq!(until, at + millis(4000));
        assert_eq!(memory.breaker().snapshot(later).retry_after, Some(until - later));
    });
}

#[test]
fn a_trip_and_a_change_of_mode_come_one_after_the_other() {
    explore(2, 2, |first| {
        let memory = Memory::of(&one_bad_trips());
        let p = memory.permit(0);
        let (end, set) =
            both(first, &memory, move |b| b.complete(p, BAD, 0), |b| b.set_mode(Mode::ForcedOpen, 0));
        let changes = in_order(p.generation() + 1, [end.transition, Some(set)]);
        let last = changes.last().unwrap();
        assert_eq!((last.to, last.to_mode), (State::Closed, Mode::ForcedOpen));
        assert_eq!(last.from, if changes.len() == 2 { State::Open } else { State::Closed });
        let now = memory.breaker().snapshot(0);
        assert_eq!((now.state, now.mode, now.generation), (State::Closed, Mode::ForcedOpen, last.generation));
        assert_eq!((now.window, now.retry_after), (Counts::default(), None));
    });
}

/// Whoever adds up the window while other calls end must not see a bad call without the good ones that
/// ended before it.
#[test]
fn bad_calls_among_more_good_ones_never_trip_it() {
    explore(2, 3, |first| {
        let rule = Rule { min_request_amount: 2, ..Rule::new(Condition::ErrorRatio(0.5), 1000) };
        let memory = Memory::of(&rule);
        let _ = call(memory.breaker(), GOOD, 0);
        let p = memory.permit(0);
        let three = |b: Breaker<'_>| [GOOD, GOOD, BAD].map(|end| call(b, end, 0).transition);
        let one = move |b: Breaker<'_>| b.complete(p, BAD, 0).transition;
        let (three, one) = both(first, &memory, three, one);
        assert_eq!((three, one), ([None; 3], None));
    });
}
