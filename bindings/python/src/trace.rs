//! Marks of `tripcoil.trace`: a call that returns normally, and failed all the same.
//!
//! A call does not say that it has begun, which would cost every call. It remembers how many marks had
//! been made, and only if there are more when it ends, on whatever thread, it looks for its own in the
//! context (`tripcoil/_trace.py`): one that was made later than the call began is the innermost call's,
//! and that is the one that ends first.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::python::{self, Part};

pub(crate) static TAKE: Part = Part::new("tripcoil._trace", "take");

static MARKS: AtomicU64 = AtomicU64::new(0);

/// How many marks have been made. A context is used by one thread at a time, so a call's own marks are
/// seen without an ordering; others do not matter.
#[inline]
pub(crate) fn marks() -> u64 {
    MARKS.load(Ordering::Relaxed)
}

/// The number of a new mark, from 1.
#[pyfunction]
pub(crate) fn next_mark() -> u64 {
    MARKS.fetch_add(1, Ordering::Relaxed) + 1
}

/// The first error of the context that was marked after `since`, and not taken by an inner call.
#[cold]
pub(crate) fn take(py: Python<'_>, since: u64) -> PyResult<Option<PyErr>> {
    let error = python::call1(TAKE.get(py)?, &PyInt::new(py, since))?;
    Ok((!error.is_none()).then(|| PyErr::from_value(error)))
}
