//! A guarded plain function: one object that is called, so that a call costs one crossing.

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::guard::Guard;
use crate::python::{self, Part};

pub(crate) static METHOD: Part = Part::new("types", "MethodType");

/// A function whose calls are guarded. It binds as a method as the function does, and has its attributes.
#[pyclass(frozen, dict, weakref, module = "tripcoil._native")]
pub(crate) struct Function {
    guard: Py<Guard>,
    function: Py<PyAny>,
}

#[pymethods]
impl Function {
    #[new]
    fn new(guard: Py<Guard>, function: Py<PyAny>) -> Self {
        Self { guard, function }
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
        if instance.is_none() {
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
        python::attribute(slf, "__qualname__")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.guard)?;
        visit.call(&self.function)
    }
}
