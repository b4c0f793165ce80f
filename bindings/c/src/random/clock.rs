//! Calls of clocks.

use std::ptr;

use arbitrary::Arbitrary;

use crate::clock::*;

use super::handles::Pick;
use super::texts::of;
use super::world::World;

#[derive(Arbitrary, Debug)]
pub(super) enum Call {
    New,
    Set(Pick, u8),
    Advance(Pick, u32),
    AdvanceFar(Pick, u8),
    Time(Pick),
    Free(Pick),
}

impl Call {
    pub(super) fn make(self, world: &mut World) {
        // SAFETY: places on the stack; handles as `Handles` has them.
        let (kind, status) = unsafe {
            match self {
                Self::New => {
                    if !world.clocks.are_many() {
                        let mut made = ptr::null_mut();
                        let status = tripcoil_clock_new(&raw mut made);
                        world.clocks.add(status, made);
                    }
                    return;
                }
                Self::Free(pick) => return world.clocks.free(pick),
                Self::Set(pick, time) => {
                    let (clock, kind) = world.clocks.pick(pick);
                    (kind, tripcoil_clock_set(clock, of(&TIMES, time)))
                }
                Self::Advance(pick, by) => {
                    let (clock, kind) = world.clocks.pick(pick);
                    (kind, tripcoil_clock_advance(clock, u64::from(by)))
                }
                Self::AdvanceFar(pick, by) => {
                    let (clock, kind) = world.clocks.pick(pick);
                    (kind, tripcoil_clock_advance(clock, of(&TIMES, by)))
                }
                Self::Time(pick) => {
                    let (clock, kind) = world.clocks.pick(pick);
                    let mut time = 0;
                    (kind, tripcoil_clock_time(clock, &raw mut time))
                }
            }
        };
        kind.check(status);
    }
}

pub(super) const TIMES: [u64; 8] =
    [0, 1, 1_000_000, 1_000_000_000, 2_500_000_000, 1 << 60, u64::MAX - 1, u64::MAX];
