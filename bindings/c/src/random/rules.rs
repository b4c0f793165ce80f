//! Calls that read rules.

use std::ffi::c_char;
use std::ptr;

use arbitrary::Arbitrary;

use crate::registry::tripcoil_registry;
use crate::report::{tripcoil_report, tripcoil_report_free};
use crate::rules::*;
use crate::status::*;

use super::handles::{Kind, Pick};
use super::texts::{Buffer, Text};
use super::world::World;

#[derive(Arbitrary, Debug)]
pub(super) enum Call {
    Load(Pick, Text),
    LoadLenient(Pick, Text),
    LoadDefaults(Pick, Text),
    LoadResource { registry: Pick, name: Text, rules: Text },
    LoadLegacy { registry: Pick, release: u8, rules: Text },
    LoadUnreported(Pick, Text),
    Read(Text, Buffer),
    Exclude(Pick, Text),
    Include(Pick, Text),
    Excluded(Pick, Buffer),
    Rules(Pick, Buffer),
    SetOwn { registry: Pick, name: Text, rules: Text },
}

type Load = unsafe extern "C" fn(
    *const tripcoil_registry,
    *const c_char,
    usize,
    *mut *mut tripcoil_report,
) -> tripcoil_status;

type LoadNamed = unsafe extern "C" fn(
    *const tripcoil_registry,
    *const c_char,
    usize,
    *const c_char,
    usize,
    *mut *mut tripcoil_report,
) -> tripcoil_status;

impl Call {
    pub(super) fn make(self, world: &mut World) {
        match self {
            Self::Load(registry, rules) => load(world, registry, &rules, tripcoil_registry_load),
            Self::LoadLenient(registry, rules) => {
                load(world, registry, &rules, tripcoil_registry_load_lenient)
            }
            Self::LoadDefaults(registry, rules) => {
                load(world, registry, &rules, tripcoil_registry_load_defaults);
            }
            Self::LoadResource { registry, name, rules } => {
                load_named(world, registry, &name, &rules, tripcoil_registry_load_resource);
            }
            Self::SetOwn { registry, name, rules } => {
                load_named(world, registry, &name, &rules, tripcoil_registry_set_own);
            }
            Self::LoadLegacy { registry, release, rules } => load_legacy(world, registry, release, &rules),
            Self::LoadUnreported(registry, rules) => {
                let (registry, kind) = world.registries.pick(registry);
                // SAFETY: a handle and a text as theirs have them.
                let load =
                    |text, len| unsafe { tripcoil_registry_load(registry, text, len, ptr::null_mut()) };
                kind.check(rules.with(load));
            }
            Self::Read(rules, buffer) => read(world, &rules, &buffer),
            Self::Exclude(..) | Self::Include(..) | Self::Excluded(..) | Self::Rules(..) => self.lists(world),
        }
    }

    fn lists(self, world: &mut World) {
        // SAFETY: handles, texts and buffers as theirs have them.
        let (kind, status) = unsafe {
            match self {
                Self::Exclude(pick, name) => {
                    let (registry, kind) = world.registries.pick(pick);
                    (kind, name.with(|name, len| tripcoil_registry_exclude(registry, name, len)))
                }
                Self::Include(pick, name) => {
                    let (registry, kind) = world.registries.pick(pick);
                    (kind, name.with(|name, len| tripcoil_registry_include(registry, name, len)))
                }
                Self::Excluded(pick, buffer) => {
                    let (registry, kind) = world.registries.pick(pick);
                    let copy = |at, room, needed| tripcoil_registry_excluded(registry, at, room, needed);
                    (kind, buffer.with(copy))
                }
                Self::Rules(pick, buffer) => {
                    let (registry, kind) = world.registries.pick(pick);
                    let copy = |at, room, needed| tripcoil_registry_rules(registry, at, room, needed);
                    (kind, buffer.with(copy))
                }
                _ => return,
            }
        };
        kind.check(status);
    }
}

fn load(world: &mut World, registry: Pick, rules: &Text, load: Load) {
    let (registry, kind) = world.registries.pick(registry);
    let mut report = ptr::null_mut();
    // SAFETY: a handle and a text as theirs have them, and a place on the stack.
    let status = rules.with(|text, len| unsafe { load(registry, text, len, &raw mut report) });
    loaded(world, kind, status, report);
}

fn load_named(world: &mut World, registry: Pick, name: &Text, rules: &Text, load: LoadNamed) {
    let (registry, kind) = world.registries.pick(registry);
    let mut report = ptr::null_mut();
    let status = name.with(|name, name_len| {
        // SAFETY: a handle and texts as theirs have them, and a place on the stack.
        rules.with(|text, len| unsafe { load(registry, name, name_len, text, len, &raw mut report) })
    });
    loaded(world, kind, status, report);
}

fn load_legacy(world: &mut World, registry: Pick, release: u8, rules: &Text) {
    let (registry, kind) = world.registries.pick(registry);
    let release = i32::from(release % 4) + 15;
    let mut report = ptr::null_mut();
    // SAFETY: a handle and a text as theirs have them, and a place on the stack.
    let status = rules.with(|text, len| unsafe {
        tripcoil_registry_load_legacy(registry, release, text, len, &raw mut report)
    });
    loaded(world, kind, status, report);
}

/// Takes in the report of a load: there is one where the document was read.
fn loaded(world: &mut World, kind: Kind, status: tripcoil_status, report: *mut tripcoil_report) {
    kind.check(status);
    assert_eq!(!report.is_null(), matches!(status, TRIPCOIL_OK | TRIPCOIL_INVALID_RULES), "{status}");
    keep(world, report);
}

fn read(world: &mut World, rules: &Text, buffer: &Buffer) {
    let mut report = ptr::null_mut();
    let status = rules.with(|text, len| {
        // SAFETY: a text and a buffer as theirs have them, and a place on the stack.
        buffer.with(|at, room, needed| unsafe {
            tripcoil_rules_read(text, len, &raw mut report, at, room, needed)
        })
    });
    assert_ne!(status, TRIPCOIL_PANIC);
    keep(world, report);
}

fn keep(world: &mut World, report: *mut tripcoil_report) {
    if report.is_null() {
        return;
    }
    if world.reports.are_many() {
        // SAFETY: a handle that was just given.
        assert_eq!(unsafe { tripcoil_report_free(report) }, TRIPCOIL_OK);
    } else {
        world.reports.add(TRIPCOIL_OK, report);
    }
}
