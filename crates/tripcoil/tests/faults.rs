//! Whatever of a user's code panics, wherever the library calls it: nothing is lost, stuck or torn.
//!
//! A scenario passes every place where foreign code is called, and is played once for each of these calls, with
//! that one panicking. In half of it the calls are probes whose lease never ends: a place that got lost would
//! leave its breaker half-open for ever.

mod support;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::thread;

use serde_json::{Value, json};
use support::{call, ms, poll_once, r0_with, ready, state, trip};
use tripcoil::{
    Blocked, CallError, Clock, Mode, Outcome, Registry, Resource, Rule, State, VirtualClock, by_result,
};

/// What the panics here carry.
struct Blown;

/// Counts the calls of foreign code, and makes one of them panic.
#[derive(Default)]
struct Fuse {
    burned: AtomicU64,
    blows_at: AtomicU64,
}

impl Fuse {
    fn burn(&self) {
        if self.burned.fetch_add(1, Ordering::Relaxed) + 1 == self.blows_at.load(Ordering::Relaxed) {
            // As a panic, but not reported.
            resume_unwind(Box::new(Blown));
        }
    }
}

struct FusedClock(VirtualClock, Arc<Fuse>);

impl Clock for FusedClock {
    fn now(&self) -> u64 {
        self.1.burn();
        self.0.now()
    }
}

/// Foreign code as an error, as an id, and as a destructor.
struct Foreign(Arc<Fuse>);

impl Drop for Foreign {
    fn drop(&mut self) {
        // A second panic at a time is the end of any program in Rust.
        if !thread::panicking() {
            self.0.burn();
        }
    }
}

impl Error for Foreign {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.burn();
        None
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.burn();
        f.write_str("foreign")
    }
}

/// What a step's call has come to; while it runs, what it comes to if the next thing panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Came {
    NotBegun,
    Blocked,
    Ended(Outcome),
}

struct World {
    fuse: Arc<Fuse>,
    clock: VirtualClock,
    registry: Registry,
    r: Resource,
    came: Cell<Came>,
    counts: RefCell<HashMap<Came, u64>>,
}

/// Two that trip and probe alike, and not by the same rule.
fn rules() -> Value {
    let rule = |ms: u64| r0_with(&json!({"probeTimeoutMs": 0, "statIntervalMs": ms}));
    json!([rule(1_000), rule(2_000)])
}

fn registry(clock: &VirtualClock, fuse: &Arc<Fuse>, limit: usize) -> Registry {
    let clock = FusedClock(clock.clone(), Arc::clone(fuse));
    Registry::builder().clock(clock).max_resources(limit).build()
}

impl World {
    fn new() -> Self {
        let (fuse, clock) = (Arc::new(Fuse::default()), VirtualClock::new());
        let registry = registry(&clock, &fuse, 8);
        registry.load_json(rules().to_string()).unwrap();
        let r = registry.resource("r").unwrap();
        Self { fuse, clock, registry, r, came: Cell::new(Came::NotBegun), counts: RefCell::default() }
    }

    /// What burns nothing.
    fn safely<T>(&self, body: impl FnOnce() -> T) -> T {
        let burned = self.fuse.burned.load(Ordering::Relaxed);
        let blows_at = self.fuse.blows_at.swap(0, Ordering::Relaxed);
        let result = body();
        self.fuse.burned.store(burned, Ordering::Relaxed);
        self.fuse.blows_at.store(blows_at, Ordering::Relaxed);
        result
    }

    fn count(&self, came: Came, calls: u64) {
        *self.counts.borrow_mut().entry(came).or_default() += calls;
    }

    fn counted(&self, came: Came) -> u64 {
        self.counts.borrow().get(&came).copied().unwrap_or(0)
    }

    /// The guarded function has been called.
    fn begin(&self) {
        self.came.set(Came::Ended(Outcome::Bad));
        self.fuse.burn();
    }

    fn succeed<E>(&self) -> Result<(), E> {
        self.begin();
        Ok(())
    }

    fn ended<T, E>(&self, result: Result<T, CallError<E>>, outcome: Outcome) {
        let blocked = matches!(result, Err(CallError::Blocked(_)));
        self.came.set(if blocked { Came::Blocked } else { Came::Ended(outcome) });
    }

    fn blocked(&self, _: Blocked) -> Result<(), ()> {
        self.came.set(Came::Blocked);
        self.fuse.burn();
        Ok(())
    }

