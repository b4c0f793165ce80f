//! What an observer is told, and a trip that explains itself.

use pyo3::prelude::*;

use crate::enums;
use crate::rule::Rule;

/// One change of a breaker's state or mode.
#[pyclass(frozen, module = "tripcoil", eq)]
#[derive(PartialEq)]
pub(crate) struct Change(pub(crate) tripcoil::Change);

#[pymethods]
impl Change {
    /// The resource's own name, also where a regex or default rule guards it.
    #[getter]
    fn resource(&self) -> &str {
        &self.0.resource
    }

    /// The rule, as it was when the change was made.
    #[getter]
    fn rule(&self) -> Rule {
        Rule::clone_of(&self.0.rule)
    }

    /// The breaker's position among its resource's, from 0.
    #[getter]
    fn position(&self) -> usize {
        self.0.position
    }

    /// The state before.
    #[getter(from_state)]
    fn state_before<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enums::member(py, self.0.from)
    }

    /// The state after.
    #[getter(to_state)]
    fn state_after<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enums::member(py, self.0.to)
    }

    /// The mode before.
    #[getter(from_mode)]
    fn mode_before<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enums::member(py, self.0.from_mode)
    }

    /// The mode after: the same, except for manual control.
    #[getter(to_mode)]
    fn mode_after<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enums::member(py, self.0.to_mode)
    }

    /// The value that tripped the breaker, a ratio or a count; 1.0 where it reopened; otherwise None.
    #[getter]
    fn snapshot(&self) -> Option<f64> {
        self.0.snapshot
    }

    /// When, in seconds on the registry's clock.
    #[getter]
    fn at(&self) -> f64 {
        self.0.at.as_secs_f64()
    }

    /// Grows by one with every change that the registry announces, from 1.
    #[getter]
    fn sequence(&self) -> u64 {
        self.0.sequence
    }

    /// The breaker's generation that began with the change.
    #[getter]
    fn generation(&self) -> u64 {
        self.0.generation
    }

    /// Where the breaker opened: why. Otherwise None.
    #[getter]
    fn trip(&self) -> Option<Trip> {
        self.0.trip.clone().map(Trip)
    }

    fn __repr__(&self) -> String {
        let tripcoil::Change { resource, from, to, at, .. } = &self.0;
        format!("<Change of {resource:?}: {from:?} -> {to:?} at {} s>", at.as_secs_f64())
    }
}

/// Why a breaker opened, in one record. `str()` of it is a sentence.
#[pyclass(frozen, module = "tripcoil", eq)]
#[derive(PartialEq)]
pub(crate) struct Trip(pub(crate) tripcoil::Trip);

#[pymethods]
impl Trip {
    /// The resource's own name.
    #[getter]
    fn resource(&self) -> &str {
        &self.0.resource
    }

    /// The rule.
    #[getter]
    fn rule(&self) -> Rule {
        Rule::clone_of(&self.0.rule)
    }

    /// What made it open.
    #[getter]
    fn cause<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enums::member(py, self.0.cause)
    }

    /// The value that was compared with the threshold: a ratio, or a count; 1.0 where it reopened.
    #[getter]
    fn value(&self) -> f64 {
        self.0.value
    }

    /// The threshold as the decision used it.
    #[getter]
    fn threshold(&self) -> f64 {
        self.0.threshold
    }

    /// Calls in the window that were not bad.
    #[getter]
    fn good(&self) -> u64 {
        self.0.good
    }

    /// Calls in the window that were bad; for consecutive errors, the run.
    #[getter]
    fn bad(&self) -> u64 {
        self.0.bad
    }

    /// Length of the window in seconds.
    #[getter]
    fn window(&self) -> f64 {
        self.0.window.as_secs_f64()
    }

    /// The breaker's generation that began.
    #[getter]
    fn generation(&self) -> u64 {
        self.0.generation
    }

    /// When, in seconds on the registry's clock.
    #[getter]
    fn at(&self) -> f64 {
        self.0.at.as_secs_f64()
    }

    /// Until when the breaker is open, in seconds on the registry's clock. None: for ever.
    #[getter]
    fn open_until(&self) -> Option<f64> {
        self.0.open_until.map(|time| time.as_secs_f64())
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Trip {}>", self.0)
    }
}
