//! The memory of a resource's breakers: slots that stay where they are and are used again.
//!
//! An admitted call holds the number of a slot and a permit, and no reference count, so a slot must
//! outlive every such call: slots are freed with their resource only. When a reload removes a rule, its
//! breaker is retired (whoever still holds a permit is late) and its slot may get another rule.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tripcoil_core::{Breaker, Head};

use crate::cells::Cells;
use crate::story::Story;

/// How many retired slots are left alone before the oldest may be used again, so that a call which is held
/// up in the last instructions of its completion does not add to the totals of another rule.
const QUARANTINE: usize = 16;

/// One breaker: its memory, and what is told of it. Aligned, so that what a healthy call needs is on as few
/// cache lines as it can be.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct Slot {
    cells: Cells,
    head: Head,
    story: Mutex<Story>,
}

impl Slot {
    #[inline]
    pub(crate) fn breaker(&self) -> Breaker<'_, Cells> {
        Breaker::new(&self.head, &self.cells)
    }

    /// What is told of the breaker. Never held while foreign code runs.
    pub(crate) fn story(&self) -> MutexGuard<'_, Story> {
        self.story.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A resource's slots, reached by number: the first by itself, since most resources have one rule, the
/// others in chunks that grow by doubling. Nothing moves, and a resource without rules has none, so that
/// what is looked up by name stays close together.
#[derive(Default)]
pub(crate) struct Slots {
    first: OnceLock<Box<Slot>>,
    more: Chunks,
}

#[derive(Default)]
struct Chunks(OnceLock<Box<Chunk>>);

struct Chunk {
    slots: Box<[Slot]>,
    next: Chunks,
}

impl Slots {
    /// The slot of this number, made with its chunk when the first of it is asked for.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &Slot {
        match number {
            0 => self.first.get_or_init(Box::default),
            _ => self.more.get(number as usize - 1),
        }
    }
}

impl Chunks {
    #[inline(never)]
    fn get(&self, mut number: usize) -> &Slot {
        let mut chunk = self.chunk(1);
        while number >= chunk.slots.len() {
            number -= chunk.slots.len();
            chunk = chunk.next.chunk(chunk.slots.len() * 2);
        }
        &chunk.slots[number]
    }

    fn chunk(&self, length: usize) -> &Chunk {
        self.0.get_or_init(|| {
            let slots = (0..length).map(|_| Slot::default()).collect();
            Box::new(Chunk { slots, next: Chunks::default() })
        })
    }
}

/// Which slots are free. Guarded by the lock under which a resource gets its rules.
#[derive(Default)]
pub(crate) struct Spare {
    made: u32,
    retired: Vec<u32>,
    /// Those that may be used again, by the buckets that they have room for: one resource may have hundreds
    /// of thousands, none of which fits.
    ripe: BTreeSet<(usize, u32)>,
}

impl Spare {
    /// A slot that nobody uses, with room for so many buckets.
    pub(crate) fn take(&mut self, slots: &Slots, buckets: usize) -> u32 {
        let ripe = self.retired.len().saturating_sub(QUARANTINE);
        self.ripe.extend(self.retired.drain(..ripe).map(|number| (slots.get(number).cells.room(), number)));
        let fits = self.ripe.range((buckets, 0)..).next().copied();
        if let Some(found) = fits {
            self.ripe.remove(&found);
            return found.1;
        }
        let number = self.made;
        self.made += 1;
        slots.get(number).cells.make(buckets);
        number
    }

    /// The breaker of this slot has been retired.
    pub(crate) fn give(&mut self, number: u32) {
        self.retired.push(number);
    }
}
