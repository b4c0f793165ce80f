//! What was wrong with a rule document, and what was ignored in it.

use std::ffi::c_char;

use tripcoil::{Fault, Report, Warning};

use crate::guard::{Result, guard};
use crate::handle::{Handle, Place, Pool, borrow, free, give, place};
use crate::status::{TRIPCOIL_INVALID_VALUE, TRIPCOIL_NOT_FOUND, tripcoil_status};
use crate::text;

/// What a load found in a document: first the faults, then the warnings, each in the document's order.
/// Given by the functions that read rules; the caller frees it.
pub struct tripcoil_report {
    rules: usize,
    faults: usize,
    findings: Vec<Finding>,
}

impl Handle for tripcoil_report {
    const MARK: usize = 0x7470_6572;

    fn pool() -> &'static Pool<Self> {
        static POOL: Pool<tripcoil_report> = Pool::new();
        &POOL
    }
}

/// How much a report holds.
#[repr(C)]
pub struct tripcoil_report_summary {
    /// Rules that are valid; loaded, where the load went well. The same rule twice counts once.
    pub rules: usize,
    /// Faults: the findings from 0.
    pub faults: usize,
    /// Warnings: the findings after the faults.
    pub warnings: usize,
}

/// Where a fault or a warning is.
#[repr(C)]
pub struct tripcoil_finding {
    /// 1 for a fault, 0 for a warning.
    pub is_fault: i32,
    /// The rule's position in the document, from 0; -1 for the whole document.
    pub rule: i64,
    /// The line, from 1; 0 where it is not known.
    pub line: u64,
}

/// Text of a finding: one readable line with all of it.
pub const TRIPCOIL_TEXT_MESSAGE: i32 = 0;
/// Text of a finding: the field, as the document spells it; none for a whole rule or document.
pub const TRIPCOIL_TEXT_FIELD: i32 = 1;
/// Text of a finding: the rule's resource, where it has a valid one.
pub const TRIPCOIL_TEXT_RESOURCE: i32 = 2;
/// Text of a finding: what stands there; none where something is missing.
pub const TRIPCOIL_TEXT_VALUE: i32 = 3;
/// Text of a finding: of a fault, what is allowed there; of a warning, what becomes of it.
pub const TRIPCOIL_TEXT_ALLOWED: i32 = 4;

struct Finding {
    index: Option<usize>,
    line: Option<usize>,
    message: String,
    field: Option<String>,
    resource: Option<String>,
    value: Option<String>,
    allowed: String,
}

impl From<Fault> for Finding {
    fn from(fault: Fault) -> Self {
        let message = fault.to_string();
        let Fault { index, resource, field, value, allowed, line, .. } = fault;
        Self { index, line, message, field, resource, value, allowed }
    }
}

impl From<Warning> for Finding {
    fn from(warning: Warning) -> Self {
        let message = warning.to_string();
        let Warning { index, resource, field, value, note, line, .. } = warning;
        Self { index, line, message, field, resource, value, allowed: note }
    }
}

impl From<Report> for tripcoil_report {
    fn from(report: Report) -> Self {
        Self::new(report.rules, report.faults, report.warnings)
    }
}

impl tripcoil_report {
    pub(crate) fn new(
        rules: usize,
        faults: impl IntoIterator<Item = Fault>,
        warnings: impl IntoIterator<Item = Warning>,
    ) -> Self {
        let mut findings: Vec<Finding> = faults.into_iter().map(Finding::from).collect();
        let faults = findings.len();
        findings.extend(warnings.into_iter().map(Finding::from));
        Self { rules, faults, findings }
    }

    fn finding(&self, index: usize) -> Result<&Finding> {
        self.findings.get(index).ok_or(TRIPCOIL_NOT_FOUND)
    }
}

/// The place for a report, or none if the caller passed NULL. It is set to NULL until there is one.
///
/// # Safety
/// A pointer that is not NULL can be written during the call.
pub(crate) unsafe fn report_place(
    report: *mut *mut tripcoil_report,
) -> Result<Option<Place<*mut tripcoil_report>>> {
    if report.is_null() {
        return Ok(None);
    }
    // SAFETY: as promised by the caller.
    unsafe { place(report)? }.set(std::ptr::null_mut());
    // SAFETY: as promised by the caller.
    unsafe { place(report) }.map(Some)
}

/// Gives a report to a caller who wants it.
pub(crate) fn give_report(place: Option<Place<*mut tripcoil_report>>, report: impl Into<tripcoil_report>) {
    if let Some(place) = place {
        place.set(give(report.into()));
    }
}

/// Counts what a report holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_report_summarize(
    report: *const tripcoil_report,
    summary: *mut tripcoil_report_summary,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for the struct.
        let (report, summary) = unsafe { (borrow(report)?, place(summary)?) };
        summary.set(tripcoil_report_summary {
            rules: report.rules,
            faults: report.faults,
            warnings: report.findings.len() - report.faults,
        });
        Ok(())
    })
}

/// Reads where a finding is. `TRIPCOIL_NOT_FOUND` beyond the last one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_report_finding(
    report: *const tripcoil_report,
    index: usize,
    finding: *mut tripcoil_finding,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for the struct.
        let (report, place) = unsafe { (borrow(report)?, place(finding)?) };
        let found = report.finding(index)?;
        place.set(tripcoil_finding {
            is_fault: i32::from(index < report.faults),
            rule: found.index.map_or(-1, |index| i64::try_from(index).unwrap_or(i64::MAX)),
            line: found.line.unwrap_or(0) as u64,
        });
        Ok(())
    })
}

/// Copies a text of a finding: `part` is one of the `TRIPCOIL_TEXT_` numbers. `TRIPCOIL_NOT_FOUND`
/// beyond the last finding, and where it has no such text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_report_text(
    report: *const tripcoil_report,
    index: usize,
    part: i32,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle.
        let found = unsafe { borrow(report)? }.finding(index)?;
        let text = match part {
            TRIPCOIL_TEXT_MESSAGE => Some(&found.message),
            TRIPCOIL_TEXT_FIELD => found.field.as_ref(),
            TRIPCOIL_TEXT_RESOURCE => found.resource.as_ref(),
            TRIPCOIL_TEXT_VALUE => found.value.as_ref(),
            TRIPCOIL_TEXT_ALLOWED => Some(&found.allowed),
            _ => return Err(TRIPCOIL_INVALID_VALUE),
        };
        // SAFETY: the contract: a buffer and a place for its length.
        unsafe { text::put(text.ok_or(TRIPCOIL_NOT_FOUND)?, buffer, capacity, needed) }
    })
}

/// Frees the report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_report_free(report: *mut tripcoil_report) -> tripcoil_status {
    // SAFETY: the contract: a handle that no call uses, or NULL.
    guard(|| unsafe { free(report) })
}
