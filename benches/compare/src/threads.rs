//! Threads that share one breaker.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use core_affinity::CoreId;
use tripcoil::Outcome;
use tripcoil_cases::{entered, error_rule, guarded};
use tripcoil_compare::peers::{Failsafe, Lifetime, Peer, Sentinel};

use crate::rounds::Rounds;

/// Adds all subjects.
pub(crate) fn add_to(rounds: &mut Rounds) {
    // Of the process, before any thread of it was bound to one of them.
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    for threads in THREADS {
        let counter = AtomicU64::new(0);
        add(rounds, &cores, threads, "fetch_add", move |_| counter.fetch_add(1, Ordering::AcqRel));
        let resource = guarded([error_rule(10)]);
        add(rounds, &cores, threads, "tripcoil", move |_| entered(black_box(&resource), Outcome::Good));
        // What is not the sharing's, but the cores'.
        let own: Vec<_> = (0..threads).map(|_| guarded([error_rule(10)])).collect();
        let name = "tripcoil, a breaker each";
        add(rounds, &cores, threads, name, move |thread| entered(black_box(&own[thread]), Outcome::Good));
        peer::<recloser::Recloser>(rounds, &cores, threads);
        peer::<Failsafe>(rounds, &cores, threads);
        peer::<breaker::CircuitBreaker>(rounds, &cores, threads);
        peer::<Lifetime>(rounds, &cores, threads);
        peer::<Sentinel>(rounds, &cores, threads);
    }
}

fn peer<P: Peer>(rounds: &mut Rounds, cores: &[CoreId], threads: usize) {
    let peer = P::closed();
    add(rounds, cores, threads, P::NAME, move |_| good(black_box(&peer)));
}

#[inline(never)]
fn good<P: Peer>(peer: &P) -> bool {
    peer.good()
}

fn add<T>(
    rounds: &mut Rounds,
    cores: &[CoreId],
    threads: usize,
    name: &str,
    call: impl Fn(usize) -> T + Send + Sync + 'static,
) {
    let cores = cores.to_vec();
    rounds.add_run(format!("threads {threads}/{name}"), move |calls| together(threads, &cores, calls, &call));
}

/// What a call takes of a core's time, in ns, where so many threads make so many calls each at once. A call is
/// told the number of its thread.
///
/// With no more threads than cores that is how long a thread's call takes.
fn together<T>(threads: usize, cores: &[CoreId], calls: u32, call: &(impl Fn(usize) -> T + Sync)) -> f64 {
    let barrier = Barrier::new(threads);
    let pass = |thread, calls| {
        for _ in 0..calls {
            black_box(call(thread));
        }
    };
    let work = |thread: usize| {
        if let Some(core) = cores.get(thread % cores.len().max(1)) {
            core_affinity::set_for_current(*core);
        }
        pass(thread, calls / 10);
        barrier.wait();
        let began = Instant::now();
        pass(thread, calls);
        (began, Instant::now())
    };
    let spans: Vec<_> = std::thread::scope(|scope| {
        let spawned: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        spawned.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    let began = spans.iter().map(|span| span.0).min().expect("a thread");
    let ended = spans.iter().map(|span| span.1).max().expect("a thread");
    let busy = threads.min(cores.len().max(1));
    (ended - began).as_nanos() as f64 * busy as f64 / (threads as f64 * f64::from(calls))
}

pub(crate) const THREADS: [usize; 4] = [1, 2, 4, 8];
