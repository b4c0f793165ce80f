//! Rules that are given, edited and taken away, and manual control.

use tripcoil_core::time::{NEVER, millis};
use tripcoil_core::{Admission, Condition, Judges, Mode, Permit, Rule, State, Totals, Verdict};

use super::{BAD, DUE, GOOD, Memory, change, counts, one_bad_trips};

#[test]
fn a_breaker_without_a_rule_admits_and_counts_nothing() {
    let memory = Memory::empty();
    assert_eq!(memory.breaker().judges(), Judges::Nothing);
    memory.calls(3, BAD, 0);
    assert_eq!((memory.breaker().totals(), memory.window(0)), (Totals::default(), counts(0, 0)));
    // The permit that fills a place is late wherever there is a rule.
    memory.breaker().assign(&one_bad_trips()).unwrap();
    assert!(memory.breaker().complete(Permit::NONE, BAD, 0).late);
    assert_eq!(memory.breaker().totals(), Totals::default());
}

#[test]
fn another_rule_begins_closed_with_nothing_counted() {
    let memory = Memory::open(&one_bad_trips());
    memory.breaker().count_blocked();
    memory.breaker().count_observed();
    let before = memory.breaker().totals();
    assert_eq!((before.blocked, before.observed, before.bad), (1, 1, 1));
    let generation = memory.breaker().snapshot(0).generation;
    let run = Rule { buckets: 5, ..Rule::new(Condition::ConsecutiveErrors(2.0), 1000) };
    let begun = memory.breaker().assign(&run).unwrap();
    assert_eq!((begun, memory.breaker().rule()), (generation + 2, run));
    let now = memory.breaker().snapshot(0);
    assert_eq!((now.state, now.generation, now.totals), (State::Closed, begun, Totals::default()));
}

#[test]
fn what_was_admitted_under_another_rule_is_late_and_not_listed() {
    let memory = Memory::of(&one_bad_trips());
    let (held, ignored) = (memory.permit(0), memory.permit(0));
    memory.breaker().assign(&one_bad_trips()).unwrap();
    assert!(memory.breaker().complete(held, BAD, 0).late);
    assert_eq!(memory.breaker().ignore(ignored, 0), None);
    assert_eq!((memory.state(), memory.breaker().totals()), (State::Closed, Totals::default()));
}

#[test]
fn a_retired_breaker_admits_everything() {
    let memory = Memory::open(&one_bad_trips());
    memory.breaker().retire();
    assert_eq!((memory.state(), memory.breaker().mode()), (State::Closed, Mode::Disabled));
    memory.calls(3, BAD, 0);
}

#[test]
fn a_rule_that_does_not_fit_changes_nothing() {
    let memory = Memory::of(&one_bad_trips());
    let before = memory.breaker().snapshot(0);
    let refused = |rule: &Rule| memory.breaker().assign(rule).unwrap_err().field;
    assert_eq!(refused(&Rule { buckets: 20, ..one_bad_trips() }), "buckets");
    assert_eq!(refused(&Rule { probe_num: 0, ..one_bad_trips() }), "probe_num");
    let refused = |rule: &Rule| memory.breaker().edit(rule).unwrap_err().field;
    assert_eq!(refused(&Rule { buckets: 2, ..one_bad_trips() }), "stat_interval_ms");
    assert_eq!(refused(&Rule { retry_timeout_ms: 0, ..one_bad_trips() }), "retry_timeout_ms");
    assert_eq!((memory.breaker().snapshot(0), memory.breaker().rule()), (before, one_bad_trips()));
    let all = Rule { buckets: 10, ..one_bad_trips() };
    assert!(memory.breaker().assign(&all).is_ok());
}

#[test]
fn edited_numbers_count_from_the_next_decision() {
    let memory = Memory::of(&Rule { condition: Condition::ErrorCount(5.0), ..one_bad_trips() });
    memory.calls(2, BAD, 0);
    memory.breaker().edit(&Rule { retry_timeout_ms: 7, ..one_bad_trips() }).unwrap();
    assert_eq!(memory.window(0), counts(0, 2));
    let trip = change(memory.call(BAD, 0));
    assert_eq!((trip.counts, trip.open_until), (counts(0, 3), Some(millis(7))));
}

