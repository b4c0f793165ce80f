//! The virtual clock.

use pyo3::prelude::*;

use crate::convert::time_argument;

/// A clock that stands still until it is told otherwise: for tests.
///
/// Give it to a `Registry`. Times are seconds since the clock's origin, or a `timedelta`. It may be used
/// from any thread.
#[pyclass(frozen, module = "tripcoil")]
pub(crate) struct VirtualClock(pub(crate) tripcoil::VirtualClock);

#[pymethods]
impl VirtualClock {
    #[new]
    fn new() -> Self {
        Self(tripcoil::VirtualClock::new())
    }

    /// Set the time, forward or back.
    fn set(&self, time: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.set(time_argument(time, "time")?);
        Ok(())
    }

    /// Move the time forward.
    fn advance(&self, by: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.advance(time_argument(by, "by")?);
        Ok(())
    }

    /// The time in seconds.
    #[getter]
    fn time(&self) -> f64 {
        self.0.time().as_secs_f64()
    }

    fn __repr__(&self) -> String {
        format!("<VirtualClock at {} s>", self.0.time().as_secs_f64())
    }
}
