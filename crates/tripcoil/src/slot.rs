//! The memory of a resource's breakers: slots that stay where they are and are used again.
//!
//! An admitted call holds the number of a slot and a permit, and no reference count, so a slot must
//! outlive every such call: slots are freed with their resource only. When a reload removes a rule, its
//! breaker is retired (whoever still holds a permit is late) and its slot may get another rule.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tripcoil_core::{Breaker, Bucket, Head};

use crate::cells::Stripes;
use crate::story::Story;

/// How many retired slots are left alone before the oldest may be used again, so that a call which is held
/// up in the last instructions of its completion does not add to the totals of another rule.
const QUARANTINE: usize = 16;

/// One breaker: its memory, and what is told of it. In one piece and aligned, so that a healthy call needs
/// two cache lines of it: the first, and that of its bucket.
#[repr(C, align(64))]
pub(crate) struct Slot<B: ?Sized = [Bucket]> {
    /// How often threads have met at one word.
    pub(crate) meetings: AtomicU32,
    head: Head,
    story: Mutex<Story>,
    pub(crate) stripes: Stripes,
    pub(crate) buckets: B,
}

impl Slot {
    #[inline]
    pub(crate) fn breaker(&self) -> Breaker<'_, Slot> {
        Breaker::new(&self.head, self)
    }

    /// What is told of the breaker. Never held while foreign code runs.
    pub(crate) fn story(&self) -> MutexGuard<'_, Story> {
        self.story.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A slot with room for so many buckets, at times for a third more: memory of a length that is known
    /// only when the program runs is not in one piece with others.
    fn with_room(buckets: usize) -> Box<Slot> {
        macro_rules! first_that_fits {
            ($($room:literal)*) => {
                $(if buckets <= $room {
                    return Box::new(Slot::<[Bucket; $room]>::of([const { Bucket::new() }; $room]));
                })*
            };
        }
        first_that_fits!(1 2 3 4 5 6 8 10 12 15 16 20 24 30 32 40 50 60 80 100 120 160 200 250 300 400 500 600 800);
        Box::new(Slot::<[Bucket; MAX_BUCKETS]>::of([const { Bucket::new() }; MAX_BUCKETS]))
    }
}

impl<B> Slot<B> {
    fn of(buckets: B) -> Self {
        Self {
            meetings: AtomicU32::new(0),
            head: Head::new(),
            story: Mutex::default(),
            stripes: Stripes::new(),
            buckets,
        }
    }
}

const MAX_BUCKETS: usize = tripcoil_core::Rule::MAX_BUCKETS as usize;

/// A resource's slots, reached by number: the first by itself, since most resources have one rule, the
/// others in chunks that grow by doubling. Nothing moves, and a resource whose rules have guarded no call has
/// none, so that what is looked up by name stays close together.
#[derive(Default)]
pub(crate) struct Slots {
    first: Place,
    more: Chunks,
}

type Place = OnceLock<Box<Slot>>;

#[derive(Default)]
struct Chunks(OnceLock<Box<Chunk>>);

struct Chunk {
    places: Box<[Place]>,
    next: Chunks,
}

impl Slots {
    /// The slot of this number, which has been made.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &Slot {
        self.place(number).get().expect("a slot is made before its number is given to anybody")
    }

    /// Makes the slot of this number, with room for so many buckets.
    fn make(&self, number: u32, buckets: usize) {
        self.place(number).get_or_init(|| Slot::with_room(buckets));
    }

    #[inline]
    fn place(&self, number: u32) -> &Place {
        match number {
            0 => &self.first,
            _ => self.more.place(number as usize - 1),
        }
    }
}

impl Chunks {
    #[inline(never)]
    fn place(&self, mut number: usize) -> &Place {
        let mut chunk = self.chunk(1);
        while number >= chunk.places.len() {
            number -= chunk.places.len();
            chunk = chunk.next.chunk(chunk.places.len() * 2);
        }
        &chunk.places[number]
    }

    fn chunk(&self, length: usize) -> &Chunk {
        self.0.get_or_init(|| {
            let places = (0..length).map(|_| Place::new()).collect();
            Box::new(Chunk { places, next: Chunks::default() })
        })
    }
}

/// Which slots are free. Guarded by the lock under which a resource gets its rules.
#[derive(Default)]
pub(crate) struct Spare {
    made: u32,
    retired: Option<Box<Retired>>,
}

#[derive(Default)]
struct Retired {
    last: Vec<u32>,
    /// Those that may be used again, by the buckets that they have room for: one resource may have hundreds
    /// of thousands, none of which fits.
    ripe: BTreeSet<(usize, u32)>,
}

impl Spare {
    /// Whether no slot has ever been taken.
    pub(crate) fn is_unused(&self) -> bool {
        self.made == 0
    }

    /// A slot that nobody uses, with room for so many buckets.
    pub(crate) fn take(&mut self, slots: &Slots, buckets: usize) -> u32 {
        let again = self.retired.as_mut().and_then(|retired| retired.take(slots, buckets));
        again.unwrap_or_else(|| {
            let number = self.made;
            self.made += 1;
            slots.make(number, buckets);
            number
        })
    }

    /// The breaker of this slot has been retired.
    pub(crate) fn give(&mut self, number: u32) {
        self.retired.get_or_insert_default().last.push(number);
    }
}

impl Retired {
    fn take(&mut self, slots: &Slots, buckets: usize) -> Option<u32> {
        let ripe = self.last.len().saturating_sub(QUARANTINE);
        self.ripe.extend(self.last.drain(..ripe).map(|number| (slots.get(number).buckets.len(), number)));
        let found = self.ripe.range((buckets, 0)..).next().copied()?;
        self.ripe.remove(&found);
        Some(found.1)
    }
}
