//! Guarded calls: what counts as what, and what the caller gets.

mod support;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use support::{World, ms, poll_once, ready, snapshot, state, trip};
use tripcoil::{Blocked, Outcome, Resource, State, Totals, by_error, by_result};

type Answer = Result<u32, io::Error>;

fn failed() -> Answer {
    Err(io::Error::other("no answer"))
}

/// What one use of a resource adds to its totals.
fn counted(use_it: impl FnOnce(&Resource)) -> Totals {
    let world = World::r0();
    let r = world.r();
    use_it(&r);
    snapshot(&r).totals
}

fn good() -> Totals {
    Totals { passed: 1, good: 1, ..Totals::default() }
}

fn bad() -> Totals {
    Totals { passed: 1, bad: 1, ..Totals::default() }
}

fn ignored() -> Totals {
    Totals { passed: 1, ignored: 1, ..Totals::default() }
}

fn cancelled() -> Totals {
    Totals { passed: 1, cancelled: 1, ..Totals::default() }
}

#[test]
fn a_call_gives_back_what_it_was_given_and_counts_it() {
    assert_eq!(counted(|r| assert_eq!(r.call(|| Answer::Ok(7)).unwrap(), 7)), good());
    let fails = |r: &Resource| assert_eq!(r.call(failed).unwrap_err().to_string(), "no answer");
    assert_eq!(counted(fails), bad());
    assert_eq!(counted(|r| assert_eq!(ready(r.call_async(async { Answer::Ok(7) })).unwrap(), 7)), good());
    let fails =
        |r: &Resource| assert!(ready(r.call_async(async { failed() })).unwrap_err().blocked().is_none());
    assert_eq!(counted(fails), bad());
}

#[test]
fn an_entry_that_becomes_an_owned_one_is_the_same_call() {
    assert_eq!(counted(|r| r.enter().unwrap().into_owned().end(Outcome::Good).unwrap()), good());
    assert_eq!(counted(|r| drop(r.enter().unwrap().into_owned())), cancelled());
    let marked = |r: &Resource| {
        let entry = r.enter().unwrap();
        entry.mark_bad();
        entry.into_owned().end(Outcome::Good).unwrap();
    };
    assert_eq!(counted(marked), bad());
}

#[test]
fn a_panic_counts_as_bad_and_goes_on() {
    let message = |panicked: std::thread::Result<()>| *panicked.unwrap_err().downcast::<u32>().unwrap();
    let in_call = |r: &Resource| {
        let call = AssertUnwindSafe(|| drop(r.call(|| -> Answer { resume_unwind(Box::new(7_u32)) })));
        assert_eq!(message(catch_unwind(call)), 7);
    };
    assert_eq!(counted(in_call), bad());
    let in_future = |r: &Resource| {
        let panics = async || -> Answer { resume_unwind(Box::new(7_u32)) };
        let call = r.call_async(panics());
        assert_eq!(message(catch_unwind(AssertUnwindSafe(|| drop(ready(call))))), 7);
    };
    assert_eq!(counted(in_future), bad());
    let in_classifier = |r: &Resource| {
        let guard = r.classify(|_: &u32| resume_unwind(Box::new(7_u32)));
        assert_eq!(message(catch_unwind(AssertUnwindSafe(|| drop(guard.call(|| 1))))), 7);
    };
    assert_eq!(counted(in_classifier), bad());
}

#[test]
fn a_future_that_is_dropped_is_a_cancelled_call() {
    let dropped = |r: &Resource| {
        assert!(poll_once(r.call_async(std::future::pending::<Answer>())).is_pending());
    };
    assert_eq!(counted(dropped), cancelled());
}

#[test]
fn a_future_that_is_never_polled_asks_for_nothing() {
    assert_eq!(counted(|r| drop(r.call_async(async { failed() }))), Totals::default());
}

