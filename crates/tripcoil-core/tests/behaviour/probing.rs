//! Open and half-open: who probes, and what comes of it.

use tripcoil_core::time::{NEVER, millis};
use tripcoil_core::{Admission, Rule, State, Verdict};

use super::{BAD, DUE, GOOD, Memory, change, counts, one_bad_trips};

fn three_probes() -> Rule {
    Rule { probe_num: 3, ..one_bad_trips() }
}

#[test]
fn the_first_call_after_the_wait_is_a_probe_and_closes_the_breaker() {
    let memory = Memory::open(&one_bad_trips());
    assert_eq!(memory.rejection(DUE - 1).retry_after(), 1);
    let Admission::Passed(probe, Some(begun)) = memory.admit(DUE) else { panic!("it is due") };
    assert!(probe.is_probe());
    assert_eq!(
        (begun.from, begun.to, begun.value, begun.open_until),
        (State::Open, State::HalfOpen, None, None)
    );
    assert_eq!(begun.generation, probe.generation());
    let closed = change(memory.breaker().complete(probe, GOOD, DUE + 5));
    assert_eq!((closed.from, closed.to, closed.at), (State::HalfOpen, State::Closed, DUE + 5));
    assert_eq!((memory.window(DUE + 5), memory.breaker().totals().good), (counts(0, 0), 1));
}

#[test]
fn a_round_has_as_many_places_as_the_rule_says() {
    let memory = Memory::open(&three_probes());
    let probes = [DUE, DUE, DUE].map(|now| memory.permit(now));
    let full = memory.rejection(DUE + 1);
    assert_eq!((full.state(), full.retry_after()), (State::HalfOpen, DUE - 1));
    assert_eq!(memory.breaker().snapshot(DUE + 1).retry_after, Some(DUE - 1));
    let [first, second, third] = probes;
    assert_eq!(memory.breaker().complete(first, GOOD, DUE).transition, None);
    assert_eq!(memory.breaker().complete(second, GOOD, DUE).transition, None);
    assert_eq!(memory.rejection(DUE).state(), State::HalfOpen);
    assert_eq!(change(memory.breaker().complete(third, GOOD, DUE)).to, State::Closed);
}

#[test]
fn one_bad_probe_opens_it_again_and_the_others_are_late() {
    let memory = Memory::open(&three_probes());
    let (good, bad) = (memory.permit(DUE), memory.permit(DUE));
    let again = change(memory.breaker().complete(bad, BAD, DUE));
    assert_eq!((again.from, again.to, again.value), (State::HalfOpen, State::Open, Some(1.0)));
    assert_eq!((again.open_until, again.given_back), (Some(2 * DUE), false));
    assert!(memory.breaker().complete(good, GOOD, DUE).late);
    let totals = memory.breaker().totals();
    assert_eq!((totals.good, totals.bad, totals.late, totals.passed), (0, 2, 1, 3));
}

#[test]
fn the_wait_grows_with_each_reopening_up_to_its_limit() {
    let rule = Rule { backoff_factor: 2.0, max_retry_timeout_ms: 3000, ..one_bad_trips() };
    let memory = Memory::open(&rule);
    let mut now = DUE;
    for wait in [2000, 3000, 3000] {
        let probe = memory.permit(now);
        let until = change(memory.breaker().complete(probe, BAD, now)).open_until;
        assert_eq!(until, Some(now + millis(wait)));
        now += millis(wait);
    }
    // Closed once, it begins anew.
    assert_eq!(change(memory.call(GOOD, now)).to, State::Closed);
    assert_eq!(change(memory.call(BAD, now)).open_until, Some(now + DUE));
}

#[test]
fn the_last_probe_that_is_given_back_opens_it_as_it_was() {
    let memory = Memory::open(&three_probes());
    let (one, other) = (memory.permit(DUE), memory.permit(DUE));
    assert_eq!(memory.breaker().cancel(one, DUE), None);
    assert_eq!(memory.state(), State::HalfOpen);
    let back = memory.breaker().ignore(other, DUE + 1).expect("the round has ended");
    assert_eq!((back.from, back.to, back.given_back), (State::HalfOpen, State::Open, true));
    assert_eq!((back.open_until, back.value), (Some(DUE), Some(1.0)));
    assert_eq!(memory.breaker().give_back(other, DUE + 1), None);
    assert!(memory.permit(DUE + 1).is_probe());
    assert_eq!((memory.breaker().totals().cancelled, memory.breaker().totals().ignored), (1, 1));
}

