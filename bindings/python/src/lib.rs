//! The native module of the Python package `tripcoil`: it translates, and decides nothing.
//!
//! What users see of it is documented in the package, `python/tripcoil`, and typed in `_native.pyi`.
#![forbid(unsafe_code)]

mod change;
mod clock;
mod convert;
mod entry;
mod enums;
mod errors;
mod fault;
mod function;
mod guard;
mod judge;
mod observers;
mod pass;
mod python;
mod registry;
mod rejection;
mod resource;
mod rule;
mod trace;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// Private: use the package `tripcoil`.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    use crate::convert::INDEX;
    use crate::function::METHOD;
    use crate::guard::{ANSWERED, COROUTINE, FINISH};
    use crate::rule::OPTIONS;
    use crate::trace::TAKE;
    use crate::{enums, modules};

    #[pymodule_export]
    use crate::change::{Change, Trip};
    #[pymodule_export]
    use crate::clock::VirtualClock;
    #[pymodule_export]
    use crate::entry::Entry;
    #[pymodule_export]
    use crate::fault::{Fault, Report, RuleWarning};
    #[pymodule_export]
    use crate::function::Function;
    #[pymodule_export]
    use crate::guard::Guard;
    #[pymodule_export]
    use crate::pass::Pass;
    #[pymodule_export]
    use crate::registry::{Registry, read_rules};
    #[pymodule_export]
    use crate::rejection::Rejection;
    #[pymodule_export]
    use crate::resource::{Breaker, LegacyStatistics, Resource, Snapshot, Totals};
    #[pymodule_export]
    use crate::rule::Rule;
    #[pymodule_export]
    use crate::trace::next_mark;

    /// Looks up what the module takes from the package, which calls it as it is imported.
    #[pyfunction]
    fn look_up(py: Python<'_>) -> PyResult<()> {
        crate::errors::look_up(py);
        crate::judge::group(py);
        for part in [&COROUTINE, &METHOD, &INDEX, &ANSWERED, &FINISH, &TAKE].into_iter().chain(enums::parts())
        {
            part.look_up(py)?;
        }
        Ok(())
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", tripcoil::VERSION)?;
        module.add("RULE_OPTIONS", PyTuple::new(module.py(), OPTIONS)?)?;
        module.add("modules", modules(module.py()))
    }
}

/// The package's modules whose classes this one knows. It outlives the package, which may be imported again
/// and then must have the same ones.
fn modules(py: Python<'_>) -> &Bound<'_, PyDict> {
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    MODULES.get_or_init(py, || PyDict::new(py).unbind()).bind(py)
}