#[test]
fn a_guarded_future_can_be_sent_to_another_thread() {
    fn sent<T: Send>(future: T) -> T {
        future
    }
    let across = |r: &Resource| {
        let future = sent(r.call_async(async { Answer::Ok(7) }));
        let answer = std::thread::scope(|scope| scope.spawn(|| ready(future)).join().unwrap());
        assert_eq!(answer.unwrap(), 7);
    };
    assert_eq!(counted(across), good());
}

#[test]
fn a_classifier_decides_what_counts_as_what() {
    for (status, totals) in [(200, good()), (503, bad()), (404, ignored()), (499, cancelled())] {
        let classify = |status: &u16| match status {
            500.. => Outcome::Bad,
            404 => Outcome::Ignored,
            499 => Outcome::Cancelled,
            _ => Outcome::Good,
        };
        assert_eq!(counted(|r| assert_eq!(r.classify(classify).call(|| status).unwrap(), status)), totals);
        let called = counted(|r| {
            assert_eq!(ready(r.classify(classify).call_async(async { status })).unwrap(), status);
        });
        assert_eq!(called, totals);
    }
}

#[test]
fn a_classifier_decides_on_a_probe_too() {
    for (outcome, state_after) in
        [(Outcome::Good, State::Closed), (Outcome::Bad, State::Open), (Outcome::Ignored, State::Open)]
    {
        let world = World::r0();
        let r = world.r();
        trip(&r);
        world.at(2_000);
        r.classify(|_: &()| outcome).call(|| ()).unwrap();
        let left = snapshot(&r).retry_after;
        assert_eq!(state(&r), state_after);
        assert_eq!(left == Some(ms(0)), outcome == Outcome::Ignored, "the old deadline, or a new one");
    }
}

#[test]
fn an_entry_that_is_marked_bad_is_bad_although_its_call_ends_well() {
    let marked = |r: &Resource| {
        let answer = r.call_with(|entry| {
            assert_eq!(entry.resource(), "r");
            entry.mark_bad();
            Answer::Ok(7)
        });
        assert_eq!(answer.unwrap(), 7);
    };
    assert_eq!(counted(marked), bad());
    let owned = |r: &Resource| {
        let entry = r.enter_owned().unwrap();
        entry.mark_bad();
        entry.end(Outcome::Good).unwrap();
    };
    assert_eq!(counted(owned), bad());
    let ignored_all_the_same = |r: &Resource| {
        let entry = r.enter().unwrap();
        entry.mark_bad();
        entry.end(Outcome::Ignored);
    };
    assert_eq!(counted(ignored_all_the_same), ignored());
}

#[test]
fn a_fallback_answers_for_calls_that_are_not_made_and_for_no_others() {
    let world = World::r0();
    let r = world.r();
    let guard = r.classify(by_result);
    let fallback = |_: Blocked| Ok(0);
    assert_eq!(guard.call_or(|| Err("down"), fallback), Err("down"));
    assert_eq!(ready(guard.call_async_or(async { Err("down") }, fallback)), Err("down"));
    assert_eq!(guard.call_or(|| Ok(7), fallback), Ok(7));
    let last = guard.call_or(|| Err("down"), fallback);
    assert_eq!((last, state(&r)), (Err("down"), State::Open));
    assert_eq!(guard.call_or(|| Err("down"), fallback), Ok(0));
    assert_eq!(ready(guard.call_async_or(async { Err("down") }, fallback)), Ok(0));
    assert_eq!(snapshot(&r).totals.passed, 4);
}

#[test]
fn by_error_and_by_result_differ_on_rejections_only() {
    let world = World::r0();
    let r = world.r();
    trip(&r);
    let rejected: Result<(), Blocked> = r.enter().map(drop);
    assert_eq!((by_error(&rejected), by_result(&rejected)), (Outcome::Ignored, Outcome::Bad));
    assert_eq!((by_error(&failed()), by_result(&failed())), (Outcome::Bad, Outcome::Bad));
    assert_eq!((by_error(&Answer::Ok(1)), by_result(&Answer::Ok(1))), (Outcome::Good, Outcome::Good));
}
