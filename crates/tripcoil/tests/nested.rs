//! Calls within calls: what an inner rejection comes to for the outer call (spec D8).

mod support;

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use support::{World, ms, r0, r0_with, snapshot, state, trip};
use tripcoil::{Blocked, CallError, State, Totals, by_result};

type Answer = Result<u32, io::Error>;

fn bad() -> Totals {
    Totals { passed: 1, bad: 1, ..Totals::default() }
}

fn ignored() -> Totals {
    Totals { passed: 1, ignored: 1, ..Totals::default() }
}

/// An error with a cause.
#[derive(Debug)]
struct Wrapped<E>(E);

impl<E> fmt::Display for Wrapped<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wrapped")
    }
}

impl<E: Error + 'static> Error for Wrapped<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// An error whose cause may be anything.
#[derive(Debug)]
struct Boxed(Box<dyn Error>);

impl fmt::Display for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("boxed")
    }
}

impl Error for Boxed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// What an outer call counts whose inner one is blocked, with its error turned into another.
fn outer_counts<E: Error + 'static>(turn: impl Fn(Blocked) -> E) -> Totals {
    let world = World::new(&json!([r0(), r0_with(&json!({"resource": "inner"}))]));
    let (outer, inner) = (world.r(), world.resource("inner"));
    trip(&inner);
    let result = outer.call(|| inner.enter().map(drop).map_err(&turn));
    assert!(matches!(result, Err(CallError::Failed(_))), "the caller gets the error as it is");
    snapshot(&outer).totals
}

#[test]
fn an_outer_call_that_an_inner_rejection_ends_has_no_outcome() {
    assert_eq!(outer_counts(|blocked| blocked), ignored());
    assert_eq!(outer_counts(CallError::<io::Error>::Blocked), ignored());
    assert_eq!(
        outer_counts(|blocked| CallError::Failed(CallError::<io::Error>::Blocked(blocked))),
        ignored()
    );
    assert_eq!(outer_counts(|_| io::Error::other("something else")), bad());
}

#[test]
fn a_rejection_is_found_however_deep_it_is_wrapped() {
    let call_error = |blocked| CallError::<io::Error>::Blocked(blocked);
    assert_eq!(outer_counts(Wrapped), ignored());
    assert_eq!(outer_counts(|blocked| Wrapped(Wrapped(blocked))), ignored());
    assert_eq!(outer_counts(|blocked| Boxed(Box::new(Wrapped(call_error(blocked))))), ignored());
    assert_eq!(outer_counts(io::Error::other), ignored());
    assert_eq!(outer_counts(|blocked| io::Error::other(call_error(blocked))), ignored());
    assert_eq!(outer_counts(|blocked| Wrapped(io::Error::other(Wrapped(blocked)))), ignored());
    assert_eq!(outer_counts(|blocked| io::Error::other(io::Error::other(blocked))), ignored());
    assert_eq!(outer_counts(|blocked| Box::new(call_error(blocked))), ignored());
}

#[test]
fn a_rejection_is_found_in_a_box_or_a_counted_reference() {
    assert_eq!(outer_counts(Box::new), ignored());
    assert_eq!(outer_counts(Arc::new), ignored());
    assert_eq!(outer_counts(|blocked| Wrapped(Box::new(blocked))), ignored());
}

/// An error that counts how often it is asked for its cause.
#[derive(Debug)]
struct Asked(io::Error, Arc<AtomicUsize>);

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("asked")
    }
}

impl Error for Asked {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Some(&self.0)
    }
}

#[test]
fn a_long_chain_of_errors_is_walked_once() {
    let asked = Arc::new(AtomicUsize::new(0));
    let cause = io::Error::other("the cause");
    let deep = (0..16).fold(cause, |error, _| io::Error::other(Asked(error, Arc::clone(&asked))));
    assert!(!Blocked::is_cause_of(&deep));
    let asked = asked.load(Ordering::Relaxed);
    assert!(asked <= 2 * 16, "16 errors were asked {asked} times");
}

#[test]
fn a_nested_rejection_leaves_an_outer_probe_undecided() {
    let world = World::new(&json!([r0(), r0_with(&json!({"resource": "inner", "timeWindow": 60}))]));
    let (outer, inner) = (world.r(), world.resource("inner"));
    trip(&outer);
    trip(&inner);
    world.at(2_000);
    let nested = || inner.call(|| Answer::Ok(7));
    assert!(outer.call(nested).is_err());
    assert_eq!((state(&outer), snapshot(&outer).retry_after), (State::Open, Some(ms(0))));
    let counts_as_bad = outer.classify(by_result);
    assert!(counts_as_bad.call(nested).unwrap().is_err());
    assert_eq!(snapshot(&outer).retry_after, Some(ms(2_000)), "unless the user says otherwise");
}
