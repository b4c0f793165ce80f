//! The native module of the Python package `tripcoil`: it translates, and decides nothing.
//!
//! What users see of it is documented in the package, `python/tripcoil`, and typed in `_native.pyi`.
#![forbid(unsafe_code)]

mod call;
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
mod pass;
mod registry;
mod rejection;
mod resource;
mod rule;
mod trace;

use pyo3::prelude::*;

/// Private: use the package `tripcoil`.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

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
    use crate::registry::{Registry, read_rules};
    #[pymodule_export]
    use crate::rejection::Rejection;
    #[pymodule_export]
    use crate::resource::{Breaker, LegacyStatistics, Resource, Snapshot, Totals};
    #[pymodule_export]
    use crate::rule::Rule;
    #[pymodule_export]
    use crate::trace::next_mark;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", tripcoil::VERSION)
    }
}
