//! Guarded calls of one resource, with what is to become of them.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyTuple};
use tripcoil::{Outcome, Resource};

use crate::entry::Entry;
use crate::errors;
use crate::judge::{self, Errors, Judge};
use crate::python::{self, Part};
use crate::registry::Registry;
use crate::rule::Rule;
use crate::trace;

/// Puts the answer to a blocked call in the form in which the function gives its result.
pub(crate) static ANSWERED: Part = Part::new("tripcoil._shells", "answered");
/// Awaits what a plain function has returned instead of a result, and ends its entry.
pub(crate) static FINISH: Part = Part::new("tripcoil._shells", "finish");
pub(crate) static COROUTINE: Part = Part::new("types", "CoroutineType");

/// Guards calls of a resource: what `tripcoil.breaker` makes. Its Python subclass has the public face.
#[pyclass(frozen, subclass, module = "tripcoil._native")]
pub(crate) struct Guard {
    target: Target,
    pub(crate) judge: Judge,
    /// Given the error of a blocked call, gives the answer.
    on_blocked: Option<Py<PyAny>>,
    /// As `on_blocked`, and for failed calls too.
    fallback: Option<Py<PyAny>>,
}

enum Target {
    Fixed(Resource),
    /// The name is what a function of the call's arguments says; `rule` makes the rule of a name.
    PerCall {
        registry: tripcoil::Registry,
        name: Py<PyAny>,
        rule: Option<Py<PyAny>>,
    },
}

type Arguments<'a, 'py> = (&'a Bound<'py, PyTuple>, Option<&'a Bound<'py, PyDict>>);

#[pymethods]
impl Guard {
    #[new]
    #[pyo3(signature = (registry, name, *, rule, ignore, record, is_failure, on_blocked, fallback))]
    #[expect(clippy::too_many_arguments, reason = "the package gives each by its name")]
    fn new(
        registry: &Bound<'_, Registry>,
        name: &Bound<'_, PyAny>,
        rule: Option<Py<PyAny>>,
        ignore: Option<(Py<PyTuple>, Vec<Py<PyAny>>)>,
        record: Option<(Py<PyTuple>, Vec<Py<PyAny>>)>,
        is_failure: Option<Py<PyAny>>,
        on_blocked: Option<Py<PyAny>>,
        fallback: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let registry = &registry.get().0;
        let target = if name.is_callable() {
            Target::PerCall { registry: registry.clone(), name: name.clone().unbind(), rule }
        } else {
            Target::Fixed(named(registry, name)?)
        };
        let errors = |(types, predicates)| Errors::new(types, predicates);
        let judge = Judge {
            ignore: ignore.map(errors),
            record: record.map(errors),
            is_failure,
            unmarked: AtomicBool::new(false),
        };
        Ok(Self { target, judge, on_blocked, fallback })
    }

    /// Ask for leave to make a call, and begin it.
    #[pyo3(signature = (*args, **kwargs))]
    fn enter(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Entry> {
        begin(slf, &*slf.get().resource((args, kwargs))?)
    }

    /// As `enter()` of a guard that has one resource, where collecting no arguments would cost.
    fn _begin(slf: &Bound<'_, Self>) -> PyResult<Entry> {
        match &slf.get().target {
            Target::Fixed(resource) => begin(slf, resource),
            Target::PerCall { .. } => Guard::enter(slf, &PyTuple::empty(slf.py()), None),
        }
    }

    /// Call a function if the breakers admit it.
    #[pyo3(signature = (function, /, *args, **kwargs))]
    fn call<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, me) = (slf.py(), slf.get());
        let resource = me.resource((args, kwargs))?;
        match resource.enter() {
            Ok(entry) => Guard::run(slf, entry, function, (args, kwargs)),
            Err(blocked) => {
                let answer = me.answer_blocked(py, errors::blocked(py, blocked))?;
                // Who calls a coroutine function awaits the answer.
                python::call(ANSWERED.get(py)?, &PyTuple::new(py, [function, &answer])?, None)
            }
        }
    }

    /// Let `trace` mean other calls: these are of no function that could call it.
    fn _ignore_marks(&self) {
        self.judge.unmarked.store(true, Ordering::Relaxed);
    }

    /// Whether functions of the user's judge its calls.
    #[getter]
    fn _asks(&self) -> bool {
        self.judge.asks()
    }

    /// What gives the answer to a call that is blocked, from its error; None raises it.
    #[getter]
    fn on_blocked<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, PyAny>> {
        self.on_blocked.as_ref().or(self.fallback.as_ref()).map(|answer| answer.bind(py))
    }

    /// What gives the answer to a call that failed, from its error; None raises it.
    #[getter]
    fn fallback<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, PyAny>> {
        self.fallback.as_ref().map(|answer| answer.bind(py))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.judge.visit(&visit)?;
        visit.call(&self.on_blocked)?;
        visit.call(&self.fallback)?;
        if let Target::PerCall { name, rule, .. } = &self.target {
            visit.call(name)?;
            visit.call(rule)?;
        }
        Ok(())
    }
}

impl Guard {
    /// The resource of a guard that has one.
    #[inline]
    pub(crate) fn fixed(&self) -> Option<&Resource> {
        match &self.target {
            Target::Fixed(resource) => Some(resource),
            Target::PerCall { .. } => None,
        }
    }

