//! Rules, made from the language's own options.

use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBool, PyDict, PyTuple};
use tripcoil::{Document, RuleBuilder, Scope, Strategy};

use crate::fault::{self, hash};
use crate::python::{self, Part};
use crate::{convert, enums, errors};

/// When a resource's breaker opens, and for how long.
///
/// Times are seconds or `timedelta`, in whole milliseconds (`max_allowed_rt` may be finer). `strategy`
/// (a `Strategy` or its value), `threshold` and `retry_timeout` are required, and `max_allowed_rt` for slow
/// ratio. Rules are immutable, and equal when all their fields are.
///
/// Raises `InvalidRuleError` with every option that is missing or out of range.
#[pyclass(frozen, module = "tripcoil", eq)]
#[derive(PartialEq)]
pub(crate) struct Rule(pub(crate) tripcoil::Rule);

/// What the package's options are read by, too.
pub(crate) const OPTIONS: [&str; 14] = [
    "strategy",
    "threshold",
    "retry_timeout",
    "max_allowed_rt",
    "min_request_amount",
    "stat_interval",
    "stat_sliding_window_bucket_count",
    "probe_num",
    "probe_timeout",
    "backoff_factor",
    "max_retry_timeout",
    "inclusive",
    "regex",
    "id",
];

impl Rule {
    pub(crate) fn clone_of(rule: &tripcoil::Rule) -> Self {
        Self(rule.clone())
    }
}

#[pymethods]
impl Rule {
    #[new]
    #[pyo3(
        signature = (resource, **options),
        text_signature = "(resource, *, strategy, threshold, retry_timeout, max_allowed_rt=None, min_request_amount=5, stat_interval=1.0, stat_sliding_window_bucket_count=1, probe_num=1, probe_timeout=None, backoff_factor=1.0, max_retry_timeout=86400.0, inclusive=True, regex=False, id=None)"
    )]
    fn new(resource: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let py = resource.py();
        let no_options = PyDict::new(py);
        let options = options.unwrap_or(&no_options);
        known(options)?;
        Reader { resource, options }.read()
    }

    /// Read one rule of a document: JSON text in Sentinel's fields or in sentinel-golang's.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let document = Document::parse(text.as_bytes(), Scope::Ordinary);
        let (rules, _) = document.into_strict().map_err(|faults| errors::invalid_rules(py, faults))?;
        match <[tripcoil::Rule; 1]>::try_from(rules) {
            Ok([rule]) => Ok(Self(rule)),
            Err(rules) => {
                let message = format!("text must hold one rule, not {}", rules.len());
                Err(pyo3::exceptions::PyValueError::new_err(message))
            }
        }
    }

    /// The rule in Sentinel's fields, every one with its value: JSON on one line.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// The resource's name, or the pattern of names where `regex` is set.
    #[getter]
    fn resource(&self) -> &str {
        self.0.resource()
    }

    /// What calls are judged by.
    #[getter]
    fn strategy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enums::member(py, self.0.strategy())
    }

    /// The ratio, from 0 to 1, or the number of errors, at which the breaker trips.
    #[getter]
    fn threshold(&self) -> f64 {
        self.0.threshold()
    }

    /// Seconds that the breaker stays open.
    #[getter]
    fn retry_timeout(&self) -> f64 {
        self.0.retry_timeout().as_secs_f64()
    }

    /// The response time in seconds over which a call is slow. None unless the rule judges slow calls.
    #[getter]
    fn max_allowed_rt(&self) -> Option<f64> {
        self.0.max_allowed_rt().map(|time| time.as_secs_f64())
    }

    /// The calls that the window must hold before it is judged.
    #[getter]
    fn min_request_amount(&self) -> u64 {
        self.0.min_request_amount()
    }

    /// The length of the window in seconds.
    #[getter]
    fn stat_interval(&self) -> f64 {
        self.0.stat_interval().as_secs_f64()
    }

    /// The buckets of the window.
    #[getter]
    fn stat_sliding_window_bucket_count(&self) -> u32 {
        self.0.stat_sliding_window_bucket_count()
    }

    /// The good probes that close the breaker.
    #[getter]
    fn probe_num(&self) -> u32 {
        self.0.probe_num()
    }

    /// Seconds that a probe may be out before others take its place; 0: for ever.
    #[getter]
    fn probe_timeout(&self) -> f64 {
        self.0.probe_timeout().unwrap_or_default().as_secs_f64()
    }

    /// What each reopening in a row multiplies the wait by.
    #[getter]
    fn backoff_factor(&self) -> f64 {
        self.0.backoff_factor()
    }

    /// The longest wait in seconds that backoff leads to.
    #[getter]
    fn max_retry_timeout(&self) -> f64 {
        self.0.max_retry_timeout().as_secs_f64()
    }

    /// Whether the breaker trips at exactly the threshold, too.
    #[getter]
    fn inclusive(&self) -> bool {
        self.0.inclusive()
    }

    /// Whether the resource is a pattern.
    #[getter]
    fn regex(&self) -> bool {
        self.0.regex()
    }

    /// The user's name for the rule, if any.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.0.id()
    }

    /// Whether the rule's resource is this name, or a pattern that matches the whole of it.
    fn matches(&self, name: &str) -> bool {
        self.0.matches(name)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let mut parts = vec![python::repr(&python::attribute(slf, "resource")?)?];
        for (name, value) in slf.get().options(slf.py())? {
            // A strategy is shown as its value.
            let value = if name == "strategy" { python::attribute(&value, "value")? } else { value };
            parts.push(format!("{name}={}", python::repr(&value)?));
        }
        Ok(format!("Rule({})", parts.join(", ")))
    }

    fn __hash__(&self) -> u64 {
        hash(&self.0.to_json())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, me) = (slf.py(), slf.get());
        let json = me.0.to_json();
        // What came from a document can be read again, and may have fields that options do not have;
        // what was made from options need not be expressible in a document.
        if Document::parse(json.as_bytes(), Scope::Ordinary).rules.first() == Some(&me.0) {
            return (python::attribute(&slf.get_type(), "from_json")?, (json,)).into_pyobject(py);
        }
        static COPY: Part = Part::new("tripcoil._rules", "_rule");
        let copy = COPY.get(py)?;
        (copy, (me.resource(), me.options(py)?.into_py_dict(py)?)).into_pyobject(py)
    }
}

