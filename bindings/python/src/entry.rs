//! An admitted call.

use std::sync::atomic::AtomicBool;

use pyo3::prelude::*;
use pyo3::types::PyString;
use tripcoil::{Outcome, OwnedEntry};

use crate::guard::Guard;
use crate::judge::{self, Judge};
use crate::{convert, enums, trace};

static PLAIN: Judge =
    Judge { ignore: None, record: None, is_failure: None, unmarked: AtomicBool::new(false) };

/// An admitted call, from `enter()` to its end. It ends once; dropped unfinished, it counts as cancelled.
///
/// As a context manager it ends with the block: by the error that leaves it, or else well. It may be
/// ended on any thread and in any task.
#[pyclass(frozen, module = "tripcoil", freelist = 64)]
pub(crate) struct Entry {
    entry: OwnedEntry,
    /// Whose judge the outcome is told by; none judges as a guard without options.
    guard: Option<Py<Guard>>,
    /// The marks of `trace` when the call began.
    since: u64,
}

impl Entry {
    #[inline]
    pub(crate) fn new(entry: OwnedEntry, guard: Option<Py<Guard>>) -> Self {
        Self { entry, guard, since: trace::marks() }
    }

    /// The entry of a call that had begun when there were `since` marks.
    pub(crate) fn begun(entry: OwnedEntry, guard: &Bound<'_, Guard>, since: u64) -> Self {
        Self { entry, guard: Some(guard.clone().unbind()), since }
    }

    fn judge(&self) -> &Judge {
        self.guard.as_ref().map_or(&PLAIN, |guard| &guard.get().judge)
    }

    /// Forgets the marks of the call. Once it has ended, marks are of those around it.
    fn forget_marks(&self, py: Python<'_>) {
        if !self.entry.has_ended() {
            self.judge().forget_marks(py, self.since);
        }
    }

    fn end(&self, outcome: Outcome) -> bool {
        self.entry.end(outcome).is_ok()
    }

    fn end_raised(&self, py: Python<'_>, error: &PyErr) -> PyResult<Outcome> {
        self.forget_marks(py);
        let (outcome, raised) = self.judge().error(error, py);
        self.end(outcome);
        raised.map_or(Ok(outcome), Err)
    }
}

#[pymethods]
impl Entry {
    /// End the call: well, or by an error, or with an `Outcome`.
    ///
    /// An error is judged as if the guarded function had raised it. `response_time` is what the caller has
    /// measured, in seconds or as a `timedelta`; by default it is the time since `enter()`. Returns whether
    /// this end counts: false if the call had been ended before.
    #[pyo3(signature = (error=None, *, response_time=None))]
    fn exit(
        &self,
        py: Python<'_>,
        error: Option<&Bound<'_, PyAny>>,
        response_time: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let (mut outcome, mut raised) = (Outcome::Good, None);
        match error {
            Some(error) if error.is_instance_of::<PyString>() => {
                outcome = enums::argument(error, "error")?;
                self.forget_marks(py);
            }
            Some(error) if error.is_instance_of::<pyo3::exceptions::PyBaseException>() => {
                self.forget_marks(py);
                (outcome, raised) = self.judge().error(&PyErr::from_value(error.clone()), py);
            }
            Some(error) => {
                let shown = convert::shown(error);
                return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                    "error must be an exception or an Outcome, not {shown}"
                )));
            }
            None if self.entry.has_ended() => {}
            None => {
                if let Some(error) = self.judge().take_mark(py, self.since)? {
                    (outcome, raised) = self.judge().error(&error, py);
                }
            }
        }
        let ended = match response_time {
            None => self.entry.end(outcome),
            Some(time) => self.entry.end_with(outcome, convert::time_argument(time, "response_time")?),
        };
        raised.map_or(Ok(ended.is_ok()), Err)
    }

    /// End the call by what the guarded function returned, which `is_failure` judges; and return it. Asks nobody if the call has been ended.
    fn returned<'py>(&self, result: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if self.entry.has_ended() {
            return Ok(result);
        }
        match self.judge().result(&result, self.since) {
            Ok(outcome) => {
                self.end(outcome);
                Ok(result)
            }
            Err(error) => {
                self.end(Outcome::Bad);
                Err(error)
            }
        }
    }

    /// End the call by what the guarded function raised. Returns whether a fallback answers for it: it counts as bad, or an inner call was blocked.
    fn raised(&self, error: Bound<'_, PyAny>) -> PyResult<bool> {
        let py = error.py();
        let error = PyErr::from_value(error);
        let outcome = self.end_raised(py, &error)?;
        Ok(judge::is_failure(&error, outcome, py))
    }

    /// Whether the call has been ended.
    #[getter]
    fn has_ended(&self) -> bool {
        self.entry.has_ended()
    }

    /// The resource's name.
    #[getter]
    fn resource(&self) -> &str {
        self.entry.resource()
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (kind, error, traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        error: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let _ = (kind, traceback);
        if error.is_none() {
            self.exit(py, None, None)?;
        } else {
            self.end_raised(py, &PyErr::from_value(error.clone()))?;
        }
        Ok(false)
    }

    fn __repr__(&self) -> String {
        let state = if self.has_ended() { "ended" } else { "open" };
        format!("<Entry of {:?}, {state}>", self.resource())
    }
}