    /// Calls a function, which is not known to be a coroutine function, if the breakers admit it.
    #[inline]
    pub(crate) fn call_plain<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        arguments: Arguments<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, me) = (slf.py(), slf.get());
        let resource = me.resource(arguments)?;
        match resource.enter() {
            Ok(entry) => Guard::run(slf, entry, function, arguments),
            Err(blocked) => me.answer_blocked(py, errors::blocked(py, blocked)),
        }
    }

    /// Makes a call that was admitted. Where the frame unwinds, as it does for a panic in a native module that the
    /// function called, the entry counts it as bad.
    #[inline]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        entry: tripcoil::Entry<'_>,
        function: &Bound<'py, PyAny>,
        arguments: Arguments<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, me) = (slf.py(), slf.get());
        let since = trace::marks();
        match python::call(function, arguments.0, arguments.1) {
            Ok(result) if is_coroutine(&result) => Guard::await_result(slf, entry, &result, since),
            Ok(result) if me.judge.is_good(since) => {
                entry.end(Outcome::Good);
                Ok(result)
            }
            Ok(result) => {
                let judged = me.judge.result(&result, since);
                entry.end(*judged.as_ref().unwrap_or(&Outcome::Bad));
                judged.map(|_| result)
            }
            Err(error) => {
                me.judge.forget_marks(py, since);
                let (outcome, raised) = me.judge.error(&error, py);
                entry.end(outcome);
                raised.map_or_else(|| me.answer_failed(py, error, outcome), Err)
            }
        }
    }

    /// What a plain function returned is awaited, and then the call ends.
    #[cold]
    #[inline(never)]
    fn await_result<'py>(
        slf: &Bound<'py, Self>,
        entry: tripcoil::Entry<'_>,
        result: &Bound<'py, PyAny>,
        since: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let entry = Bound::new(py, Entry::begun(entry.into_owned(), slf, since))?;
        let args = PyTuple::new(py, [slf.as_any(), entry.as_any(), result])?;
        python::call(FINISH.get(py)?, &args, None)
    }

    #[inline]
    fn resource(&self, arguments: Arguments<'_, '_>) -> PyResult<Cow<'_, Resource>> {
        match &self.target {
            Target::Fixed(resource) => Ok(Cow::Borrowed(resource)),
            Target::PerCall { registry, name, rule } => {
                per_call(registry, name, rule.as_ref(), arguments).map(Cow::Owned)
            }
        }
    }

    fn answer_blocked<'py>(&self, py: Python<'py>, error: PyErr) -> PyResult<Bound<'py, PyAny>> {
        match self.on_blocked.as_ref().or(self.fallback.as_ref()) {
            Some(answer) => answered(answer.bind(py), error),
            None => Err(error),
        }
    }

    fn answer_failed<'py>(
        &self,
        py: Python<'py>,
        error: PyErr,
        outcome: Outcome,
    ) -> PyResult<Bound<'py, PyAny>> {
        match &self.fallback {
            Some(answer) if judge::is_failure(&error, outcome, py) => answered(answer.bind(py), error),
            _ => Err(error),
        }
    }
}

/// The answer to an error, which then is no more.
fn answered<'py>(answer: &Bound<'py, PyAny>, error: PyErr) -> PyResult<Bound<'py, PyAny>> {
    let py = answer.py();
    let given =
        python::call1(answer, error.value(py)).map_err(|raised| judge::in_context(raised, &error, py));
    python::let_go(error, py);
    given
}

/// The resource that a function of a call's arguments names.
#[inline(never)]
fn per_call(
    registry: &tripcoil::Registry,
    name: &Py<PyAny>,
    rule: Option<&Py<PyAny>>,
    arguments: Arguments<'_, '_>,
) -> PyResult<Resource> {
    let py = arguments.0.py();
    let name = python::call(name.bind(py), arguments.0, arguments.1)?;
    let resource = named(registry, &name)?;
    if let Some(rule) = rule
        && !resource.has_own_rules()
        && !resource.is_unguarded()
    {
        set_own_rule(registry, &resource, &python::call1(rule.bind(py), &name)?)?;
    }
    Ok(resource)
}

#[inline]
fn begin(guard: &Bound<'_, Guard>, resource: &Resource) -> PyResult<Entry> {
    match resource.enter_owned() {
        Ok(entry) => Ok(Entry::new(entry, Some(guard.clone().unbind()))),
        Err(blocked) => Err(errors::blocked(guard.py(), blocked)),
    }
}

/// Gives a resource the rule that a guard's options make.
#[cold]
pub(crate) fn set_own_rule(
    registry: &tripcoil::Registry,
    resource: &Resource,
    rule: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let set = registry.set_own_rules(resource.name(), [rule.cast::<Rule>()?.get().0.clone()]);
    set.map(drop).map_err(|faults| errors::invalid_rules(rule.py(), Vec::from(faults)))
}

/// The resource of a name, which may be anything.
pub(crate) fn named(registry: &tripcoil::Registry, name: &Bound<'_, PyAny>) -> PyResult<Resource> {
    let text = errors::text(name, "resource")?;
    registry.resource(&text).map_err(|_| errors::invalid_name("resource", name))
}

#[inline]
fn is_coroutine(result: &Bound<'_, PyAny>) -> bool {
    COROUTINE.get(result.py()).is_ok_and(|coroutine| result.is_exact_instance(coroutine))
}
