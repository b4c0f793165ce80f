//! A call on one thread: closed, rejected, failing, with more buckets and more rules, beside peers and floors.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tripcoil::{Clock, MonotonicClock, Outcome, Resource, Rule};
use tripcoil_cases::{called, entered, error_rule, guarded, open, patient_rule, slow_rule};
use tripcoil_compare::peers::{Failsafe, Lifetime, Peer, Sentinel};

use crate::rounds::{Rounds, timed};

/// Adds all subjects.
pub(crate) fn add_to(rounds: &mut Rounds) {
    floors(rounds);
    closed(rounds);
    rejected(rounds);
    failing(rounds);
    growth(rounds);
    peer::<recloser::Recloser>(rounds);
    peer::<Failsafe>(rounds);
    peer::<breaker::CircuitBreaker>(rounds);
    peer::<Lifetime>(rounds);
    peer::<Sentinel>(rounds);
}

/// What no breaker can do without.
fn floors(rounds: &mut Rounds) {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let add = || COUNTER.fetch_add(1, Ordering::AcqRel);
    rounds.add("floor/fetch_add", add);
    rounds.add("floor/coarse clock", || MonotonicClock.coarse());
    rounds.add("floor/precise clock", || MonotonicClock.now());
    rounds.add("floor/Instant::now", Instant::now);
    rounds.add("floor/coarse clock and fetch_add", move || MonotonicClock.coarse().wrapping_add(add()));
    // A count, and a reference taken and dropped: what a rejection that owns its resource needs.
    static OTHERS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
    rounds.add("floor/coarse clock and three fetch_adds", move || {
        let [one, two] = &OTHERS;
        let now =
            MonotonicClock.coarse().wrapping_add(add()).wrapping_add(one.fetch_add(1, Ordering::Relaxed));
        now.wrapping_add(two.fetch_sub(1, Ordering::Release))
    });
    rounds.add("floor/two precise clocks and fetch_add", move || {
        let began = MonotonicClock.now();
        add();
        MonotonicClock.now().wrapping_sub(began)
    });
    rounds.add("floor/nothing", || ());
}

fn closed(rounds: &mut Rounds) {
    let resource = guarded([error_rule(10)]);
    rounds.add("closed/tripcoil", move || entered(black_box(&resource), Outcome::Good));
    let resource = guarded([error_rule(10)]);
    rounds.add("closed/tripcoil, call()", move || called(black_box(&resource)));
    let resource = guarded([slow_rule()]);
    rounds.add("slow rule/tripcoil", move || entered(black_box(&resource), Outcome::Good));
}

fn rejected(rounds: &mut Rounds) {
    let resource = open();
    rounds.add("rejected/tripcoil", move || entered(black_box(&resource), Outcome::Good));
}

fn failing(rounds: &mut Rounds) {
    for buckets in [10, 60] {
        let of = |what: &str| format!("{what}/{buckets} buckets");
        let resource = guarded([patient_rule(buckets)]);
        rounds.add(of("failing, error count"), move || entered(black_box(&resource), Outcome::Bad));
        // The same but for the failing call, which is what they differ by.
        rounds.add(of("one failing of ten, error ratio"), in_turn(buckets, &ONE_FAILS));
        rounds.add(of("ten good ones, error ratio"), in_turn(buckets, &[Outcome::Good; 10]));
        let resource = guarded([error_rule(buckets)]);
        rounds.add_run(of("good among bad"), move |calls| good_among_bad(&resource, calls));
        let resource = guarded([error_rule(buckets)]);
        rounds.add(of("good"), move || entered(black_box(&resource), Outcome::Good));
    }
}

/// Calls with these outcomes, over and over.
fn in_turn(buckets: u32, outcomes: &'static [Outcome; 10]) -> impl FnMut() -> bool {
    let resource = guarded([error_rule(buckets)]);
    let mut turn = 0;
    move || {
        turn = if turn == 9 { 0 } else { turn + 1 };
        entered(black_box(&resource), outcomes[turn])
    }
}

/// A good call whose window holds bad ones.
fn good_among_bad(resource: &Resource, calls: u32) -> f64 {
    let pass = |outcome, calls| (0..calls).for_each(|_| assert!(entered(resource, outcome)));
    pass(Outcome::Good, 100);
    pass(Outcome::Bad, 50);
    timed(calls, |calls| {
        for _ in 0..calls {
            black_box(entered(black_box(resource), Outcome::Good));
        }
    })
}

/// For the picture.
fn growth(rounds: &mut Rounds) {
    for buckets in BUCKETS {
        let resource = guarded([error_rule(buckets)]);
        rounds.add(format!("buckets, good/{buckets}"), move || entered(black_box(&resource), Outcome::Good));
        let resource = guarded([patient_rule(buckets)]);
        rounds
            .add(format!("buckets, failing/{buckets}"), move || entered(black_box(&resource), Outcome::Bad));
    }
    for rules in RULES {
        let some = |rule: fn(u32) -> Rule| guarded((0..rules).map(|i| rule(10 + i)));
        let resource = some(error_rule);
        rounds.add(format!("rules, good/{rules}"), move || entered(black_box(&resource), Outcome::Good));
        let resource = some(patient_rule);
        rounds.add(format!("rules, failing/{rules}"), move || entered(black_box(&resource), Outcome::Bad));
    }
}

fn peer<P: Peer>(rounds: &mut Rounds) {
    let closed = P::closed();
    rounds.add(format!("closed/{}", P::NAME), move || good(black_box(&closed)));
    let patient = P::patient();
    (0..1000).for_each(|_| assert!(patient.bad()));
    rounds.add(format!("failing/{}", P::NAME), move || bad(black_box(&patient)));
    let open = P::open();
    assert!(!open.good());
    rounds.add(format!("rejected/{}", P::NAME), move || good(black_box(&open)));
}

/// As a function of a user's, as [`entered`] is.
#[inline(never)]
fn good<P: Peer>(peer: &P) -> bool {
    peer.good()
}

#[inline(never)]
fn bad<P: Peer>(peer: &P) -> bool {
    peer.bad()
}

/// The last fails.
const ONE_FAILS: [Outcome; 10] = {
    let mut outcomes = [Outcome::Good; 10];
    outcomes[9] = Outcome::Bad;
    outcomes
};

pub(crate) const BUCKETS: [u32; 7] = [1, 2, 5, 10, 20, 40, 60];
pub(crate) const RULES: [u32; 6] = [1, 2, 3, 4, 6, 8];
