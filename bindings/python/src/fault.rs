//! What is wrong with rules, and what a load did.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tripcoil::{Document, Scope};

/// What a fault and a warning have in common, with what only one of them has.
macro_rules! located {
    ($class:ident, $($own:tt)*) => {
        #[pymethods]
        impl $class {
            /// The rule's position in its list, from 0. None for the whole document, and for a rule that was not part of a list.
            #[getter]
            fn index(&self) -> Option<usize> {
                self.0.index
            }

            /// The rule's resource, where it has a valid one.
            #[getter]
            fn resource(&self) -> Option<&str> {
                self.0.resource.as_deref()
            }

            /// The field, as the document spells it, or the option. None for the whole rule or document.
            #[getter]
            fn field(&self) -> Option<&str> {
                self.0.field.as_deref()
            }

            /// What stands there, shortened. None where something is missing.
            #[getter]
            fn value(&self) -> Option<&str> {
                self.0.value.as_deref()
            }

            /// The line in the document, from 1. None for rules that are no text.
            #[getter]
            fn line(&self) -> Option<usize> {
                self.0.line
            }

            fn __str__(&self) -> String {
                self.0.to_string()
            }

            fn __repr__(&self) -> String {
                format!(concat!("<", stringify!($class), " {}>"), self.0)
            }

            $($own)*
        }
    };
}

/// One thing that is wrong with a rule document, or with a rule's options.
///
/// `str()` of it is one line that names the place, the value, and what is allowed there.
#[pyclass(frozen, module = "tripcoil", eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct Fault(pub(crate) tripcoil::Fault);

/// A fault to fill in: one of the library's, as its type cannot be made elsewhere.
pub(crate) fn blank() -> tripcoil::Fault {
    let faults = Document::parse(b"", Scope::Ordinary).faults;
    faults.into_iter().next().expect("an empty text is no document")
}

located! {
    Fault,
    #[new]
    #[pyo3(signature = (index, resource, field, value, allowed, line))]
    fn new(
        index: Option<usize>,
        resource: Option<String>,
        field: Option<String>,
        value: Option<String>,
        allowed: String,
        line: Option<usize>,
    ) -> Self {
        let mut fault = blank();
        (fault.index, fault.resource, fault.field) = (index, resource, field);
        (fault.value, fault.allowed, fault.line) = (value, allowed, line);
        Self(fault)
    }

    /// What is allowed there, to be read after "it must be".
    #[getter]
    fn allowed(&self) -> &str {
        &self.0.allowed
    }

    fn __hash__(&self) -> u64 {
        hash(&self.0.to_string())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let fault = &slf.get().0;
        let parts = (
            fault.index,
            fault.resource.as_deref(),
            fault.field.as_deref(),
            fault.value.as_deref(),
            fault.allowed.as_str(),
            fault.line,
        );
        (slf.get_type(), parts).into_pyobject(slf.py())
    }
}

/// Something in a document that is allowed, but does nothing. `str()` of it is one line.
#[pyclass(frozen, module = "tripcoil", eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct RuleWarning(tripcoil::Warning);

located! {
    RuleWarning,
    /// What becomes of it, and why.
    #[getter]
    fn note(&self) -> &str {
        &self.0.note
    }
}

/// What a load did.
#[pyclass(frozen, module = "tripcoil")]
pub(crate) struct Report(pub(crate) tripcoil::Report);

#[pymethods]
impl Report {
    /// How many rules were taken; the same rule twice counts once.
    #[getter]
    fn rules(&self) -> usize {
        self.0.rules
    }

    /// What was wrong with the rules that were not taken; empty after a strict load.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.faults.iter().cloned().map(Fault))
    }

    /// What was ignored, for example unknown fields.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.warnings.iter().cloned().map(RuleWarning))
    }

    fn __repr__(&self) -> String {
        let tripcoil::Report { rules, faults, warnings, .. } = &self.0;
        format!("<Report: {rules} rules, {} faults, {} warnings>", faults.len(), warnings.len())
    }
}

pub(crate) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
