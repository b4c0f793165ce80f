//! Resources by name, and the rules that guard them.

use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::PyTuple;
use tripcoil::{Document, Faults, Limits, Release, Scope};

use crate::clock::VirtualClock;
use crate::fault::Report;
use crate::guard::{named, set_own_rule};
use crate::observers::Observers;
use crate::python;
use crate::resource::Resource;
use crate::rule::Rule;
use crate::{convert, enums, errors};

/// Resources by name, and the rules that guard them. Its Python subclass has the public face.
#[pyclass(frozen, subclass, module = "tripcoil._native")]
pub(crate) struct Registry(pub(crate) tripcoil::Registry, Observers);

/// Rules as `tripcoil/_rules.py` gives them.
#[derive(FromPyObject)]
pub(crate) enum Source {
    /// A document.
    Text(PyBackedBytes),
    /// A document that was made of dicts: lines mean nothing to who gave it.
    Fields(PyBackedStr),
    Rules(Vec<Py<Rule>>),
}

#[pymethods]
impl Registry {
    #[new]
    #[pyo3(signature = (*, clock=None, max_resources=None))]
    fn new(
        clock: Option<&Bound<'_, VirtualClock>>,
        max_resources: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut builder = tripcoil::Registry::builder();
        if let Some(clock) = clock {
            builder = builder.clock(clock.get().0.clone());
        }
        if let Some(limit) = max_resources {
            builder = builder.max_resources(convert::count_argument(limit, "max_resources")?);
        }
        Ok(Self(builder.build(), Observers::default()))
    }

    /// The resource of a name, made if it is new. Raises `InvalidNameError`.
    fn resource(&self, name: &Bound<'_, PyAny>) -> PyResult<Resource> {
        named(&self.0, name).map(Resource)
    }

    /// All resources that are known, in no order.
    #[getter]
    fn resources(&self) -> Vec<Resource> {
        self.0.resources().into_iter().map(Resource).collect()
    }

    /// All rules: exact ones, regex ones, those of breakers' options where none of these guards the resource, default ones.
    #[getter]
    fn rules(&self) -> Vec<Rule> {
        self.0.rules().iter().map(|rule| Rule::clone_of(rule)).collect()
    }

    /// As `_set_limits` takes them.
    fn _limits(&self) -> [usize; 5] {
        let Limits { document_bytes, rules, pattern_bytes, patterns_bytes, listed, .. } = self.0.limits();
        [document_bytes, rules, pattern_bytes, patterns_bytes, listed]
    }

    #[pyo3(signature = (*, document_bytes=None, rules=None, pattern_bytes=None, patterns_bytes=None, listed=None))]
    fn _set_limits(
        &self,
        document_bytes: Option<&Bound<'_, PyAny>>,
        rules: Option<&Bound<'_, PyAny>>,
        pattern_bytes: Option<&Bound<'_, PyAny>>,
        patterns_bytes: Option<&Bound<'_, PyAny>>,
        listed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut limits = self.0.limits();
        for (limit, name, given) in [
            (&mut limits.document_bytes, "document_bytes", document_bytes),
            (&mut limits.rules, "rules", rules),
            (&mut limits.pattern_bytes, "pattern_bytes", pattern_bytes),
            (&mut limits.patterns_bytes, "patterns_bytes", patterns_bytes),
            (&mut limits.listed, "listed", listed),
        ] {
            if let Some(given) = given {
                *limit = convert::count_argument(given, name)?;
            }
        }
        self.0.set_limits(limits);
        Ok(())
    }

    /// How many calls a bounded registry has admitted unguarded, for want of a place for their names.
    #[getter]
    fn unguarded_calls(&self) -> u64 {
        self.0.unguarded_calls()
    }

    /// The time in seconds on the registry's clock.
    fn now(&self) -> f64 {
        self.0.now().as_secs_f64()
    }

    fn _load(&self, py: Python<'_>, source: Source, lenient: bool) -> PyResult<Report> {
        let document = |text: &[u8]| match lenient {
            true => self.0.load_json_lenient(text),
            false => self.0.load_json(text),
        };
        source.load(py, document, |rules| self.0.load_rules(rules))
    }

    fn _load_defaults(&self, py: Python<'_>, source: Source) -> PyResult<Report> {
        source.load(py, |text| self.0.load_defaults_json(text), |rules| self.0.load_defaults(rules))
    }

