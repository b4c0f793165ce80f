//! Rules: JSON text in, a report out.

use std::ffi::c_char;

use tripcoil::{Document, Faults, Limits, Registry, Report, Scope};

use crate::codes;
use crate::guard::{Result, guard};
use crate::handle::borrow;
use crate::registry::tripcoil_registry;
use crate::report::{give_report, report_place, tripcoil_report};
use crate::status::{TRIPCOIL_INVALID_NAME, TRIPCOIL_INVALID_RULES, tripcoil_status};
use crate::text;

/// Reads a document into a registry, and gives a report to a caller who wants one.
///
/// # Safety
/// The contract: a handle, a text, and a place for a handle or NULL.
unsafe fn load(
    registry: *const tripcoil_registry,
    text: *const c_char,
    text_len: usize,
    report: *mut *mut tripcoil_report,
    read: impl FnOnce(&Registry, &[u8]) -> Result<std::result::Result<Report, Faults>>,
) -> Result<()> {
    // SAFETY: as promised by the caller. The place comes first: it is NULL whatever else is wrong.
    let (place, registry) = unsafe { (report_place(report)?, borrow(registry)?) };
    // SAFETY: as promised by the caller.
    let document = unsafe { text::document(text, text_len, &registry.0.limits())? };
    match read(&registry.0, document)? {
        Ok(report) => {
            give_report(place, report);
            Ok(())
        }
        Err(faults) => {
            give_report(place, tripcoil_report::new(0, faults, []));
            Err(TRIPCOIL_INVALID_RULES)
        }
    }
}

/// As [`load`], for a resource.
///
/// # Safety
/// As there, and a text for the name.
unsafe fn load_named(
    registry: *const tripcoil_registry,
    (name, name_len): (*const c_char, usize),
    (text, text_len): (*const c_char, usize),
    report: *mut *mut tripcoil_report,
    read: impl FnOnce(&Registry, &str, &[u8]) -> std::result::Result<Report, Faults>,
) -> Result<()> {
    // SAFETY: as promised by the caller. The place comes first, as in `load`.
    let name = unsafe {
        report_place(report)?;
        text::name(name, name_len)?
    };
    // SAFETY: as promised by the caller.
    unsafe { load(registry, text, text_len, report, |registry, text| Ok(read(registry, name, text))) }
}

/// Replaces all exact and regex rules by those of a JSON document (a list of rules or one rule, in
/// Sentinel's or sentinel-golang's form), or, if anything in it is wrong, changes nothing:
/// `TRIPCOIL_INVALID_RULES`. A rule that is loaded already keeps its breaker with state and window.
///
/// Here and in the other loads, a report is given where `report` is not NULL and the document was read,
/// whatever it came to; otherwise `*report` is NULL. Documents that are longer
/// than the registry's limits allow are `TRIPCOIL_INVALID_LENGTH`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_load(
    registry: *const tripcoil_registry,
    text: *const c_char,
    text_len: usize,
    report: *mut *mut tripcoil_report,
) -> tripcoil_status {
    // SAFETY: the contract, as for `load`.
    guard(|| unsafe { load(registry, text, text_len, report, |registry, text| Ok(registry.load_json(text))) })
}

/// As `tripcoil_registry_load`, but takes the valid rules where some are not; the report has the faults of
/// the others. `TRIPCOIL_INVALID_RULES` only for a document that cannot be read as a whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_load_lenient(
    registry: *const tripcoil_registry,
    text: *const c_char,
    text_len: usize,
    report: *mut *mut tripcoil_report,
) -> tripcoil_status {
    let read = |registry: &Registry, text: &[u8]| Ok(registry.load_json_lenient(text));
    // SAFETY: the contract, as for `load`.
    guard(|| unsafe { load(registry, text, text_len, report, read) })
}

/// Replaces the exact rules of one resource. A rule with another resource, or with `regex`, is a fault.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_load_resource(
    registry: *const tripcoil_registry,
    name: *const c_char,
    name_len: usize,
    text: *const c_char,
    text_len: usize,
    report: *mut *mut tripcoil_report,
) -> tripcoil_status {
    let read = |registry: &Registry, name: &str, text: &[u8]| registry.load_resource_json(name, text);
    // SAFETY: the contract, as for `load_named`.
    guard(|| unsafe { load_named(registry, (name, name_len), (text, text_len), report, read) })
}

