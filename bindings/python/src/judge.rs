//! Which outcome an error or a result is: the user's say, and what the language means by its own.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use tripcoil::Outcome;

use crate::errors::CircuitOpenError;
use crate::python::{self, Part};
use crate::trace;

/// A set of errors: those of some types, and those of which a predicate says so.
pub(crate) struct Errors {
    types: Py<PyTuple>,
    predicates: Vec<Py<PyAny>>,
}

/// How a guard's calls are judged.
#[derive(Default)]
pub(crate) struct Judge {
    pub(crate) ignore: Option<Errors>,
    pub(crate) record: Option<Errors>,
    pub(crate) is_failure: Option<Py<PyAny>>,
    /// Whether the calls are of no function of the user's, which could mark them with `trace`.
    pub(crate) unmarked: AtomicBool,
}

impl Errors {
    pub(crate) fn new(types: Py<PyTuple>, predicates: Vec<Py<PyAny>>) -> Self {
        Self { types, predicates }
    }

    fn have(&self, error: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = error.py();
        if python::is_instance(error, self.types.bind(py))? {
            return Ok(true);
        }
        for predicate in &self.predicates {
            if python::is_true(&python::call1(predicate.bind(py), error)?)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Judge {
    /// Whether functions of the user's are asked, which may raise themselves.
    pub(crate) fn asks(&self) -> bool {
        let has_predicates = |errors: &Errors| !errors.predicates.is_empty();
        self.is_failure.is_some()
            || self.ignore.as_ref().is_some_and(has_predicates)
            || self.record.as_ref().is_some_and(has_predicates)
    }

    /// The outcome of a call that raised. Where a predicate raises, it is bad, and the predicate's error
    /// is the second part.
    pub(crate) fn error(&self, error: &PyErr, py: Python<'_>) -> (Outcome, Option<PyErr>) {
        match self.of_error(error, py) {
            Ok(outcome) => (outcome, None),
            Err(raised) => (Outcome::Bad, Some(in_context(raised, error, py))),
        }
    }

    fn of_error(&self, error: &PyErr, py: Python<'_>) -> PyResult<Outcome> {
        // Cancellation, interruption, exit, a closed generator: they say nothing of the dependency.
        if !error.is_instance_of::<PyException>(py) {
            return Ok(Outcome::Cancelled);
        }
        let value = error.value(py);
        if let Some(ignore) = &self.ignore
            && ignore.have(value)?
        {
            return Ok(Outcome::Ignored);
        }
        match &self.record {
            Some(record) if record.have(value)? => Ok(Outcome::Bad),
            // Spec D8.
            _ if is_rejection(error, py) => Ok(Outcome::Ignored),
            Some(_) => Ok(Outcome::Good),
            None => Ok(Outcome::Bad),
        }
    }

    /// Whether nobody has to be asked for the outcome of a call that returned: it is good.
    #[inline]
    pub(crate) fn is_good(&self, since: u64) -> bool {
        self.is_failure.is_none() && trace::marks() == since
    }

    /// The outcome of a call that returned, and had begun when there were `since` marks.
    #[inline]
    pub(crate) fn result(&self, value: &Bound<'_, PyAny>, since: u64) -> PyResult<Outcome> {
        let py = value.py();
        if let Some(error) = self.take_mark(py, since)? {
            return self.of_error(&error, py);
        }
        match &self.is_failure {
            None => Ok(Outcome::Good),
            Some(is_failure) => {
                let is_bad = python::is_true(&python::call1(is_failure.bind(py), value)?)?;
                Ok(if is_bad { Outcome::Bad } else { Outcome::Good })
            }
        }
    }

    /// The error of a call that has been marked as failed.
    #[inline]
    pub(crate) fn take_mark(&self, py: Python<'_>, since: u64) -> PyResult<Option<PyErr>> {
        if trace::marks() == since || self.unmarked.load(Ordering::Relaxed) {
            return Ok(None);
        }
        trace::take(py, since)
    }

    /// Forgets the marks of a call that raised, which go with it.
    #[inline]
    pub(crate) fn forget_marks(&self, py: Python<'_>, since: u64) {
        if let Some(error) = self.take_mark(py, since).unwrap_or_else(Some) {
            python::let_go(error, py);
        }
    }

    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        for errors in [&self.ignore, &self.record].into_iter().flatten() {
            visit.call(&errors.types)?;
            for predicate in &errors.predicates {
                visit.call(predicate)?;
            }
        }
        visit.call(&self.is_failure)
    }
}

/// Whether a fallback answers for an error: it counts as bad, or an inner call was blocked.
pub(crate) fn is_failure(error: &PyErr, outcome: Outcome, py: Python<'_>) -> bool {
    outcome == Outcome::Bad || (outcome != Outcome::Cancelled && is_rejection(error, py))
}

/// An error that was raised where another was dealt with, as Python's `except` would leave it.
pub(crate) fn in_context(raised: PyErr, of: &PyErr, py: Python<'_>) -> PyErr {
    // One that leads to itself is followed for ever: by `contextlib.ExitStack`, for example.
    let mut next = Some(of.clone_ref(py));
    for _ in 0..MAX_STEPS {
        match next {
            Some(error) if error.value(py).is(raised.value(py)) => return raised,
            Some(error) => next = error.context(py),
            None => break,
        }
    }
    if next.is_none() && raised.context(py).is_none() {
        raised.set_context(py, Some(of.clone_ref(py)));
    }
    raised
}

/// Whether an error is this library's own rejection, was raised from one, or is a group of such.
fn is_rejection(error: &PyErr, py: Python<'_>) -> bool {
    Search { errors: 10_000, groups: MAX_STEPS }.finds_rejection(error, py)
}

/// A chain of errors may be a ring, and groups may nest, and meet again: more than this nobody means.
const MAX_STEPS: usize = 100;

/// A search for rejections: how many errors more it may look at, and how many groups deep.
struct Search {
    errors: usize,
    groups: usize,
}

impl Search {
    fn finds_rejection(&mut self, error: &PyErr, py: Python<'_>) -> bool {
        let mut next = Some(error.clone_ref(py));
        for _ in 0..MAX_STEPS {
            let Some(error) = next else { return false };
            if self.errors == 0 {
                return false;
            }
            self.errors -= 1;
            if error.is_instance_of::<CircuitOpenError>(py) || self.finds_nothing_else(&error, py) {
                return true;
            }
            next = error.cause(py);
        }
        false
    }

    /// Whether an error is a group of nothing but rejections.
    fn finds_nothing_else(&mut self, error: &PyErr, py: Python<'_>) -> bool {
        let Some(group) = group(py) else { return false };
        if self.groups == 0 || !python::is_instance(error.value(py), group).unwrap_or(false) {
            return false;
        }
        let members = python::attribute(error.value(py), "exceptions");
        let Ok(members) = members.and_then(|members| Ok(members.cast_into::<PyTuple>()?)) else {
            return false;
        };
        self.groups -= 1;
        let all = members.iter().all(|member| self.finds_rejection(&PyErr::from_value(member), py));
        self.groups += 1;
        all
    }
}

/// `ExceptionGroup`, which Python has since 3.11.
pub(crate) fn group(py: Python<'_>) -> Option<&Bound<'_, PyAny>> {
    static GROUP: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let look_up = || Some(Part::new("builtins", "ExceptionGroup").look_up(py).ok()?.clone().unbind());
    GROUP.get_or_init(py, look_up).as_ref().map(|group| group.bind(py))
}
