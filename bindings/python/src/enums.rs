//! The library's enums as the members of the package's, both ways.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use tripcoil::{Cause, Mode, Outcome, Release, State, Strategy};

use crate::python::{self, Part};

/// A library's enum that has a twin in the package: a `str` with these values.
pub(crate) trait Twin: Copy + 'static {
    /// All members with their values.
    const MEMBERS: &'static [(Self, &'static str)];
    /// The twin.
    fn class() -> &'static Part;
    fn is(self, other: Self) -> bool;
}

macro_rules! twin {
    ($rust:ident, $name:literal, $($member:ident = $value:literal),+) => {
        impl Twin for $rust {
            const MEMBERS: &'static [(Self, &'static str)] = &[$(($rust::$member, $value)),+];

            fn class() -> &'static Part {
                static CLASS: Part = Part::new("tripcoil._enums", $name);
                &CLASS
            }

            fn is(self, other: Self) -> bool {
                self == other
            }
        }
    };
}

twin!(State, "State", Closed = "closed", Open = "open", HalfOpen = "half-open");
twin!(Outcome, "Outcome", Good = "good", Bad = "bad", Ignored = "ignored", Cancelled = "cancelled");
twin!(
    Mode,
    "Mode",
    Normal = "normal",
    ForcedOpen = "forced-open",
    Disabled = "disabled",
    ObserveOnly = "observe-only"
);
twin!(
    Strategy,
    "Strategy",
    SlowRatio = "slow_ratio",
    ErrorRatio = "error_ratio",
    ErrorCount = "error_count",
    ConsecutiveErrors = "consecutive_errors"
);
twin!(
    Cause,
    "Cause",
    Condition = "condition",
    ProbeFailed = "probe-failed",
    ProbeGivenBack = "probe-given-back"
);
twin!(Release, "Release", V1_6 = "1.6", V1_7 = "1.7");

/// The package's member for a value.
pub(crate) fn member<T: Twin>(py: Python<'_>, value: T) -> PyResult<Bound<'_, PyAny>> {
    let named = T::MEMBERS.iter().find(|(member, _)| member.is(value));
    let name = PyString::intern(py, named.map_or("unknown", |(_, name)| name));
    python::call1(T::class().get(py)?, &name)
}

/// The value that a member, or its text, stands for.
pub(crate) fn value<T: Twin>(given: &Bound<'_, PyAny>) -> Option<T> {
    let text = given.extract::<std::borrow::Cow<'_, str>>().ok()?;
    T::MEMBERS.iter().find(|(_, name)| *name == text).map(|(member, _)| *member)
}

/// As [`value`], for an argument: an error that lists what is allowed.
pub(crate) fn argument<T: Twin>(given: &Bound<'_, PyAny>, what: &str) -> PyResult<T> {
    value(given).ok_or_else(|| {
        let shown = crate::convert::shown(given);
        PyValueError::new_err(format!("{what}: {shown} is not allowed; it must be {}", allowed::<T>()))
    })
}

/// The package's classes, for the package to have them looked up.
pub(crate) fn parts() -> [&'static Part; 6] {
    [State::class(), Outcome::class(), Mode::class(), Strategy::class(), Cause::class(), Release::class()]
}

/// The values of a twin, for messages.
pub(crate) fn allowed<T: Twin>() -> String {
    let values: Vec<String> = T::MEMBERS.iter().map(|(_, name)| format!("\"{name}\"")).collect();
    format!("one of {}", values.join(", "))
}
