//! Resources and their breakers.

use pyo3::prelude::*;

use crate::change::Trip;
use crate::entry::Entry;
use crate::rule::Rule;
use crate::{enums, errors};

/// A named thing to protect. Made by `Registry.resource`; stays valid over reloads.
#[pyclass(frozen, module = "tripcoil")]
pub(crate) struct Resource(pub(crate) tripcoil::Resource);

#[pymethods]
impl Resource {
    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Ask for leave to make a call, and begin it. Raises `CircuitOpenError` where a breaker rejects: the call must not be made.
    fn enter(&self, py: Python<'_>) -> PyResult<Entry> {
        match self.0.enter_owned() {
            Ok(entry) => Ok(Entry::new(entry, None)),
            Err(blocked) => Err(errors::blocked(py, blocked)),
        }
    }

    /// The breakers that guard the resource, in the order in which they are asked.
    #[getter]
    fn breakers(&self) -> Vec<Breaker> {
        self.0.breakers().into_iter().map(Breaker).collect()
    }

    /// Set the mode of every breaker that the resource has now, which closes it and clears its window. Returns how many there were.
    fn set_mode(&self, mode: &Bound<'_, PyAny>) -> PyResult<usize> {
        Ok(self.0.set_mode(enums::argument(mode, "mode")?))
    }

    /// Close every breaker that the resource has now, within its mode, and clear its window. Returns how many there were.
    fn reset(&self) -> usize {
        self.0.reset()
    }

    /// Whether calls pass unguarded because a bounded registry had no place for the name.
    #[getter]
    fn is_unguarded(&self) -> bool {
        self.0.is_unguarded()
    }

    /// What the legacy check counts now, where it is in use.
    #[getter]
    fn legacy_statistics(&self) -> Option<LegacyStatistics> {
        let statistics = self.0.legacy_statistics()?;
        Some(LegacyStatistics {
            passed: statistics.pass,
            blocked: statistics.block,
            success: statistics.success,
            exception: statistics.exception,
            response_time: statistics.rt as f64 / 1000.0,
        })
    }

    fn __repr__(&self) -> String {
        format!("<Resource {:?}>", self.name())
    }
}

/// One rule's breaker on one resource.
///
/// A breaker whose rule has been removed since reads as one that has never been used, and cannot be
/// controlled.
#[pyclass(frozen, module = "tripcoil")]
pub(crate) struct Breaker(tripcoil::Breaker);

#[pymethods]
impl Breaker {
    /// The rule as it was when the breaker was asked for.
    #[getter]
    fn rule(&self) -> Rule {
        Rule::clone_of(self.0.rule())
    }

    /// The resource's name.
    #[getter]
    fn resource(&self) -> &str {
        self.0.resource()
    }

    /// Whether a reload has removed the breaker's rule.
    #[getter]
    fn is_removed(&self) -> bool {
        self.0.is_removed()
    }

    /// The state. A breaker whose retry deadline has passed reads open until a call comes.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enums::member(py, self.0.state())
    }

    /// The mode.
    #[getter]
    fn mode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enums::member(py, self.0.mode())
    }

    /// State, counts, deadlines and totals at one time. Reading changes nothing.
    fn snapshot(&self) -> Snapshot {
        Snapshot(self.0.snapshot())
    }

    /// Why the breaker last opened. None where it never has.
    #[getter]
    fn last_trip(&self) -> Option<Trip> {
        self.0.last_trip().map(Trip)
    }

    /// Set the mode, which closes the breaker and clears its window, and announces it. Returns whether the breaker was still in use.
    fn set_mode(&self, mode: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.0.set_mode(enums::argument(mode, "mode")?))
    }

    /// Close the breaker and clear its window within its mode, and announce it. Returns whether the breaker was still in use.
    fn reset(&self) -> bool {
        self.0.reset()
    }

    fn __repr__(&self) -> String {
        format!("<Breaker of {:?}: {:?}>", self.resource(), self.0.state())
    }
}

/// A breaker at one time. While calls run, parts of it may be a call apart; at rest it is exact.
#[pyclass(frozen, module = "tripcoil", eq)]
#[derive(PartialEq)]
pub(crate) struct Snapshot(tripcoil::Snapshot);

#[pymethods]
impl Snapshot {
    /// The state.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enums::member(py, self.0.state)
    }

    /// The mode.
    #[getter]
    fn mode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enums::member(py, self.0.mode)
    }

    /// Grows with every change of state or mode, and every forfeited probe round.
    #[getter]
    fn generation(&self) -> u64 {
        self.0.generation
    }

    /// Calls in the window that were not bad.
    #[getter]
    fn good(&self) -> u64 {
        self.0.good
    }

    /// Calls in the window that were bad.
    #[getter]
    fn bad(&self) -> u64 {
        self.0.bad
    }

    /// Failed calls since the last good one, for closed breakers of consecutive-errors rules; otherwise 0.
    #[getter]
    fn run(&self) -> u64 {
        self.0.run
    }

    /// Seconds until the next probe may go. None where none is waited for, and without a limit.
    #[getter]
    fn retry_after(&self) -> Option<f64> {
        self.0.retry_after.map(|time| time.as_secs_f64())
    }

    /// What the breaker has seen since its rule was loaded.
    #[getter]
    fn totals(&self) -> Totals {
        let totals = self.0.totals;
        Totals {
            passed: totals.passed,
            blocked: totals.blocked,
            good: totals.good,
            bad: totals.bad,
            ignored: totals.ignored,
            cancelled: totals.cancelled,
            late: totals.late,
            observed: totals.observed,
        }
    }

    fn __repr__(&self) -> String {
        let tripcoil::Snapshot { state, mode, good, bad, .. } = self.0;
        format!("<Snapshot: {state:?}, {mode:?}, {good} good, {bad} bad>")
    }
}

/// What a breaker has seen since its rule was loaded.
#[pyclass(frozen, module = "tripcoil", get_all, eq)]
#[derive(PartialEq)]
pub(crate) struct Totals {
    /// Calls that were admitted and have ended.
    passed: u64,
    /// Calls rejected.
    blocked: u64,
    /// Outcomes that counted as good.
    good: u64,
    /// Outcomes that counted as bad.
    bad: u64,
    /// Outcomes ignored.
    ignored: u64,
    /// Calls given up.
    cancelled: u64,
    /// Outcomes that came after the breaker had moved on.
    late: u64,
    /// Calls that an observing breaker would have rejected.
    observed: u64,
}

#[pymethods]
impl Totals {
    fn __repr__(&self) -> String {
        format!(
            "<Totals: {} passed, {} blocked, {} good, {} bad, {} ignored, {} cancelled, {} late, {} observed>",
            self.passed,
            self.blocked,
            self.good,
            self.bad,
            self.ignored,
            self.cancelled,
            self.late,
            self.observed
        )
    }
}

/// What the check of Sentinel before 1.8 counts: the last second.
#[pyclass(frozen, module = "tripcoil", get_all, eq)]
#[derive(PartialEq)]
pub(crate) struct LegacyStatistics {
    /// Calls admitted.
    passed: u64,
    /// Calls rejected.
    blocked: u64,
    /// Calls that ended, with an error or without.
    success: u64,
    /// Calls that ended with an error.
    exception: u64,
    /// Seconds that the calls which ended took together, each counted with 4.9 at most.
    response_time: f64,
}
