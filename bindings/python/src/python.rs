//! The one door from here into Python: whatever may run code of Python's goes through it.
//!
//! Before Python 3.14, a daemon thread that wants the interpreter back after its end is ended by unwinding
//! its stack, wherever it is. Frames of Rust do not let that through: the process would abort. A thread that
//! is on its way out through this door is stopped instead, for ever, and the process ends without it; it is
//! what Python does since 3.14.
//!
//! The compiler believes that no C function unwinds, and leaves clean-up around a call of one out, so the
//! door is in two parts: a leaf that calls the C function and has nothing to clean up, and a frame around it
//! that has. They are kept apart by a pointer that the compiler cannot see through.
//!
//! What may run Python's code elsewhere, and cannot be kept from it: the collector of Python before 3.12,
//! which runs when an object is made; and finalizers, where an object of this module's is the last to hold
//! what has one.

use std::hint::black_box;
use std::mem;
use std::thread;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

/// Calls a function.
#[inline]
pub(crate) fn call<'py>(
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    out(|(function, args, kwargs)| Bound::call(function, args, kwargs), (function, args, kwargs))
}

/// Calls a function with one argument.
pub(crate) fn call1<'py>(
    function: &Bound<'py, PyAny>,
    argument: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    call(function, &PyTuple::new(function.py(), [argument])?, None)
}

/// Whether a value is true.
pub(crate) fn is_true(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    out(|value| value.is_truthy(), value)
}

/// Whether a value is an instance of a class, or of one of a tuple of them.
pub(crate) fn is_instance(value: &Bound<'_, PyAny>, classes: &Bound<'_, PyAny>) -> PyResult<bool> {
    out(|(value, classes)| Bound::is_instance(value, classes), (value, classes))
}

/// An attribute.
pub(crate) fn attribute<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    attribute_named(value, &PyString::intern(value.py(), name))
}

/// As [`attribute`], with a name that is a string already.
pub(crate) fn attribute_named<'py>(
    value: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    out(|(value, name)| Bound::getattr(value, name), (value, name))
}

/// `repr(value)`.
pub(crate) fn repr(value: &Bound<'_, PyAny>) -> PyResult<String> {
    out(|value| value.repr(), value)?.extract()
}

/// `float(value)`, of a number.
pub(crate) fn float(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    out(|value| value.extract(), value)
}

/// Lets an error go, and whatever its traceback is the last to hold.
pub(crate) fn let_go(error: PyErr, py: Python<'_>) {
    out(drop, error.into_value(py).into_bound(py));
}

/// Reports an error that nobody can be given to `sys.unraisablehook`.
pub(crate) fn report(error: PyErr, of: &Bound<'_, PyAny>) {
    out(|(error, of): (PyErr, &Bound<'_, PyAny>)| error.write_unraisable(of.py(), Some(of)), (error, of));
}

/// Something of a Python module, which is looked up once.
pub(crate) struct Part {
    module: &'static str,
    name: &'static str,
    found: PyOnceLock<Py<PyAny>>,
}

impl Part {
    pub(crate) const fn new(module: &'static str, name: &'static str) -> Self {
        Self { module, name, found: PyOnceLock::new() }
    }

    #[inline]
    pub(crate) fn get<'a, 'py>(&'a self, py: Python<'py>) -> PyResult<&'a Bound<'py, PyAny>> {
        match self.found.get(py) {
            Some(found) => Ok(found.bind(py)),
            None => self.look_up(py),
        }
    }

    /// The package does it for all parts as it is imported: an import at the end of the process is one of
    /// the things that may be stopped.
    #[cold]
    pub(crate) fn look_up<'a, 'py>(&'a self, py: Python<'py>) -> PyResult<&'a Bound<'py, PyAny>> {
        self.found.import(py, self.module, self.name)
    }
}

/// Calls a leaf, from where a thread may not return.
#[inline]
fn out<A, R>(leaf: fn(A) -> R, argument: A) -> R {
    let ending = StopsThread;
    let result = black_box(leaf)(argument);
    mem::forget(ending);
    result
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
