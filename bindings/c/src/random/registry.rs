//! Calls of registries.

use std::mem::MaybeUninit;
use std::ptr;

use arbitrary::Arbitrary;

use crate::registry::*;
use crate::status::TRIPCOIL_OK;

use super::handles::Pick;
use super::texts::{Buffer, Text};
use super::world::World;

#[derive(Arbitrary, Debug)]
pub(super) enum Call {
    New { clock: Pick, max_resources: u8 },
    Global,
    Resource(Pick, Text),
    Count(Pick),
    Limits(Pick),
    SetLimits { registry: Pick, limits: [u16; 5] },
    Names(Pick, Buffer),
    Free(Pick),
}

impl Call {
    pub(super) fn make(self, world: &mut World) {
        // SAFETY: places on the stack; handles as `Handles` has them; texts and buffers as theirs.
        let (kind, status) = unsafe {
            match self {
                Self::New { clock, max_resources } => return new(world, clock, max_resources),
                // It outlives this life, which must leave it as it was.
                Self::Global => {
                    let mut made = ptr::null_mut();
                    assert_eq!(tripcoil_registry_global(&raw mut made), TRIPCOIL_OK);
                    assert_eq!(tripcoil_registry_free(made), TRIPCOIL_OK);
                    return;
                }
                Self::Free(pick) => return world.registries.free(pick),
                Self::Resource(pick, name) => {
                    if world.resources.are_many() {
                        return;
                    }
                    let (registry, kind) = world.registries.pick(pick);
                    let mut made = ptr::null_mut();
                    let status =
                        name.with(|name, len| tripcoil_registry_resource(registry, name, len, &raw mut made));
                    world.resources.add(status, made);
                    (kind, status)
                }
                Self::Count(pick) => {
                    let (registry, kind) = world.registries.pick(pick);
                    let mut counts = MaybeUninit::uninit();
                    (kind, tripcoil_registry_count(registry, counts.as_mut_ptr()))
                }
                Self::Limits(pick) => {
                    let (registry, kind) = world.registries.pick(pick);
                    let mut limits = MaybeUninit::uninit();
                    (kind, tripcoil_registry_limits(registry, limits.as_mut_ptr()))
                }
                Self::SetLimits {
                    registry,
                    limits: [document_bytes, rules, pattern_bytes, patterns_bytes, listed],
                } => {
                    let (registry, kind) = world.registries.pick(registry);
                    let limits = tripcoil_limits {
                        document_bytes: u64::from(document_bytes),
                        rules: u64::from(rules),
                        pattern_bytes: u64::from(pattern_bytes),
                        patterns_bytes: u64::from(patterns_bytes),
                        listed: u64::from(listed),
                    };
                    (kind, tripcoil_registry_set_limits(registry, &raw const limits))
                }
                Self::Names(pick, buffer) => {
                    let (registry, kind) = world.registries.pick(pick);
                    let names = |at, room, needed| tripcoil_registry_names(registry, at, room, needed);
                    (kind, buffer.with(names))
                }
            }
        };
        kind.check(status);
    }
}

fn new(world: &mut World, clock: Pick, max_resources: u8) {
    if world.registries.are_many() {
        return;
    }
    let (clock, kind) = world.clocks.pick(clock);
    let mut made = ptr::null_mut();
    // SAFETY: a place on the stack; a handle as `Handles` has it, where NULL is the system's clock.
    let status = unsafe { tripcoil_registry_new(clock, u64::from(max_resources % 4), &raw mut made) };
    world.registries.add(status, made);
    if !clock.is_null() {
        kind.check(status);
    }
}