#[test]
fn each_mode_does_what_it_is_called() {
    let memory = Memory::of(&one_bad_trips());
    let forced = memory.breaker().set_mode(Mode::ForcedOpen, 3);
    assert_eq!((forced.from_mode, forced.to_mode, forced.at), (Mode::Normal, Mode::ForcedOpen, 3));
    assert_eq!((memory.rejection(0).mode(), memory.rejection(0).retry_after()), (Mode::ForcedOpen, NEVER));
    assert_eq!(memory.breaker().snapshot(0).retry_after, None);
    let Verdict::Reject(rejection) = memory.breaker().ask(0, || 0) else { panic!("it is forced open") };
    assert_eq!(rejection.retry_after(), NEVER);

    let _ = memory.breaker().set_mode(Mode::Disabled, 0);
    memory.calls(3, BAD, 0);
    assert_eq!((memory.window(0), memory.state()), (counts(0, 3), State::Closed));

    let _ = memory.breaker().set_mode(Mode::ObserveOnly, 0);
    assert_eq!(memory.window(0), counts(0, 0));
    assert_eq!(change(memory.call(BAD, 0)).to, State::Open);
    let Admission::Observed(rejection) = memory.admit(1) else { panic!("it only observes") };
    assert_eq!((rejection.mode(), rejection.retry_after()), (Mode::ObserveOnly, DUE - 1));
    assert_eq!(memory.breaker().ask(1, || 1), Verdict::Pass);
    assert_eq!(memory.breaker().reject_open(1), None);
}

#[test]
fn a_reset_keeps_the_mode_and_clears_the_rest() {
    let memory = Memory::of(&Rule::new(Condition::ConsecutiveErrors(3.0), 1000));
    let _ = memory.breaker().set_mode(Mode::ObserveOnly, 0);
    memory.calls(2, BAD, 0);
    let held = memory.permit(0);
    let reset = memory.breaker().reset(5);
    assert_eq!((reset.from, reset.to, reset.to_mode), (State::Closed, State::Closed, Mode::ObserveOnly));
    assert_eq!((reset.at, reset.value, reset.counts), (5, None, counts(0, 0)));
    let now = memory.breaker().snapshot(5);
    assert_eq!((now.run, now.window, now.generation), (0, counts(0, 0), reset.generation));
    assert!(memory.breaker().complete(held, GOOD, 5).late);
    assert_eq!(memory.breaker().totals().passed, 3);
    assert_eq!(memory.breaker().admit_closed().unwrap().generation(), reset.generation);
}

#[test]
fn a_reset_opens_nothing_and_closes_an_open_breaker() {
    let memory = Memory::open(&one_bad_trips());
    assert_eq!(memory.breaker().admit_closed(), None);
    let reset = memory.breaker().reset(0);
    assert_eq!((reset.from, reset.to), (State::Open, State::Closed));
    assert!(memory.breaker().admit_closed().is_some());
}

#[test]
fn an_edited_limit_tells_which_calls_are_slow() {
    let slow_after = |ms| {
        let condition = Condition::SlowRatio { threshold: 1.0, slow_after: millis(ms) };
        Rule { min_request_amount: 9, ..Rule::new(condition, 1000) }
    };
    let memory = Memory::of(&slow_after(9));
    let five = tripcoil_core::Ending { error: false, response_time: millis(5) };
    for (ms, window) in [(9, (1, 0)), (1, (1, 1)), (2, (1, 2)), (7, (2, 2)), (4, (2, 3))] {
        memory.breaker().edit(&slow_after(ms)).unwrap();
        memory.calls(1, five, 0);
        assert_eq!(memory.window(0), counts(window.0, window.1));
    }
}
