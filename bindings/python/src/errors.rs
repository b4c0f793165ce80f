//! The package's exceptions, which are Python classes, so that they can be pickled and subclassed.

use pyo3::import_exception;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tripcoil::Blocked;

use crate::fault::Fault;
use crate::python;
use crate::rejection::Rejection;

import_exception!(tripcoil._errors, CircuitOpenError);
import_exception!(tripcoil._errors, InvalidNameError);
import_exception!(tripcoil._errors, InvalidRuleError);

/// The error of a blocked call: a new one each time, as an exception collects tracebacks.
pub(crate) fn blocked(py: Python<'_>, blocked: Blocked) -> PyErr {
    let class = py.get_type::<CircuitOpenError>();
    let error =
        (Rejection::from(blocked),).into_pyobject(py).and_then(|args| python::call(&class, &args, None));
    error.map_or_else(|error| error, PyErr::from_value)
}

/// Looks up the classes, for the package.
pub(crate) fn look_up(py: Python<'_>) {
    let _ = (py.get_type::<CircuitOpenError>(), py.get_type::<InvalidNameError>());
    let _ = py.get_type::<InvalidRuleError>();
}

/// The error of rules that are not valid, with every fault.
pub(crate) fn invalid_rules(py: Python<'_>, faults: impl IntoIterator<Item = tripcoil::Fault>) -> PyErr {
    let faults = faults.into_iter().map(Fault).collect::<Vec<_>>();
    match PyTuple::new(py, faults) {
        Ok(faults) => InvalidRuleError::new_err((faults.unbind(),)),
        Err(error) => error,
    }
}

/// The text of a Python string, which may hold lone surrogates and then is no text.
pub(crate) fn text<'a>(text: &'a Bound<'_, PyAny>, what: &str) -> PyResult<std::borrow::Cow<'a, str>> {
    let Ok(text) = text.cast::<pyo3::types::PyString>() else {
        let kind = text.get_type().name()?;
        return Err(pyo3::exceptions::PyTypeError::new_err(format!("{what} must be a str, not {kind}")));
    };
    text.to_cow().map_err(|_| invalid_name(what, text))
}

/// The error of a name that a resource cannot have.
pub(crate) fn invalid_name(what: &str, name: &Bound<'_, PyAny>) -> PyErr {
    let shown = crate::convert::shown(name);
    InvalidNameError::new_err(format!(
        "{what}: {shown} is not allowed; it must be 1 to 1024 bytes of UTF-8, not blank, without NUL"
    ))
}
