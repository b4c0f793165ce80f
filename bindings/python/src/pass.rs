//! Leave for the calls of guarded coroutine functions, which is made once for many of them.
//!
//! Making an object for each call would cost more than all the rest. A healthy breaker gives every call the
//! same leave until something changes, and a shell, unlike a user, ends each of its calls exactly once.
//!
//! A shell (`tripcoil/_shells.py`) uses operators, since to call a method costs more than what is done here:
//! `entry = +last` begins a call, where `last` is the pass that the shell was given last, and `entry[result]` ends
//! it and is the result.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::PyDict;
use tripcoil::{Outcome, OwnedEntry, RawEntry, Resource};

use crate::errors;
use crate::guard::Guard;
use crate::judge;
use crate::trace;

/// What a shell begins its calls with, and ends them.
#[pyclass(frozen, module = "tripcoil._native")]
pub(crate) struct Pass {
    guard: Py<Guard>,
    resource: Resource,
    /// The shell's global names. Of these, `_tripcoil_pass` is the last pass for many calls.
    names: Py<PyDict>,
    leave: Leave,
    /// The marks of `trace` when the call began.
    since: u64,
}

/// For which calls a pass is.
enum Leave {
    /// For none: the first one of a shell.
    None,
    /// For all that begin while nothing changes, where calls are timed, at the same time. One that the shell lost
    /// would be a call of which nothing is heard again.
    All(RawEntry),
    One(OwnedEntry),
}

impl Pass {
    fn end(&self, outcome: Outcome) {
        match &self.leave {
            Leave::None => {}
            Leave::All(entry) => self.resource.end_raw(entry, outcome, None),
            Leave::One(entry) => {
                let _ = entry.end(outcome);
            }
        }
    }

    /// The pass of a call for which this one is not. `entry` is the leave of a healthy breaker.
    #[cold]
    #[inline(never)]
    fn next<'py>(&self, py: Python<'py>, entry: Option<RawEntry>) -> PyResult<Bound<'py, Self>> {
        match entry {
            Some(entry) => {
                let pass = self.with(py, Leave::All(entry))?;
                self.names.bind(py).set_item(intern!(py, "_tripcoil_pass"), &pass)?;
                Ok(pass)
            }
            None => match self.resource.enter_owned() {
                Ok(entry) => self.with(py, Leave::One(entry)),
                Err(blocked) => Err(errors::blocked(py, blocked)),
            },
        }
    }

    fn with<'py>(&self, py: Python<'py>, leave: Leave) -> PyResult<Bound<'py, Self>> {
        let (guard, names) = (self.guard.clone_ref(py), self.names.clone_ref(py));
        Bound::new(py, Self { guard, resource: self.resource.clone(), names, leave, since: trace::marks() })
    }
}

#[pymethods]
impl Pass {
    /// The first one of a shell, whose guard has one resource.
    #[new]
    fn new(guard: Py<Guard>, names: Py<PyDict>) -> PyResult<Self> {
        match guard.get().fixed().cloned() {
            Some(resource) => Ok(Self { guard, resource, names, leave: Leave::None, since: 0 }),
            None => Err(PyValueError::new_err("each call of this guard has a resource of its own")),
        }
    }

    /// Begins a call, and gives its pass.
    fn __pos__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let me = slf.get();
        match (&me.leave, me.resource.enter_closed_raw()) {
            (Leave::All(last), Some(entry)) if *last == entry && me.since == trace::marks() => Ok(slf),
            (_, entry) => me.next(slf.py(), entry),
        }
    }

    /// Ends a call that returned, as `Entry.returned`. Where the guard asks nobody, an error is for `raised`.
    fn __getitem__<'py>(&self, result: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let judge = &self.guard.get().judge;
        if judge.is_good(self.since) {
            self.end(Outcome::Good);
            return Ok(result);
        }
        match judge.result(&result, self.since) {
            Ok(outcome) => {
                self.end(outcome);
                Ok(result)
            }
            Err(error) => {
                if judge.asks() {
                    self.end(Outcome::Bad);
                }
                Err(error)
            }
        }
    }

    /// As `Entry.raised`.
    fn raised(&self, error: Bound<'_, PyAny>) -> PyResult<bool> {
        let py = error.py();
        let error = PyErr::from_value(error);
        let judge = &self.guard.get().judge;
        judge.forget_marks(py, self.since);
        let (outcome, raised) = judge.error(&error, py);
        self.end(outcome);
        raised.map_or_else(|| Ok(judge::is_failure(&error, outcome, py)), Err)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.guard)?;
        visit.call(&self.names)
    }
}
