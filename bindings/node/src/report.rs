//! What is wrong with rules, and what is ignored in them.

use napi_derive::napi;
use tripcoil::{Faults, Report, Warning};

/// One thing that is wrong.
#[napi(object, object_from_js = false)]
pub struct Fault {
    /// The rule's position in its list, from 0.
    pub index: Option<u32>,
    /// The rule's resource, where it has a valid one.
    pub resource: Option<String>,
    /// The field.
    pub field: Option<String>,
    /// What stands there.
    pub value: Option<String>,
    /// What is allowed there, to be read after "it must be".
    pub allowed: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// All of it on one line.
    pub message: String,
}

/// What is ignored.
#[napi(object, object_from_js = false)]
pub struct Ignored {
    /// The rule's position in its list, from 0.
    pub index: Option<u32>,
    /// The rule's resource, where it has a valid one.
    pub resource: Option<String>,
    /// The field.
    pub field: Option<String>,
    /// What stands there.
    pub value: Option<String>,
    /// What becomes of it, and why.
    pub note: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// All of it on one line.
    pub message: String,
}

/// What came of a load.
#[napi(object, object_from_js = false)]
pub struct Loaded {
    /// Whether the rules are in force now.
    pub done: bool,
    /// How many were taken.
    pub rules: u32,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// What is ignored.
    pub warnings: Vec<Ignored>,
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl From<tripcoil::Fault> for Fault {
    fn from(fault: tripcoil::Fault) -> Self {
        let message = fault.to_string();
        Self {
            index: fault.index.map(small),
            resource: fault.resource,
            field: fault.field,
            value: fault.value,
            allowed: fault.allowed,
            line: fault.line.map(small),
            message,
        }
    }
}

impl From<Warning> for Ignored {
    fn from(warning: Warning) -> Self {
        let message = warning.to_string();
        Self {
            index: warning.index.map(small),
            resource: warning.resource,
            field: warning.field,
            value: warning.value,
            note: warning.note,
            line: warning.line.map(small),
            message,
        }
    }
}

pub(crate) fn into_all<T, U: From<T>>(all: Vec<T>) -> Vec<U> {
    all.into_iter().map(U::from).collect()
}

impl From<Result<Report, Faults>> for Loaded {
    fn from(loaded: Result<Report, Faults>) -> Self {
        match loaded {
            Ok(report) => Self {
                done: true,
                rules: small(report.rules),
                faults: into_all(report.faults),
                warnings: into_all(report.warnings),
            },
            Err(faults) => Self::refused(into_all(faults.into())),
        }
    }
}

impl Loaded {
    /// Nothing was changed.
    pub(crate) fn refused(faults: Vec<Fault>) -> Self {
        Self { done: false, rules: 0, faults, warnings: Vec::new() }
    }
}
