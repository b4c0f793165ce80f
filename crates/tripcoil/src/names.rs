//! Resources by name: found without a lock, added and taken out under the registry's.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use papaya::Equivalent;

use crate::edition::Edition;
use crate::ending;
use crate::resource::Inner;

/// All resources of a registry. A look-up in a table that changes pays for that with more places in memory to
/// go to. So a copy that does not change, an edition, is made whenever there are twice as many names as in the
/// last such one, and asked first; and once more before that, when as many look-ups as there are names have
/// asked it in vain for names that are newer.
///
/// What a thread has with the table is in a thread-local of the table's, which a thread that ends may have lost
/// already. Then names are still found, by a guard that needs none, but they cannot be added or taken out.
pub(crate) struct Names {
    all: papaya::HashSet<Named, RandomState>,
    hasher: RandomState,
    /// Edition `2n` is made when there are 2^n names, `2n + 1` on demand. Readers may be in an old one: they all
    /// stay, which is at most four times the memory of the newest.
    editions: Box<[OnceLock<Edition>]>,
    newest: AtomicUsize,
    /// How many look-ups have found what the newest edition has not. All accesses are relaxed, as those of
    /// `newest`: an edition is published by its cell, and one that is not found there is not needed.
    missed: AtomicUsize,
}

impl Names {
    /// With no editions where names may be taken out: an edition would hold on to their resources.
    pub(crate) fn new(may_shrink: bool) -> Self {
        let editions = if may_shrink { 0 } else { 2 * usize::BITS as usize };
        Self {
            all: papaya::HashSet::default(),
            hasher: RandomState::default(),
            editions: (0..editions).map(|_| OnceLock::new()).collect(),
            newest: AtomicUsize::new(0),
            missed: AtomicUsize::new(0),
        }
    }

    #[inline]
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Inner>> {
        let edition = self.editions.get(self.newest.load(Ordering::Relaxed)).and_then(OnceLock::get);
        match edition.and_then(|edition| edition.find(self.hash(name), name)) {
            Some(resource) => Some(Arc::clone(resource)),
            None => self.get_newer(name),
        }
    }

    #[inline(never)]
    fn get_newer(&self, name: &str) -> Option<Arc<Inner>> {
        let found = self.with(name, Arc::clone)?;
        let newest = self.newest.load(Ordering::Relaxed);
        if newest.is_multiple_of(2) && self.missed.fetch_add(1, Ordering::Relaxed) + 1 == self.len() {
            self.print(newest + 1);
        }
        Some(found)
    }

    #[inline]
    fn hash(&self, name: &str) -> u64 {
        self.hasher.hash_one(Name(name))
    }

    /// Adds a resource whose name is not there. One caller at a time.
    pub(crate) fn add(&self, resource: Arc<Inner>) {
        self.all.pin().insert(Named(resource));
        let count = self.len();
        if count.is_power_of_two() {
            self.print(2 * count.ilog2() as usize);
            self.missed.store(0, Ordering::Relaxed);
        }
    }

    /// Makes an edition of all names that there are.
    fn print(&self, number: usize) {
        let Some(place) = self.editions.get(number) else { return };
        let mut resources = Vec::with_capacity(self.len());
        self.for_each(|resource| resources.push((self.hash(&resource.name), Arc::clone(resource))));
        let _ = place.set(Edition::of(resources.into_iter()));
        self.newest.fetch_max(number, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, name: &str) {
        self.all.pin().remove(&Name(name));
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Calls `each` with all resources, in no order.
    pub(crate) fn for_each(&self, mut each: impl FnMut(&Arc<Inner>)) {
        self.all.iter(&self.all.owned_guard()).for_each(|named| each(&named.0));
    }

    /// What a look-up of `name` finds, without a reference of its own.
    #[inline(never)]
    pub(crate) fn with<R>(&self, name: &str, look: impl FnOnce(&Arc<Inner>) -> R) -> Option<R> {
        if ending::has_begun() {
            let guard = self.all.owned_guard();
            return self.all.get(&Name(name), &guard).map(|named| look(&named.0));
        }
        let guard = self.all.guard();
        ending::running();
        self.all.get(&Name(name), &guard).map(|named| look(&named.0))
    }
}

/// A resource, known by the name in it.
struct Named(Arc<Inner>);

impl Hash for Named {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Name(&self.0.name).hash(state);
    }
}

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Named {}

/// A name to be found. Hashed as its bytes alone: nothing else is hashed with it that it could run into.
struct Name<'a>(&'a str);

impl Hash for Name<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.0.as_bytes());
    }
}

impl Equivalent<Named> for Name<'_> {
    #[inline]
    fn equivalent(&self, named: &Named) -> bool {
        self.0 == named.0.name
    }
}
