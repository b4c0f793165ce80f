//! The virtual clock.

use std::time::Duration;

use pyo3::exceptions::PyValueError;
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
        self.0.set(representable(time_argument(time, "time")?, "time")?);
        Ok(())
    }

    /// Move the time forward.
    fn advance(&self, by: &Bound<'_, PyAny>) -> PyResult<()> {
        let by = time_argument(by, "by")?;
        representable(self.0.time().saturating_add(by), "by")?;
        self.0.advance(by);
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

/// A clock counts nanoseconds in 64 bits.
fn representable(time: Duration, what: &str) -> PyResult<Duration> {
    const MAX: Duration = Duration::from_nanos(u64::MAX);
    if time <= MAX {
        return Ok(time);
    }
    Err(PyValueError::new_err(format!("{what}: the clock goes to {} seconds", MAX.as_secs())))
}