    fn foreign(&self) -> Foreign {
        Foreign(Arc::clone(&self.fuse))
    }

    fn classifier(&self) -> impl Fn(&()) -> Outcome {
        |()| {
            self.fuse.burn();
            Outcome::Ignored
        }
    }

    fn observe(&self, registry: &Registry) {
        let foreign = self.foreign();
        registry.observe("foreign", move |_| foreign.0.burn());
    }

    fn enter(&self) {
        let Ok(entry) = self.r.enter() else { return self.came.set(Came::Blocked) };
        self.came.set(Came::Ended(Outcome::Good));
        entry.end(Outcome::Good);
    }
}

fn an_entry(w: &World) {
    w.enter();
}

fn an_owned_entry(w: &World) {
    let Ok(entry) = w.r.enter_owned() else { return w.came.set(Came::Blocked) };
    w.came.set(Came::Ended(Outcome::Ignored));
    entry.end_with(Outcome::Ignored, ms(1)).unwrap();
}

fn an_entry_that_is_dropped(w: &World) {
    let entry = w.r.enter();
    w.came.set(if entry.is_ok() { Came::Ended(Outcome::Cancelled) } else { Came::Blocked });
}

fn a_destructors_call(w: &World) {
    struct Cleanup<'w>(&'w World);
    impl Drop for Cleanup<'_> {
        fn drop(&mut self) {
            self.0.enter();
        }
    }
    let _cleanup = Cleanup(w);
    // What the destructor runs for.
    resume_unwind(Box::new(Blown));
}

fn a_call(w: &World) {
    w.ended(w.r.call(|| w.succeed::<Foreign>()), Outcome::Good);
}

fn a_call_that_fails(w: &World) {
    let result = w.r.call(|| {
        w.begin();
        Err::<(), _>(w.foreign())
    });
    w.ended(result, Outcome::Bad);
}

fn a_call_with_its_entry(w: &World) {
    let result = w.r.call_with(|entry| {
        entry.mark_bad();
        w.succeed::<Foreign>()
    });
    w.ended(result, Outcome::Bad);
}

fn a_call_that_is_classified(w: &World) {
    let result = w.r.classify(w.classifier()).call(|| w.begin());
    w.ended(result.map_err(CallError::<()>::Blocked), Outcome::Ignored);
}

fn a_future(w: &World) {
    w.ended(ready(w.r.call_async(async { w.succeed::<Foreign>() })), Outcome::Good);
}

fn a_future_that_is_classified(w: &World) {
    let result = ready(w.r.classify(w.classifier()).call_async(async { w.begin() }));
    w.ended(result.map_err(CallError::<()>::Blocked), Outcome::Ignored);
}

fn a_future_that_is_dropped(w: &World) {
    /// The destructor of what the future owns.
    struct Leaving<'w>(&'w World);
    impl Drop for Leaving<'_> {
        fn drop(&mut self) {
            self.0.came.set(Came::Ended(Outcome::Bad));
            if !thread::panicking() {
                self.0.fuse.burn();
                self.0.came.set(Came::Ended(Outcome::Cancelled));
            }
        }
    }
    let polled = poll_once(w.r.call_async(async {
        let _leaving = Leaving(w);
        w.begin();
        future::pending::<Result<(), Foreign>>().await
    }));
    if let Poll::Ready(result) = polled {
        w.ended(result, Outcome::Good);
    }
}

fn a_fallback(w: &World) {
    w.r.set_mode(Mode::ForcedOpen);
    w.r.classify(by_result).call_or(|| w.succeed(), |by| w.blocked(by)).unwrap();
}

fn a_fallback_of_a_future(w: &World) {
    w.r.set_mode(Mode::ForcedOpen);
    ready(w.r.classify(by_result).call_async_or(async { w.succeed() }, |by| w.blocked(by))).unwrap();
}

fn observers(w: &World) {
    w.observe(&w.registry);
    w.observe(&w.registry);
    w.r.reset();
    w.r.breakers()[0].set_mode(Mode::Disabled);
    assert!(w.registry.unobserve("foreign"));
}