/// Gives a resource rules of its own, in the place of those it had: what the code that calls it says. They
/// guard it while no rule that is loaded for its name does, and default rules then do not; loads leave them.
/// A bounded registry forgets them with the resource, and takes none for a name that it has no place for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_set_own(
    registry: *const tripcoil_registry,
    name: *const c_char,
    name_len: usize,
    text: *const c_char,
    text_len: usize,
    report: *mut *mut tripcoil_report,
) -> tripcoil_status {
    let read = |registry: &Registry, name: &str, text: &[u8]| registry.set_own_json(name, text);
    // SAFETY: the contract, as for `load_named`.
    guard(|| unsafe { load_named(registry, (name, name_len), (text, text_len), report, read) })
}

/// Replaces the default rules, whose resource is `*`: they guard every resource that no other rule
/// matches and that is not excluded, each with breakers of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_load_defaults(
    registry: *const tripcoil_registry,
    text: *const c_char,
    text_len: usize,
    report: *mut *mut tripcoil_report,
) -> tripcoil_status {
    let read = |registry: &Registry, text: &[u8]| Ok(registry.load_defaults_json(text));
    // SAFETY: the contract, as for `load`.
    guard(|| unsafe { load(registry, text, text_len, report, read) })
}

/// Chooses the check that Sentinel made before 1.8, and replaces its rules. `release` is
/// `TRIPCOIL_LEGACY_1_6` or `TRIPCOIL_LEGACY_1_7`. It is apart from the breakers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_load_legacy(
    registry: *const tripcoil_registry,
    release: i32,
    text: *const c_char,
    text_len: usize,
    report: *mut *mut tripcoil_report,
) -> tripcoil_status {
    let read = |registry: &Registry, text: &[u8]| Ok(registry.load_legacy(codes::release(release)?, text));
    // SAFETY: the contract, as for `load`.
    guard(|| unsafe { load(registry, text, text_len, report, read) })
}

/// Takes a name out of the default rules' guard.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_exclude(
    registry: *const tripcoil_registry,
    name: *const c_char,
    name_len: usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle and a text.
        let (registry, name) = unsafe { (borrow(registry)?, text::key(name, name_len)?) };
        registry.0.exclude([name]).map_err(|_| TRIPCOIL_INVALID_NAME)
    })
}

/// Puts an excluded name back under the default rules' guard.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_include(
    registry: *const tripcoil_registry,
    name: *const c_char,
    name_len: usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle and a text.
        let (registry, name) = unsafe { (borrow(registry)?, text::key(name, name_len)?) };
        registry.0.include([name]).map_err(|_| TRIPCOIL_INVALID_NAME)
    })
}

/// Copies the names that default rules do not guard, as a JSON list of strings, sorted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_excluded(
    registry: *const tripcoil_registry,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle.
        let names = unsafe { borrow(registry)? }.0.excluded();
        // SAFETY: the contract: a buffer and a place for its length.
        unsafe { text::put(&serde_json::Value::from(names).to_string(), buffer, capacity, needed) }
    })
}

/// Copies all rules that are loaded, normalised, as a JSON list: exact ones, then regex ones, then
/// default ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_rules(
    registry: *const tripcoil_registry,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle.
        let rules = unsafe { borrow(registry)? }.0.rules();
        let list = list(rules.iter().map(|rule| rule.to_json()));
        // SAFETY: the contract: a buffer and a place for its length.
        unsafe { text::put(&list, buffer, capacity, needed) }
    })
}

/// Reads a document of ordinary rules and loads nothing: its report, and its valid rules, normalised, as
/// a JSON list. The report is given as by `tripcoil_registry_load`, also where the buffer is too small.
/// `TRIPCOIL_INVALID_RULES` where it has faults, unless the buffer is at fault.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_rules_read(
    text: *const c_char,
    text_len: usize,
    report: *mut *mut tripcoil_report,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a place for a handle or NULL, and a text.
        let (place, text) =
            unsafe { (report_place(report)?, text::document(text, text_len, &Limits::default())?) };
        let Document { rules, faults, warnings, .. } = Document::parse(text, Scope::Ordinary);
        let faulty = !faults.is_empty();
        give_report(place, tripcoil_report::new(rules.len(), faults, warnings));
        let list = list(rules.iter().map(|rule| rule.to_json()));
        // SAFETY: the contract: a buffer and a place for its length.
        unsafe { text::put(&list, buffer, capacity, needed)? };
        if faulty { Err(TRIPCOIL_INVALID_RULES) } else { Ok(()) }
    })
}

fn list(rules: impl Iterator<Item = String>) -> String {
    let rules: Vec<String> = rules.collect();
    format!("[{}]", rules.join(","))
}
