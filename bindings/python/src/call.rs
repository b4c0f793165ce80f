//! Calls into Python.

use std::mem;
use std::thread;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Calls a Python function.
///
/// Before Python 3.14, a daemon thread that wants to go on when the interpreter has ended is ended by
/// unwinding its stack, which Rust's frames do not let through: the process would abort. Such a thread is
/// stopped here instead, for ever; the process ends without it.
#[inline]
pub(crate) fn python<'py>(
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let unwinding = StopsThread;
    let result = function.call(args, kwargs);
    mem::forget(unwinding);
    result
}

/// As [`python`], with one argument.
pub(crate) fn python1<'py>(
    function: &Bound<'py, PyAny>,
    argument: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    python(function, &PyTuple::new(function.py(), [argument])?, None)
}

struct StopsThread;

impl Drop for StopsThread {
    #[cold]
    fn drop(&mut self) {
        // A panic of the library's is no end of a thread.
        while !thread::panicking() {
            thread::park();
        }
    }
}
