//! Calls of resources.

use std::mem::MaybeUninit;
use std::ptr;

use arbitrary::Arbitrary;

use crate::resource::*;

use super::handles::Pick;
use super::texts::Buffer;
use super::world::World;

#[derive(Arbitrary, Debug)]
pub(super) enum Call {
    Name(Pick, Buffer),
    BreakerCount(Pick),
    Breaker(Pick, u8),
    SetMode(Pick, u8),
    Reset(Pick),
    IsUnguarded(Pick),
    LegacyStatistics(Pick),
    Free(Pick),
}

impl Call {
    pub(super) fn make(self, world: &mut World) {
        // SAFETY: places on the stack; handles as `Handles` has them; buffers as theirs.
        let (kind, status) = unsafe {
            match self {
                Self::Free(pick) => return world.resources.free(pick),
                Self::Name(pick, buffer) => {
                    let (resource, kind) = world.resources.pick(pick);
                    let copy = |at, room, needed| tripcoil_resource_name(resource, at, room, needed);
                    (kind, buffer.with(copy))
                }
                Self::BreakerCount(pick) => {
                    let (resource, kind) = world.resources.pick(pick);
                    let mut count = 0;
                    (kind, tripcoil_resource_breaker_count(resource, &raw mut count))
                }
                Self::Breaker(pick, position) => {
                    if world.breakers.are_many() {
                        return;
                    }
                    let (resource, kind) = world.resources.pick(pick);
                    let mut made = ptr::null_mut();
                    let position = if position == u8::MAX { usize::MAX } else { usize::from(position % 5) };
                    let status = tripcoil_resource_breaker(resource, position, &raw mut made);
                    world.breakers.add(status, made);
                    (kind, status)
                }
                Self::SetMode(pick, mode) => {
                    let (resource, kind) = world.resources.pick(pick);
                    (kind, tripcoil_resource_set_mode(resource, i32::from(mode % 8) - 1))
                }
                Self::Reset(pick) => {
                    let (resource, kind) = world.resources.pick(pick);
                    (kind, tripcoil_resource_reset(resource))
                }
                Self::IsUnguarded(pick) => {
                    let (resource, kind) = world.resources.pick(pick);
                    let mut unguarded = 0;
                    (kind, tripcoil_resource_is_unguarded(resource, &raw mut unguarded))
                }
                Self::LegacyStatistics(pick) => {
                    let (resource, kind) = world.resources.pick(pick);
                    let mut statistics = MaybeUninit::uninit();
                    (kind, tripcoil_resource_legacy_statistics(resource, statistics.as_mut_ptr()))
                }
            }
        };
        kind.check(status);
    }
}
