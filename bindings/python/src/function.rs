//! A guarded plain function: one object that is called, so that a call costs one crossing.

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::convert;
use crate::guard::Guard;
use crate::python::{self, Part};

pub(crate) static METHOD: Part = Part::new("types", "MethodType");

/// A function whose calls are guarded. It binds as a method as the function does, and has its attributes.
#[pyclass(frozen, dict, weakref, module = "tripcoil._native")]
pub(crate) struct Function {
    guard: Py<Guard>,
    function: Py<PyAny>,
    /// Whether the function becomes a method in a class: built-in ones, for example, do not.
    binds: bool,
}

#[pymethods]
impl Function {
    #[new]
    fn new(guard: Py<Guard>, function: &Bound<'_, PyAny>) -> Self {
        let binds = python::attribute(&function.get_type(), "__get__").is_ok();
        Self { guard, function: function.clone().unbind(), binds }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Guard::call_plain(self.guard.bind(py), self.function.bind(py), (args, kwargs))
    }

    fn __get__<'py>(
        slf: Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = owner;
        if instance.is_none() || !slf.get().binds {
            return Ok(slf.into_any());
        }
        let py = slf.py();
        python::call(METHOD.get(py)?, &PyTuple::new(py, [slf.as_any(), instance])?, None)
    }

    /// What the function has and this object has not: `__code__`, `__defaults__`, `cache_clear` …
    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        python::attribute_named(slf.get().function.bind(slf.py()), name).map_err(|error| {
            if error.is_instance_of::<PyAttributeError>(slf.py()) {
                PyAttributeError::new_err(format!("guarded function has no attribute {name}"))
            } else {
                error
            }
        })
    }

    #[getter]
    fn __wrapped__<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.function.bind(py)
    }

    /// The guard, for its resource.
    #[getter]
    fn breaker<'py>(&self, py: Python<'py>) -> &Bound<'py, Guard> {
        self.guard.bind(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<guarded {}>", python::repr(self.function.bind(py))?))
    }

    /// By its qualified name, as a function.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        python::attribute(slf, "__qualname__").map_err(|_| {
            let shown = convert::shown(slf.as_any());
            PyTypeError::new_err(format!("{shown} cannot be pickled: it has no name to be imported by"))
        })
    }

    /// Itself, as a function.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Itself, as a function.
    fn __deepcopy__(slf: Py<Self>, memo: &Bound<'_, PyAny>) -> Py<Self> {
        let _ = memo;
        slf
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.guard)?;
        visit.call(&self.function)
    }
}
