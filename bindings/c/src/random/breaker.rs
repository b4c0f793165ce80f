//! Calls of breakers.

use std::mem::MaybeUninit;

use arbitrary::Arbitrary;

use crate::breaker::*;

use super::handles::Pick;
use super::texts::Buffer;
use super::world::World;

#[derive(Arbitrary, Debug)]
pub(super) enum Call {
    State(Pick),
    Snapshot(Pick),
    LastTrip(Pick),
    Explain(Pick, Buffer),
    Rule(Pick, Buffer),
    SetMode(Pick, u8),
    Reset(Pick),
    Free(Pick),
}

impl Call {
    pub(super) fn make(self, world: &mut World) {
        // SAFETY: places on the stack; handles as `Handles` has them; buffers as theirs.
        let (kind, status) = unsafe {
            match self {
                Self::Free(pick) => return world.breakers.free(pick),
                Self::State(pick) => {
                    let (breaker, kind) = world.breakers.pick(pick);
                    let mut state = 0;
                    (kind, tripcoil_breaker_state(breaker, &raw mut state))
                }
                Self::Snapshot(pick) => {
                    let (breaker, kind) = world.breakers.pick(pick);
                    let mut snapshot = MaybeUninit::uninit();
                    (kind, tripcoil_breaker_snapshot(breaker, snapshot.as_mut_ptr()))
                }
                Self::LastTrip(pick) => {
                    let (breaker, kind) = world.breakers.pick(pick);
                    let mut trip = MaybeUninit::uninit();
                    (kind, tripcoil_breaker_last_trip(breaker, trip.as_mut_ptr()))
                }
                Self::Explain(pick, buffer) => {
                    let (breaker, kind) = world.breakers.pick(pick);
                    let copy = |at, room, needed| tripcoil_breaker_explain(breaker, at, room, needed);
                    (kind, buffer.with(copy))
                }
                Self::Rule(pick, buffer) => {
                    let (breaker, kind) = world.breakers.pick(pick);
                    let copy = |at, room, needed| tripcoil_breaker_rule(breaker, at, room, needed);
                    (kind, buffer.with(copy))
                }
                Self::SetMode(pick, mode) => {
                    let (breaker, kind) = world.breakers.pick(pick);
                    (kind, tripcoil_breaker_set_mode(breaker, i32::from(mode % 8) - 1))
                }
                Self::Reset(pick) => {
                    let (breaker, kind) = world.breakers.pick(pick);
                    (kind, tripcoil_breaker_reset(breaker))
                }
            }
        };
        kind.check(status);
    }
}
