//! Registries: names to resources.

use std::ffi::c_char;

use tripcoil::{Limits, Registry};

use crate::clock::tripcoil_clock;
use crate::guard::guard;
use crate::handle::{Handle, Pool, borrow, free, give, place};
use crate::resource::tripcoil_resource;
use crate::status::{TRIPCOIL_INVALID_NAME, TRIPCOIL_INVALID_VALUE, TRIPCOIL_NULL_POINTER, tripcoil_status};
use crate::text;

/// Resources by name, and the rules that guard them. Made by `tripcoil_registry_new` or
/// `tripcoil_registry_global`.
pub struct tripcoil_registry(pub(crate) Registry);

impl Handle for tripcoil_registry {
    const MARK: usize = 0x6765_7274;

    fn pool() -> &'static Pool<Self> {
        static POOL: Pool<tripcoil_registry> = Pool::new();
        &POOL
    }
}

/// What a registry has counted.
#[repr(C)]
pub struct tripcoil_registry_counts {
    /// Resources that are known.
    pub resources: u64,
    /// Calls that a bounded registry admitted unguarded, for want of a place for their names.
    pub unguarded_calls: u64,
}

/// Makes a registry of its own, without rules. `clock`: the source of time; NULL for the system's
/// monotonic clock. `max_resources`: the most resources that it keeps; 0 for no limit. A new name beyond
/// that takes the place of a resource that nobody holds a handle of and whose breakers are as new; where
/// there is none, its calls pass unguarded and are counted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_new(
    clock: *const tripcoil_clock,
    max_resources: u64,
    registry: *mut *mut tripcoil_registry,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a place for a handle.
        let registry = unsafe { place(registry)? };
        let mut builder = Registry::builder();
        if !clock.is_null() {
            // SAFETY: the contract: a handle.
            builder = builder.clock(unsafe { borrow(clock)? }.0.clone());
        }
        if max_resources > 0 {
            let limit = usize::try_from(max_resources).map_err(|_| TRIPCOIL_INVALID_VALUE)?;
            builder = builder.max_resources(limit);
        }
        registry.set(give(tripcoil_registry(builder.build())));
        Ok(())
    })
}

/// Gives a handle of the registry that the process shares. Freeing it leaves the registry as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_global(registry: *mut *mut tripcoil_registry) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a place for a handle.
        let registry = unsafe { place(registry)? };
        registry.set(give(tripcoil_registry(Registry::global().clone())));
        Ok(())
    })
}

/// Gives a handle of the resource of a name, which is made if it is new. Keep the handle: it skips the
/// look-up, and stays valid over reloads and beyond the registry's handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_resource(
    registry: *const tripcoil_registry,
    name: *const c_char,
    name_len: usize,
    resource: *mut *mut tripcoil_resource,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, a text, and a place for a handle.
        let (registry, name, place) =
            unsafe { (borrow(registry)?, text::key(name, name_len)?, place(resource)?) };
        let resource = registry.0.resource(name).map_err(|_| TRIPCOIL_INVALID_NAME)?;
        place.set(give(tripcoil_resource(resource)));
        Ok(())
    })
}

/// Reads what the registry has counted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_count(
    registry: *const tripcoil_registry,
    counts: *mut tripcoil_registry_counts,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for the struct.
        let (registry, counts) = unsafe { (borrow(registry)?, place(counts)?) };
        counts.set(tripcoil_registry_counts {
            resources: registry.0.len() as u64,
            unguarded_calls: registry.0.unguarded_calls(),
        });
        Ok(())
    })
}

/// What a rule document may take at most. Documents come from configuration services and files, and who can
/// write there should not be able to exhaust the process that reads them. Fixed besides: 64 brackets open at
/// once, and names, patterns, ids and `limitApp` of 1024 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tripcoil_limits {
    /// The bytes of a document. Default: 16 MiB.
    pub document_bytes: u64,
    /// The rules of a document, good and bad. Default: 1,000,000.
    pub rules: u64,
    /// The bytes that one pattern takes when compiled; each matching thread adds 100 KiB. Default: 1 MiB.
    pub pattern_bytes: u64,
    /// The bytes that all patterns of a document take together. Default: 64 MiB.
    pub patterns_bytes: u64,
    /// How many faults a report lists, and how many warnings: a last one says how many more there are.
    /// Default: 1000.
    pub listed: u64,
}

/// Reads what rule documents may take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_limits(
    registry: *const tripcoil_registry,
    limits: *mut tripcoil_limits,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a place for the struct.
        let (registry, place) = unsafe { (borrow(registry)?, place(limits)?) };
        let limits = registry.0.limits();
        place.set(tripcoil_limits {
            document_bytes: limits.document_bytes as u64,
            rules: limits.rules as u64,
            pattern_bytes: limits.pattern_bytes as u64,
            patterns_bytes: limits.patterns_bytes as u64,
            listed: limits.listed as u64,
        });
        Ok(())
    })
}

/// Sets what rule documents that are loaded from now on may take. Read the limits first, and change those
/// that are to be others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_set_limits(
    registry: *const tripcoil_registry,
    limits: *const tripcoil_limits,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle, and a struct or NULL.
        let (registry, given) = unsafe { (borrow(registry)?, limits.as_ref()) };
        let given = given.ok_or(TRIPCOIL_NULL_POINTER)?;
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let mut limits = Limits::default();
        limits.document_bytes = size(given.document_bytes);
        limits.rules = size(given.rules);
        limits.pattern_bytes = size(given.pattern_bytes);
        limits.patterns_bytes = size(given.patterns_bytes);
        limits.listed = size(given.listed);
        registry.0.set_limits(limits);
        Ok(())
    })
}

/// Copies the names of all known resources, as a JSON list of strings, sorted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_names(
    registry: *const tripcoil_registry,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> tripcoil_status {
    guard(|| {
        // SAFETY: the contract: a handle.
        let resources = unsafe { borrow(registry)? }.0.resources();
        let mut names: Vec<&str> = resources.iter().map(|resource| resource.name()).collect();
        names.sort_unstable();
        // SAFETY: the contract: a buffer and a place for its length.
        unsafe { text::put(&serde_json::Value::from(names).to_string(), buffer, capacity, needed) }
    })
}

/// Frees the handle. The registry goes with the last handle of it and of its resources.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tripcoil_registry_free(registry: *mut tripcoil_registry) -> tripcoil_status {
    // SAFETY: the contract: a handle that no call uses, or NULL.
    guard(|| unsafe { free(registry) })
}
