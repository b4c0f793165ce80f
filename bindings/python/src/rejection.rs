//! Why a call was not made.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tripcoil::{Blocked, Mode, State};

use crate::enums;
use crate::python::Part;
use crate::rule::Rule;

/// Why a call was not made: what `CircuitOpenError` carries.
///
/// Made by the library; nothing is looked up or formatted before it is asked for. Make one yourself to
/// raise a `CircuitOpenError` in a test.
#[pyclass(frozen, module = "tripcoil")]
pub(crate) struct Rejection(Kind);

enum Kind {
    Blocked(Blocked),
    // Boxed, as the other one is made with every blocked call.
    Copy(Box<Copy>),
}

struct Copy {
    resource: String,
    rule: Option<tripcoil::Rule>,
    state: State,
    mode: Mode,
    retry_after: Option<f64>,
    explanation: String,
}

impl From<Blocked> for Rejection {
    fn from(blocked: Blocked) -> Self {
        Self(Kind::Blocked(blocked))
    }
}

#[pymethods]
impl Rejection {
    #[new]
    #[pyo3(signature = (resource, *, rule=None, state=None, mode=None, retry_after=None, explanation=None))]
    fn new(
        resource: String,
        rule: Option<&Bound<'_, Rule>>,
        state: Option<&Bound<'_, PyAny>>,
        mode: Option<&Bound<'_, PyAny>>,
        retry_after: Option<f64>,
        explanation: Option<String>,
    ) -> PyResult<Self> {
        let explanation =
            explanation.unwrap_or_else(|| format!("call blocked: the breaker of {resource:?} is open"));
        Ok(Self(Kind::Copy(Box::new(Copy {
            resource,
            rule: rule.map(|rule| rule.get().0.clone()),
            state: state.map_or(Ok(State::Open), |state| enums::argument(state, "state"))?,
            mode: mode.map_or(Ok(Mode::Normal), |mode| enums::argument(mode, "mode"))?,
            retry_after,
            explanation,
        }))))
    }

    /// The resource's name.
    #[getter]
    fn resource(&self) -> &str {
        match &self.0 {
            Kind::Blocked(blocked) => blocked.resource(),
            Kind::Copy(copy) => &copy.resource,
        }
    }

    /// The rule whose breaker rejected the call. None for the legacy check, and where it has been replaced since.
    #[getter]
    fn rule(&self) -> Option<Rule> {
        match &self.0 {
            Kind::Blocked(blocked) => blocked.rule().map(|rule| Rule::clone_of(&rule)),
            Kind::Copy(copy) => copy.rule.clone().map(Rule),
        }
    }

    /// The state that rejected the call.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = match &self.0 {
            Kind::Blocked(blocked) => blocked.state(),
            Kind::Copy(copy) => copy.state,
        };
        enums::member(py, state)
    }

    /// The mode that rejected the call.
    #[getter]
    fn mode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mode = match &self.0 {
            Kind::Blocked(blocked) => blocked.mode(),
            Kind::Copy(copy) => copy.mode,
        };
        enums::member(py, mode)
    }

    /// Seconds until the next probe may go. None without a limit.
    #[getter]
    fn retry_after(&self) -> Option<f64> {
        match &self.0 {
            Kind::Blocked(blocked) => blocked.retry_after().map(|time| time.as_secs_f64()),
            Kind::Copy(copy) => copy.retry_after,
        }
    }

    /// All of it in one sentence.
    #[getter]
    fn explanation(&self) -> String {
        match &self.0 {
            Kind::Blocked(blocked) => blocked.to_string(),
            Kind::Copy(copy) => copy.explanation.clone(),
        }
    }

    fn __str__(&self) -> String {
        self.explanation()
    }

    fn __repr__(&self) -> String {
        format!("<Rejection {}>", self.explanation())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, me) = (slf.py(), slf.get());
        static COPY: Part = Part::new("tripcoil._errors", "_rejection");
        let copy = COPY.get(py)?;
        let rule = me.rule().map(|rule| Bound::new(py, rule)).transpose()?;
        let parts = (me.resource(), rule, me.state(py)?, me.mode(py)?, me.retry_after(), me.explanation());
        (copy, parts).into_pyobject(py)
    }
}
