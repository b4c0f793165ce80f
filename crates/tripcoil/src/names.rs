//! Resources by name: found without a lock, added and taken out under the registry's.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use papaya::Equivalent;

use crate::ending;
use crate::resource::Inner;

/// All resources of a registry. A look-up in a table that changes pays for that with one more place in
/// memory to go to. So a copy that does not change, an edition, is made whenever there are twice as many
/// names as in the last one, and asked first.
///
/// What a thread has with the table is in a thread-local of the table's, which a thread that ends may have lost
/// already. Then names are still found, by a guard that needs none, but they cannot be added or taken out.
pub(crate) struct Names {
    all: papaya::HashSet<Named, RandomState>,
    hasher: RandomState,
    /// Edition `n` is made when there are 2^n names. Readers may be in an old one: they all stay, which is
    /// twice the memory of the newest.
    editions: Box<[OnceLock<HashTable<Arc<Inner>>>]>,
    newest: AtomicUsize,
}

impl Names {
    /// With no editions where names may be taken out: an edition would hold on to their resources.
    pub(crate) fn new(may_shrink: bool) -> Self {
        let editions = if may_shrink { 0 } else { usize::BITS as usize };
        Self {
            all: papaya::HashSet::default(),
            hasher: RandomState::default(),
            editions: (0..editions).map(|_| OnceLock::new()).collect(),
            newest: AtomicUsize::new(0),
        }
    }

    #[inline]
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Inner>> {
        // Relaxed: an edition is published by its cell, and one that is not found there is not needed.
        let edition = self.editions.get(self.newest.load(Ordering::Relaxed)).and_then(OnceLock::get);
        let printed = edition.and_then(|edition| {
            edition.find(self.hasher.hash_one(Name(name)), |resource| resource.name == name)
        });
        printed.map(Arc::clone).or_else(|| self.with(name, Arc::clone))
    }

    /// Adds a resource whose name is not there. One caller at a time.
    pub(crate) fn add(&self, resource: Arc<Inner>) {
        self.all.pin().insert(Named(resource));
        let count = self.len();
        if let (true, Some(edition)) = (count.is_power_of_two(), self.editions.get(count.ilog2() as usize)) {
            let _ = edition.set(self.print(count));
            self.newest.store(count.ilog2() as usize, Ordering::Relaxed);
        }
    }

    fn print(&self, count: usize) -> HashTable<Arc<Inner>> {
        let hash = |resource: &Arc<Inner>| self.hasher.hash_one(Name(&resource.name));
        let mut edition = HashTable::with_capacity(count);
        self.for_each(|resource| {
            edition.insert_unique(hash(resource), Arc::clone(resource), hash);
        });
        edition
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