impl Rule {
    /// The options that make the rule.
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
        let me = Bound::new(py, Rule::clone_of(&self.0))?;
        let mut options = Vec::new();
        for name in OPTIONS {
            let value = python::attribute(&me, name)?;
            if !value.is_none() {
                options.push((name, value));
            }
        }
        Ok(options)
    }
}

fn known(options: &Bound<'_, PyDict>) -> PyResult<()> {
    for name in options.keys() {
        let name = name.extract::<String>()?;
        if !OPTIONS.contains(&name.as_str()) {
            let message = format!("unknown option '{name}'; the options are {}", OPTIONS.join(", "));
            return Err(PyTypeError::new_err(message));
        }
    }
    Ok(())
}

/// Reads options. What is no number or time of the library's is given to it as one that it refuses, so
/// that the library says what is allowed; the value shown is the one that was given.
struct Reader<'a, 'py> {
    resource: &'a Bound<'py, PyAny>,
    options: &'a Bound<'py, PyDict>,
}

impl<'py> Reader<'_, 'py> {
    fn read(self) -> PyResult<Rule> {
        let py = self.resource.py();
        let name = match errors::text(self.resource, "resource") {
            Ok(name) => name,
            Err(error) if error.is_instance_of::<errors::InvalidNameError>(py) => "".into(),
            Err(error) => return Err(error),
        };
        let given = self.get("strategy")?;
        let strategy = given.as_ref().and_then(enums::value::<Strategy>);
        let mut builder = RuleBuilder::new(strategy.unwrap_or(Strategy::ErrorRatio), name);
        if let Some(threshold) = self.real("threshold")? {
            builder = builder.threshold(threshold);
        }
        if let Some(factor) = self.real("backoff_factor")? {
            builder = builder.backoff_factor(factor);
        }
        builder = self.times(builder)?;
        builder = self.counts(builder)?;
        builder = builder.inclusive(self.flag("inclusive", true)?).regex(self.flag("regex", false)?);
        if let Some(id) = self.get("id")? {
            builder = builder.id(id_text(&id)?);
        }
        let strategy_fault = strategy.is_none().then(strategy_fault);
        match (builder.build(), strategy_fault) {
            (Ok(rule), None) => Ok(Rule(rule)),
            (built, fault) => {
                let faults = built.err().map(Vec::from).unwrap_or_default().into_iter().chain(fault);
                Err(errors::invalid_rules(py, faults.map(|fault| self.shown(fault))))
            }
        }
    }

    fn times(&self, mut builder: RuleBuilder) -> PyResult<RuleBuilder> {
        type Setter = fn(RuleBuilder, Duration) -> RuleBuilder;
        let setters: [(&str, Setter); 5] = [
            ("retry_timeout", RuleBuilder::retry_timeout),
            ("max_allowed_rt", RuleBuilder::max_allowed_rt),
            ("stat_interval", RuleBuilder::stat_interval),
            ("probe_timeout", RuleBuilder::probe_timeout),
            ("max_retry_timeout", RuleBuilder::max_retry_timeout),
        ];
        for (name, set) in setters {
            if let Some(value) = self.get(name)? {
                builder = set(builder, convert::time(&value).unwrap_or(Duration::MAX));
            }
        }
        Ok(builder)
    }

    fn counts(&self, mut builder: RuleBuilder) -> PyResult<RuleBuilder> {
        let small = |number| u32::try_from(number).unwrap_or(u32::MAX);
        if let Some(calls) = self.whole("min_request_amount")? {
            builder = builder.min_request_amount(calls);
        }
        if let Some(buckets) = self.whole("stat_sliding_window_bucket_count")? {
            builder = builder.stat_sliding_window_bucket_count(small(buckets));
        }
        if let Some(probes) = self.whole("probe_num")? {
            builder = builder.probe_num(small(probes));
        }
        Ok(builder)
    }

    /// An option that was given; None is as if it were not.
    fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.options.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn real(&self, name: &str) -> PyResult<Option<f64>> {
        Ok(self.get(name)?.map(|value| convert::real(&value).unwrap_or(f64::NAN)))
    }

    fn whole(&self, name: &str) -> PyResult<Option<u64>> {
        Ok(self.get(name)?.map(|value| convert::whole(&value).unwrap_or(u64::MAX)))
    }

    fn flag(&self, name: &str, default: bool) -> PyResult<bool> {
        match self.get(name)? {
            None => Ok(default),
            Some(value) if value.is_instance_of::<PyBool>() => value.extract(),
            Some(value) => {
                Err(PyTypeError::new_err(format!("{name} must be a bool, not {}", convert::shown(&value))))
            }
        }
    }

    /// A fault with the value that was given.
    fn shown(&self, mut fault: tripcoil::Fault) -> tripcoil::Fault {
        let value = match fault.field.as_deref() {
            Some("resource") => Some(self.resource.clone()),
            Some(field) => self.get(field).ok().flatten(),
            None => None,
        };
        if let Some(value) = value {
            fault.value = Some(convert::shown(&value));
        }
        fault
    }
}

fn id_text(id: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = id.extract::<String>() {
        return Ok(text);
    }
    match id.extract::<i64>() {
        Ok(number) if !id.is_instance_of::<PyBool>() => Ok(number.to_string()),
        _ => Err(PyTypeError::new_err(format!("id must be a str or an int, not {}", convert::shown(id)))),
    }
}

/// The library takes a strategy by its type, and cannot refuse one.
fn strategy_fault() -> tripcoil::Fault {
    let mut fault = fault::blank();
    fault.field = Some("strategy".to_owned());
    fault.value = None;
    fault.allowed = enums::allowed::<Strategy>();
    fault.line = None;
    fault
}
