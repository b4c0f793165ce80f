//! Leave for the calls of guarded coroutine functions, which is made once for many of them.
//!
//! Making an object for each call would cost more than all the rest. A healthy breaker gives every call the
//! same leave until something changes, and a shell, unlike a user, ends each of its calls exactly once.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use tripcoil::{Outcome, RawEntry, Resource};

use crate::guard::Guard;
use crate::judge;
use crate::trace;

/// What a shell ends its call with. One that it lost would be a call of which nothing is heard again.
#[pyclass(frozen, module = "tripcoil._native")]
pub(crate) struct Pass {
    guard: Py<Guard>,
    resource: Resource,
    entry: RawEntry,
    /// The marks of `trace` when the call began.
    since: u64,
}

impl Pass {
    fn end(&self, outcome: Outcome) {
        self.resource.end_raw(&self.entry, outcome, None);
    }
}

#[pymethods]
impl Pass {
    /// As `Entry.returned`.
    fn returned<'py>(&self, py: Python<'py>, result: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let judged = self.guard.bind(py).get().judge.result(&result, self.since);
        self.end(*judged.as_ref().unwrap_or(&Outcome::Bad));
        judged.map(|_| result)
    }

    /// As `Entry.raised`.
    fn raised(&self, error: Bound<'_, PyAny>) -> PyResult<bool> {
        let py = error.py();
        let error = PyErr::from_value(error);
        let judge = &self.guard.bind(py).get().judge;
        judge.forget_marks(py, self.since);
        let (outcome, raised) = judge.error(&error, py);
        self.end(outcome);
        raised.map_or_else(|| Ok(judge::is_failure(&error, outcome, py)), Err)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.guard)
    }
}

/// The pass that a guard gave last.
#[derive(Default)]
pub(crate) struct LastPass(Mutex<Option<Py<Pass>>>);

impl LastPass {
    /// A pass for an entry of `enter_closed_raw`: the last one, if it is the same. Waits for nobody.
    #[inline]
    pub(crate) fn of<'py>(
        &self,
        guard: &Bound<'py, Guard>,
        resource: &Resource,
        entry: RawEntry,
    ) -> PyResult<Bound<'py, Pass>> {
        let (py, since) = (guard.py(), trace::marks());
        if let Ok(last) = self.0.try_lock()
            && let Some(last) = &*last
        {
            let pass = last.get();
            if pass.entry == entry && pass.since == since {
                return Ok(last.bind(py).clone());
            }
        }
        self.replace(Pass { guard: guard.clone().unbind(), resource: resource.clone(), entry, since }, py)
    }

    #[cold]
    #[inline(never)]
    fn replace<'py>(&self, pass: Pass, py: Python<'py>) -> PyResult<Bound<'py, Pass>> {
        let pass = Bound::new(py, pass)?;
        let before = match self.0.try_lock() {
            Ok(mut last) => last.replace(pass.clone().unbind()),
            Err(_) => None,
        };
        // After the lock: it may be the last reference to anything.
        drop(before);
        Ok(pass)
    }

    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // The collector runs nowhere within the lock.
        self.0.try_lock().map_or(Ok(()), |last| visit.call(&*last))
    }

    pub(crate) fn clear(&self) {
        let before = self.0.try_lock().ok().and_then(|mut last| last.take());
        drop(before);
    }
}
