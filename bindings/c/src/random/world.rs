//! All that a life has made.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::breaker::{tripcoil_breaker, tripcoil_breaker_free};
use crate::clock::{tripcoil_clock, tripcoil_clock_free, tripcoil_clock_new};
use crate::codes::TRIPCOIL_CANCELLED;
use crate::entry::{tripcoil_entry, tripcoil_entry_end};
use crate::registry::*;
use crate::report::{tripcoil_report, tripcoil_report_free};
use crate::resource::{tripcoil_resource, tripcoil_resource_free};
use crate::rules::tripcoil_registry_load;
use crate::status::*;

use super::handles::Handles;
use super::texts::{NAMES, RULES};

pub(super) struct World {
    pub(super) clocks: Handles<tripcoil_clock>,
    pub(super) registries: Handles<tripcoil_registry>,
    pub(super) resources: Handles<tripcoil_resource>,
    pub(super) breakers: Handles<tripcoil_breaker>,
    pub(super) reports: Handles<tripcoil_report>,
    pub(super) entries: [Slot; 8],
    pub(super) observers: Arc<Observers>,
}

/// A place for an entry.
pub(super) struct Slot {
    /// In memory of its own, so that a sanitiser sees whether more is written.
    pub(super) entry: Box<tripcoil_entry>,
    pub(super) open: bool,
}

/// What became of the observers.
#[derive(Default)]
pub(super) struct Observers {
    pub(super) registered: AtomicU32,
    pub(super) told: AtomicU32,
    pub(super) destroyed: AtomicU32,
}

impl World {
    /// With one of what most calls need.
    pub(super) fn new() -> Self {
        let slot = || Slot { entry: Box::new(tripcoil_entry { opaque: [0; 8] }), open: false };
        let mut world = Self {
            clocks: Handles::new(tripcoil_clock_free),
            registries: Handles::new(tripcoil_registry_free),
            resources: Handles::new(tripcoil_resource_free),
            breakers: Handles::new(tripcoil_breaker_free),
            reports: Handles::new(tripcoil_report_free),
            entries: std::array::from_fn(|_| slot()),
            observers: Arc::default(),
        };
        let (mut clock, mut registry, mut resource) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (rules, name) = (RULES[0], NAMES[0]);
        // SAFETY: places on the stack, and texts as they are.
        unsafe {
            world.clocks.add(tripcoil_clock_new(&raw mut clock), clock);
            world.registries.add(tripcoil_registry_new(clock, 0, &raw mut registry), registry);
            let (text, len) = (rules.as_ptr().cast(), rules.len());
            assert_eq!(tripcoil_registry_load(registry, text, len, ptr::null_mut()), TRIPCOIL_OK);
            let (name, len) = (name.as_ptr().cast(), name.len());
            world.resources.add(tripcoil_registry_resource(registry, name, len, &raw mut resource), resource);
        }
        world
    }

    /// Ends and frees all: nothing is left, and no observer is without its end.
    pub(super) fn end(mut self) {
        for slot in &mut self.entries {
            // SAFETY: an entry that was entered or zeroed.
            let status = unsafe { tripcoil_entry_end(&raw mut *slot.entry, TRIPCOIL_CANCELLED) };
            match status {
                TRIPCOIL_OK | TRIPCOIL_INVALID_HANDLE => assert!(slot.open),
                status => assert!(!slot.open, "{status}"),
            }
        }
        self.breakers.free_all();
        self.resources.free_all();
        self.registries.free_all();
        self.clocks.free_all();
        self.reports.free_all();
        let count = |counter: &AtomicU32| counter.load(Ordering::SeqCst);
        assert_eq!(count(&self.observers.registered), count(&self.observers.destroyed));
    }
}