#[test]
fn a_place_that_is_given_back_goes_to_another_call() {
    let memory = Memory::open(&three_probes());
    let probes = [DUE, DUE, DUE].map(|now| memory.permit(now));
    assert_eq!(memory.breaker().complete(probes[0], GOOD, DUE).transition, None);
    assert_eq!(memory.breaker().give_back(probes[1], DUE), None);
    assert_eq!(memory.breaker().give_back(probes[2], DUE), None);
    // One has ended well: the round goes on, with both places free.
    let (one, other) = (memory.permit(DUE), memory.permit(DUE));
    assert_eq!(memory.rejection(DUE).state(), State::HalfOpen);
    assert_eq!(memory.breaker().complete(one, GOOD, DUE).transition, None);
    assert_eq!(change(memory.breaker().complete(other, GOOD, DUE)).to, State::Closed);
}

#[test]
fn a_permit_of_an_earlier_round_gives_nothing_back() {
    let memory = Memory::open(&one_bad_trips());
    let lost = memory.permit(DUE);
    let _ = memory.permit(2 * DUE);
    assert_eq!(memory.breaker().give_back(lost, 2 * DUE), None);
    assert_eq!(memory.rejection(2 * DUE).state(), State::HalfOpen);
    assert!(memory.breaker().complete(lost, GOOD, 2 * DUE).late);
}

#[test]
fn a_round_that_outlives_its_lease_gives_way_to_the_next() {
    let memory = Memory::open(&one_bad_trips());
    let lost = memory.permit(DUE);
    assert_eq!(memory.rejection(2 * DUE - 1).retry_after(), 1);
    let Admission::Passed(probe, Some(forfeit)) = memory.admit(2 * DUE) else { panic!("the lease is over") };
    assert!(forfeit.is_forfeit() && probe.is_probe());
    assert_eq!(probe.generation(), lost.generation() + 1);
    assert!(memory.breaker().complete(lost, BAD, 2 * DUE).late);
    assert_eq!(memory.rejection(3 * DUE - 1).retry_after(), 1);
}

#[test]
fn each_probe_renews_the_lease() {
    let memory = Memory::open(&Rule { probe_num: 2, ..one_bad_trips() });
    let _ = (memory.permit(DUE), memory.permit(DUE + 7));
    assert_eq!(memory.rejection(2 * DUE).retry_after(), 7);
}

#[test]
fn a_lease_of_nothing_lasts_for_ever() {
    let memory = Memory::open(&Rule { probe_timeout_ms: 0, ..one_bad_trips() });
    let probe = memory.permit(DUE);
    assert_eq!(memory.rejection(NEVER - 1).retry_after(), NEVER);
    assert_eq!(memory.breaker().snapshot(DUE).retry_after, None);
    assert_eq!(change(memory.breaker().complete(probe, GOOD, DUE)).to, State::Closed);
}

#[test]
fn an_ended_lease_takes_no_place_while_no_probe_is_out() {
    let memory = Memory::open(&three_probes());
    let first = memory.permit(DUE);
    assert_eq!(memory.breaker().complete(first, GOOD, DUE).transition, None);
    let late = memory.permit(9 * DUE);
    assert_eq!(late.generation(), first.generation(), "the round goes on");
}

#[test]
fn asking_moves_nothing() {
    let memory = Memory::open(&one_bad_trips());
    let ask = |now: u64| memory.breaker().ask(now, || now);
    let Verdict::Reject(rejection) = ask(DUE - 1) else { panic!("it is open") };
    assert_eq!(rejection.retry_after(), 1);
    assert_eq!((ask(DUE), memory.state()), (Verdict::Pass, State::Open));
    let probe = memory.permit(DUE);
    let Verdict::Reject(rejection) = ask(2 * DUE - 1) else { panic!("its round is full") };
    assert_eq!((rejection.state(), rejection.retry_after()), (State::HalfOpen, 1));
    assert_eq!(ask(2 * DUE), Verdict::Pass);
    let _ = memory.breaker().complete(probe, GOOD, DUE);
    assert_eq!(ask(DUE), Verdict::Pass);
    let two = Memory::open(&three_probes());
    let _ = two.permit(DUE);
    assert_eq!(two.breaker().ask(DUE, || DUE), Verdict::Pass);
}