    fn _load_resource(&self, name: &Bound<'_, PyAny>, source: Source) -> PyResult<Report> {
        let text = errors::text(name, "resource")?;
        source.load(
            name.py(),
            |document| self.0.load_resource_json(&text, document),
            |rules| self.0.load_resource_rules(&text, rules),
        )
    }

    fn _set_own_rule(&self, rule: &Bound<'_, PyAny>) -> PyResult<()> {
        let resource = named(&self.0, &python::attribute(rule, "resource")?)?;
        set_own_rule(&self.0, &resource, rule)
    }

    fn _load_legacy(&self, py: Python<'_>, release: &Bound<'_, PyAny>, source: Source) -> PyResult<Report> {
        let release: Release = enums::argument(release, "release")?;
        source.load(py, |text| self.0.load_legacy(release, text), |_| Ok(tripcoil::Report::default()))
    }

    /// Take names out of the default rules' guard. Raises `InvalidNameError`, and then changes nothing.
    #[pyo3(signature = (*names))]
    fn exclude(&self, names: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.0.exclude(texts(names)?).map_err(|error| errors::InvalidNameError::new_err(error.to_string()))
    }

    /// Put excluded names back under the default rules' guard. Raises `InvalidNameError`, and then changes
    /// nothing.
    #[pyo3(signature = (*names))]
    fn include(&self, names: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.0.include(texts(names)?).map_err(|error| errors::InvalidNameError::new_err(error.to_string()))
    }

    /// The names that default rules do not guard, in order.
    #[getter]
    fn excluded(&self) -> Vec<String> {
        self.0.excluded()
    }

    fn _observe(&self, name: &str, observer: Py<PyAny>) {
        self.1.observe(&self.0, name, observer);
    }

    /// Remove an observer, and say whether there was one.
    fn unobserve(&self, name: &str) -> bool {
        self.1.unobserve(&self.0, name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.1.visit(&visit)
    }

    fn __clear__(&self) {
        self.1.clear();
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

fn texts(names: &Bound<'_, PyTuple>) -> PyResult<Vec<String>> {
    names.iter().map(|name| Ok(errors::text(&name, "name")?.into_owned())).collect()
}

/// Reads rules and loads nothing: the valid ones, and what is wrong with the others.
#[pyfunction]
pub(crate) fn read_rules(source: Source) -> (Vec<Rule>, Report) {
    let scope = Scope::Ordinary;
    let (document, has_lines) = match source {
        Source::Text(text) => (Document::parse(&text, scope), true),
        Source::Fields(text) => (Document::parse(text.as_bytes(), scope), false),
        Source::Rules(list) => (Document::from_rules(cloned(&list), scope), true),
    };
    let Document { rules, faults, warnings, .. } = document;
    let mut report = tripcoil::Report::default();
    (report.rules, report.faults, report.warnings) = (rules.len(), faults, warnings);
    if !has_lines {
        forget_lines(&mut report);
    }
    (rules.into_iter().map(Rule).collect(), Report(report))
}

fn cloned(rules: &[Py<Rule>]) -> Vec<tripcoil::Rule> {
    rules.iter().map(|rule| rule.get().0.clone()).collect()
}

type Loaded = Result<tripcoil::Report, Faults>;

impl Source {
    fn load(
        self,
        py: Python<'_>,
        document: impl FnOnce(&[u8]) -> Loaded,
        rules: impl FnOnce(Vec<tripcoil::Rule>) -> Loaded,
    ) -> PyResult<Report> {
        let loaded = match self {
            Source::Text(text) => document(&text).map_err(Vec::from),
            Source::Fields(text) => without_lines(document(text.as_bytes())),
            Source::Rules(list) => rules(cloned(&list)).map_err(Vec::from),
        };
        loaded.map(Report).map_err(|faults| errors::invalid_rules(py, faults))
    }
}

fn without_lines(loaded: Loaded) -> Result<tripcoil::Report, Vec<tripcoil::Fault>> {
    let mut report = tripcoil::Report::default();
    let is_loaded = loaded.is_ok();
    match loaded {
        Ok(loaded) => report = loaded,
        Err(faults) => report.faults = faults.into(),
    }
    forget_lines(&mut report);
    if is_loaded { Ok(report) } else { Err(report.faults) }
}

fn forget_lines(report: &mut tripcoil::Report) {
    report.faults.iter_mut().for_each(|fault| fault.line = None);
    report.warnings.iter_mut().for_each(|warning| warning.line = None);
}
