//! The deadline: published after the state that it belongs to, and never read as an older one's.
//!
//! Checked: while a trip or a reopening is published nobody is let through by the deadline before it;
//! neither a publisher that was held up nor a reader of the old deadline, whose clock went back, changes
//! the new one.
//!
//! Loom cannot see sequential consistency, load buffering, real time, or more threads and preemptions
//! than a model has: `loom_trip.rs` says more.
#![cfg(loom)]

mod loom_support;

use loom_support::*;
use tripcoil_core::time::millis;
use tripcoil_core::{Admission, Breaker, State};

#[test]
fn nobody_is_let_through_by_the_deadline_before_a_reopening() {
    let until = DUE + millis(4000);
    explore(2, 3, move |first| {
        let (memory, p) = Memory::half_open(&one_bad_trips(), DUE);
        let (end, asked) = both(first, &memory, move |b| b.complete(p, BAD, DUE), |b| admit(b, DUE));
        assert_eq!(passed(asked), None);
        assert_eq!(end.transition.unwrap().open_until, Some(until));
        assert_eq!(passed(admit(memory.breaker(), until - 1)), None);
        assert!(passed(admit(memory.breaker(), until)).is_some());
    });
}

#[test]
fn nobody_is_let_through_by_the_deadline_before_a_trip() {
    explore(2, 3, |first| {
        let (memory, p) = Memory::half_open(&one_bad_trips(), DUE);
        let _ = memory.breaker().complete(p, GOOD, DUE);
        let (end, asked) = both(first, &memory, |b| call(b, BAD, DUE), |b| admit(b, DUE));
        assert_eq!(end.transition.unwrap().open_until, Some(DUE + millis(1000)));
        assert!(passed(asked).is_none_or(|permit| !permit.is_probe()));
        assert_eq!(memory.breaker().state(), State::Open);
    });
}

#[test]
fn a_publisher_that_was_held_up_does_not_change_the_next_deadline() {
    let later = millis(300);
    explore(2, 2, move |first| {
        let memory = Memory::of(&one_bad_trips());
        let p = memory.permit(0);
        let trip_again = move |b: Breaker<'_>| {
            let _ = b.reset(later);
            call(b, BAD, later).transition.unwrap()
        };
        let (_, last) = both(first, &memory, move |b| b.complete(p, BAD, 0), trip_again);
        assert_eq!(last.open_until, Some(later + millis(1000)));
        assert_eq!(memory.breaker().snapshot(later).retry_after, Some(millis(1000)));
        assert_eq!(passed(admit(memory.breaker(), millis(1000))), None);
        assert!(passed(admit(memory.breaker(), later + millis(1000))).is_some());
    });
}

/// The new deadline is four times as far away; the reader has the old one's length, and read the clock
/// before the old one's end. It asks, since an admission would first see that the old one has not ended.
#[test]
fn a_reader_of_the_old_deadline_does_not_shorten_the_new_one() {
    explore(2, 3, |first| {
        let memory = Memory::open(&one_bad_trips());
        let probe = |b: Breaker<'_>| call(b, BAD, DUE).transition.unwrap();
        let (reopened, _) = both(first, &memory, probe, |b| b.ask(DUE - 1, || DUE));
        assert_eq!(reopened.open_until, Some(DUE + millis(4000)));
        assert_eq!(memory.breaker().snapshot(DUE).retry_after, Some(millis(4000)));
    });
}

/// Open until 6000 ms, and the clock goes back to 200 and 300 ms.
#[test]
fn a_clock_that_went_back_moves_the_old_deadline_or_the_new_one_rightly() {
    explore(2, 3, |first| {
        let memory = Memory::of(&one_bad_trips());
        let _ = call(memory.breaker(), BAD, millis(5000));
        let trip_again = |b: Breaker<'_>| {
            let _ = b.reset(millis(200));
            call(b, BAD, millis(200))
        };
        let (_, asked) = both(first, &memory, trip_again, |b| admit(b, millis(300)));
        match asked {
            Admission::Rejected(no) => assert!(no.retry_after() <= millis(1000)),
            other => assert!(!passed(other).unwrap().is_probe()),
        }
        assert_eq!(memory.breaker().snapshot(millis(300)).retry_after, Some(millis(900)));
    });
}
