//! Numbers and times: the language's own, judged by the library.

use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDelta, PyFloat, PyInt};

use crate::python::{self, Part};

pub(crate) static INDEX: Part = Part::new("operator", "index");

/// A value as part of a message: its `repr`, or what is known of it where that fails.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    const MAX_CHARS: usize = 60;
    let text = match python::repr(value) {
        Ok(text) => text,
        // An int of thousands of digits refuses to be printed.
        Err(_) => format!(
            "this {}",
            value.get_type().name().map_or_else(|_| "value".into(), |name| name.to_string())
        ),
    };
    let count = text.chars().count();
    if count <= MAX_CHARS {
        return text;
    }
    let head: String = text.chars().take(MAX_CHARS).collect();
    format!("{head}… ({count} characters)")
}

/// A real number; `bool` is none.
pub(crate) fn real(value: &Bound<'_, PyAny>) -> Option<f64> {
    if value.is_instance_of::<PyBool>() { None } else { python::float(value).ok() }
}

/// A whole number; `bool` is none, 10.0 is one.
pub(crate) fn whole(value: &Bound<'_, PyAny>) -> Option<u64> {
    if value.is_instance_of::<PyBool>() {
        return None;
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        let float = float.value();
        // 2^53: beyond it, not every whole number is a float.
        return (float.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&float))
            .then_some(float as u64);
    }
    if value.is_instance_of::<PyInt>() {
        return value.extract().ok();
    }
    python::call1(INDEX.get(value.py()).ok()?, value).ok()?.extract().ok()
}

/// A time: seconds, or a `timedelta`; not negative.
pub(crate) fn time(value: &Bound<'_, PyAny>) -> Option<Duration> {
    if value.is_instance_of::<PyDelta>() {
        return value.extract().ok();
    }
    seconds(real(value)?)
}

/// 1.001 s is 1001 ms, though the nearest binary64 number falls short of it.
fn seconds(seconds: f64) -> Option<Duration> {
    let millis = seconds * 1000.0;
    let nearest = millis.round();
    if (0.0..9e15).contains(&nearest) && (millis - nearest).abs() <= nearest * f64::EPSILON {
        return Some(Duration::from_millis(nearest as u64));
    }
    Duration::try_from_secs_f64(seconds).ok()
}

/// A whole number of at least 1, for an argument.
pub(crate) fn count_argument(value: &Bound<'_, PyAny>, what: &str) -> PyResult<usize> {
    let count = whole(value).and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0);
    count.ok_or_else(|| {
        let shown = shown(value);
        PyValueError::new_err(format!(
            "{what}: {shown} is not allowed; it must be a whole number of at least 1"
        ))
    })
}

/// As [`time`], for an argument.
pub(crate) fn time_argument(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Duration> {
    time(value).ok_or_else(|| {
        let shown = shown(value);
        PyValueError::new_err(format!(
            "{what}: {shown} is not allowed; it must be a number of seconds of at least 0, or a timedelta"
        ))
    })
}