fn rules_and_names(w: &World) {
    let loaded = w.registry.rules();
    let burning = loaded.iter().map(|rule| {
        w.fuse.burn();
        Rule::clone(rule)
    });
    w.registry.load_rules(burning).unwrap();
    let names = || ["a", "b"].into_iter().inspect(|_| w.fuse.burn());
    w.registry.exclude(names()).unwrap();
    w.registry.include(names()).unwrap();
    Rule::error_count("r").threshold(1.0).retry_timeout(ms(1)).id(w.foreign()).build().unwrap();
}

fn what_is_read(w: &World) {
    assert!(w.registry.now() <= w.clock.time());
    assert!(
        w.r.breakers()
            .iter()
            .all(|breaker| breaker.snapshot().retry_after.is_none_or(|left| left <= ms(2_000)))
    );
}

fn another_registry(w: &World) {
    let registry = registry(&w.clock, &w.fuse, 1);
    w.observe(&registry);
    for name in ["r", "s", "r"] {
        registry.load_json(rules().to_string()).unwrap();
        let _ = registry.resource(name).unwrap().enter().map(|entry| entry.end(Outcome::Bad));
    }
}

const STEPS: [fn(&World); 17] = [
    an_entry,
    an_owned_entry,
    an_entry_that_is_dropped,
    a_destructors_call,
    a_call,
    a_call_that_fails,
    a_call_with_its_entry,
    a_call_that_is_classified,
    a_future,
    a_future_that_is_classified,
    a_future_that_is_dropped,
    a_fallback,
    a_fallback_of_a_future,
    observers,
    rules_and_names,
    what_is_read,
    another_registry,
];

/// Each step with breakers that are closed, and with ones that are due to probe.
fn play(w: &World, said: &str) {
    for (number, step) in STEPS.iter().enumerate() {
        for probing in [false, true] {
            w.safely(|| {
                w.r.set_mode(Mode::Normal);
                if probing {
                    trip(&w.r);
                    w.count(Came::Ended(Outcome::Bad), 4);
                    w.clock.advance(ms(2_000));
                }
                w.came.set(Came::NotBegun);
            });
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| step(w))) {
                assert!(panic.is::<Blown>(), "{said}, step {number}: its own assertion has failed");
            }
            w.count(w.came.get(), 1);
            w.safely(|| {
                let stuck = w.r.breakers().iter().any(|breaker| breaker.state() == State::HalfOpen);
                assert!(!stuck, "{said}, step {number}, probing: {probing}");
            });
        }
    }
}

fn check(w: &World, said: &str) {
    let ended = |outcome| w.counted(Came::Ended(outcome));
    for breaker in w.r.breakers() {
        let totals = breaker.snapshot().totals;
        let seen = [totals.good, totals.bad, totals.ignored, totals.cancelled];
        let wanted = [Outcome::Good, Outcome::Bad, Outcome::Ignored, Outcome::Cancelled].map(ended);
        assert_eq!(seen, wanted, "{said}");
        assert_eq!((totals.passed, totals.late), (wanted.iter().sum(), 0), "{said}");
    }
    assert_eq!(w.r.breakers()[0].snapshot().totals.blocked, w.counted(Came::Blocked), "{said}");

    let told = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&told);
    w.registry.observe("after", move |_| _ = count.fetch_add(1, Ordering::Relaxed));
    w.r.set_mode(Mode::Normal);
    trip(&w.r);
    w.clock.advance(ms(2_000));
    call(&w.r, Outcome::Good);
    assert_eq!(state(&w.r), State::Closed, "{said}");
    assert_eq!(told.load(Ordering::Relaxed), 8, "{said}");
    assert!(w.registry.load_json("[]").is_ok() && w.registry.resource("new").is_ok(), "{said}");
}

#[test]
fn a_panic_in_any_call_of_foreign_code_loses_nothing() {
    let whole = World::new();
    play(&whole, "without a panic");
    let burned = whole.fuse.burned.load(Ordering::Relaxed);
    check(&whole, "without a panic");
    assert!(burned > 100, "only {burned} calls of foreign code");
    let mut contained = 0;
    for blows_at in 1..=burned {
        let (w, said) = (World::new(), format!("call {blows_at} of {burned}"));
        w.fuse.burned.store(0, Ordering::Relaxed);
        w.fuse.blows_at.store(blows_at, Ordering::Relaxed);
        play(&w, &said);
        w.fuse.blows_at.store(0, Ordering::Relaxed);
        check(&w, &said);
        contained += w.registry.clock_panics();
    }
    assert!(contained > 50, "only {contained} of them were the clock's");
}
