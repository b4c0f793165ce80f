//! Calls of entries.

use std::mem::MaybeUninit;
use std::ptr;
use std::thread;

use arbitrary::Arbitrary;

use crate::entry::*;
use crate::status::*;

use super::clock::TIMES;
use super::handles::{Kind, Pick};
use super::texts::{Buffer, of};
use super::world::{Slot, World};

#[derive(Arbitrary, Debug)]
pub(super) enum Call {
    Enter(Pick, u8),
    EnterNull(Pick),
    End(u8, u8),
    EndWith { entry: u8, outcome: u8, response_time: u8 },
    EndOnTwoThreads(u8, u8),
    EndNull(u8),
    MarkBad(u8),
    Move { from: u8, to: u8 },
    Blocked(u8),
    Explain(u8, Buffer),
    Rule(u8, Buffer),
}

/// An entry that is shared between threads.
#[derive(Clone, Copy)]
struct Shared(*mut tripcoil_entry);

// SAFETY: the contract: several threads may end an entry at once.
unsafe impl Send for Shared {}

impl Call {
    pub(super) fn make(self, world: &mut World) {
        // SAFETY: entries that were entered or zeroed; places on the stack; handles and buffers as
        // theirs have them.
        let status = unsafe {
            match self {
                Self::Enter(resource, slot) => return enter(world, resource, slot),
                Self::EnterNull(resource) => {
                    let resource = world.resources.pick(resource).0;
                    return Kind::Null.check(tripcoil_resource_enter(resource, ptr::null_mut()));
                }
                Self::End(slot, outcome) => {
                    let slot = world.slot(slot);
                    let status = tripcoil_entry_end(slot.at(), i32::from(outcome % 7) - 1);
                    slot.ended(status)
                }
                Self::EndWith { entry, outcome, response_time } => {
                    let (slot, time) = (world.slot(entry), of(&TIMES, response_time));
                    let status = tripcoil_entry_end_with(slot.at(), i32::from(outcome % 7) - 1, time);
                    slot.ended(status)
                }
                Self::EndOnTwoThreads(slot, outcome) => {
                    return world.slot(slot).end_on_two_threads(i32::from(outcome % 4) + 1);
                }
                Self::EndNull(outcome) => {
                    let status = tripcoil_entry_end(ptr::null_mut(), i32::from(outcome));
                    return Kind::Null.check(status);
                }
                Self::MarkBad(slot) => {
                    let slot = world.slot(slot);
                    let status = tripcoil_entry_mark_bad(slot.at());
                    assert_eq!(status == TRIPCOIL_OK, slot.open);
                    status
                }
                Self::Move { from, to } => return world.move_entry(from, to),
                Self::Blocked(slot) => {
                    let mut blocked = MaybeUninit::uninit();
                    tripcoil_entry_blocked(world.slot(slot).at(), blocked.as_mut_ptr())
                }
                Self::Explain(slot, buffer) => {
                    let entry = world.slot(slot).at();
                    buffer.with(|at, room, needed| tripcoil_entry_explain(entry, at, room, needed))
                }
                Self::Rule(slot, buffer) => {
                    let entry = world.slot(slot).at();
                    buffer.with(|at, room, needed| tripcoil_entry_rule(entry, at, room, needed))
                }
            }
        };
        assert_ne!(status, TRIPCOIL_PANIC);
    }
}

fn enter(world: &mut World, resource: Pick, slot: u8) {
    let (resource, kind) = world.resources.pick(resource);
    let slot = world.slot(slot);
    // Entering one that is open would lose the first call, which the contract forbids.
    if slot.open {
        return;
    }
    // SAFETY: a handle as `Handles` has it, and a place for an entry.
    let status = unsafe { tripcoil_resource_enter(resource, slot.at()) };
    kind.check(status);
    slot.open = status == TRIPCOIL_OK;
}

impl World {
    fn slot(&mut self, number: u8) -> &mut Slot {
        let many = self.entries.len();
        &mut self.entries[usize::from(number) % many]
    }

    /// Moves an entry in memory, as a caller may.
    fn move_entry(&mut self, from: u8, to: u8) {
        if self.slot(to).open {
            return;
        }
        let from = self.slot(from);
        let (opaque, open) = (from.entry.opaque, from.open);
        (from.entry.opaque, from.open) = ([0; 8], false);
        let to = self.slot(to);
        (to.entry.opaque, to.open) = (opaque, open);
    }
}

impl Slot {
    fn at(&mut self) -> *mut tripcoil_entry {
        &raw mut *self.entry
    }

    /// An end came to `status`: an open entry is ended by it, unless its number has no meaning.
    fn ended(&mut self, status: tripcoil_status) -> tripcoil_status {
        match status {
            // The resource's handle has been freed: the call is over, and counts nowhere.
            TRIPCOIL_OK | TRIPCOIL_INVALID_HANDLE => {
                assert!(self.open, "{status}");
                self.open = false;
            }
            TRIPCOIL_INVALID_VALUE => {}
            status => assert!(!self.open, "{status}"),
        }
        status
    }

    fn end_on_two_threads(&mut self, outcome: i32) {
        let shared = Shared(self.at());
        let end = move || {
            let shared = shared;
            // SAFETY: an entry that was entered or zeroed; the contract lets threads end it at once.
            unsafe { tripcoil_entry_end(shared.0, outcome) }
        };
        let statuses = thread::scope(|scope| {
            [scope.spawn(end), scope.spawn(end)].map(|thread| thread.join().expect("no panic"))
        });
        let ends = statuses.iter().filter(|status| matches!(**status, TRIPCOIL_OK | TRIPCOIL_INVALID_HANDLE));
        assert_eq!(ends.count(), usize::from(self.open), "{statuses:?}");
        self.open = false;
    }
}
