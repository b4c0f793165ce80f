//! The observers of a registry, where the garbage collector sees them: one that refers to its registry
//! would otherwise keep both for ever.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};

use crate::change::Change;
use crate::python;

/// Observers by name. The library knows no more than their names.
#[derive(Default)]
pub(crate) struct Observers(Arc<Mutex<Named>>);

type Named = HashMap<String, Py<PyAny>>;

impl Observers {
    /// Has an observer told of a registry's changes, in the place of one of the same name.
    pub(crate) fn observe(&self, registry: &tripcoil::Registry, name: &str, observer: Py<PyAny>) {
        let before = lock(&self.0).insert(name.to_owned(), observer);
        // After the lock: it may be the last reference to anything.
        drop(before);
        let (named, own) = (Arc::clone(&self.0), name.to_owned());
        registry.observe(name, move |change| {
            // Where the interpreter has ended, nobody is there to be told.
            let _ = Python::try_attach(|py| {
                let observer = lock(&named).get(&own).map(|observer| observer.clone_ref(py));
                if let Some(observer) = observer {
                    tell(observer.bind(py), change);
                }
            });
        });
    }

    pub(crate) fn unobserve(&self, registry: &tripcoil::Registry, name: &str) -> bool {
        let before = lock(&self.0).remove(name);
        drop(before);
        registry.unobserve(name)
    }

    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // The collector runs nowhere within the lock.
        let Ok(named) = self.0.try_lock() else { return Ok(()) };
        named.values().try_for_each(|observer| visit.call(observer))
    }

    pub(crate) fn clear(&self) {
        let before = std::mem::take(&mut *lock(&self.0));
        drop(before);
    }
}

/// Held for no longer than a look into the table: nothing of Python's runs within it.
fn lock(named: &Mutex<Named>) -> MutexGuard<'_, Named> {
    named.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells an observer. What it raises is reported to `sys.unraisablehook`, and to nobody else.
fn tell(observer: &Bound<'_, PyAny>, change: &tripcoil::Change) {
    let py = observer.py();
    // An entry that is dropped while an exception is on its way may make the change: no Python code may
    // run before the exception has been put aside.
    let pending = PyErr::take(py);
    let told = Bound::new(py, Change(change.clone()));
    if let Err(error) = told.and_then(|change| python::call1(observer, &change)) {
        python::report(error, observer);
    }
    if let Some(pending) = pending {
        pending.restore(py);
    }
}
