//! Names to resources, rules to breakers.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::bound::Bound;
use crate::change::Change;
use crate::clock::{Clock, Source};
use crate::ending;
use crate::handle::Resource;
use crate::loading::Loading;
use crate::names::Names;
use crate::observers::Observers;
use crate::resource::{Inner, Shared};
use crate::rules::{NameError, check_name};

/// Resources by name, and the rules that guard them. Clones are handles of one registry.
///
/// A resource is made when its name is first asked for, and guarded by the rules that are loaded for it
/// then and later. Looking up a known name takes no lock; the first use of a name and loading rules do.
#[derive(Clone)]
pub struct Registry(pub(crate) Arc<Core>);

pub(crate) struct Core {
    pub(crate) shared: Arc<Shared>,
    pub(crate) resources: Names,
    pub(crate) rules: Mutex<Loading>,
    /// Whether the number of resources is limited: then a look-up must mind eviction.
    bounded: bool,
}

/// Makes a [`Registry`] with a clock or a limit of its own.
#[must_use]
pub struct RegistryBuilder {
    clock: Source,
    max_resources: Option<usize>,
}

impl RegistryBuilder {
    /// The source of time. Default: [`MonotonicClock`](crate::MonotonicClock).
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Source::given(clock);
        self
    }

    /// The most resources that the registry keeps; at least 1. Default: no limit.
    ///
    /// A new name beyond that takes the place of a resource that nobody holds a handle or an entry of
    /// and whose breakers equal new ones: closed, in normal mode, with nothing counted in their windows.
    /// Where there is none, the new name's calls are admitted unguarded, and counted in
    /// [`Registry::unguarded_calls`]; a handle that was taken then stays unguarded, while a later look-up
    /// finds a place if one has become free. Looking for one may ask every resource.
    pub fn max_resources(mut self, limit: usize) -> Self {
        self.max_resources = Some(limit.max(1));
        self
    }

    /// The registry, without rules.
    #[must_use]
    pub fn build(self) -> Registry {
        let shared =
            Shared { clock: self.clock, observers: Observers::default(), unguarded: AtomicU64::new(0) };
        let bound = self.max_resources.map(Bound::new);
        Registry(Arc::new(Core {
            shared: Arc::new(shared),
            resources: Names::new(bound.is_some()),
            bounded: bound.is_some(),
            rules: Mutex::new(Loading::new(bound)),
        }))
    }
}

impl Registry {
    /// A registry of its own, on the system's monotonic clock, without a limit.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// For a registry with a clock or a limit.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder { clock: Source::System, max_resources: None }
    }

    /// The registry that a process shares.
    #[must_use]
    pub fn global() -> &'static Registry {
        static GLOBAL: OnceLock<Registry> = OnceLock::new();
        GLOBAL.get_or_init(Registry::new)
    }

    /// The resource of a name, made if it is new. Without a limit it is kept as long as the registry.
    ///
    /// A name that is new to a destructor that runs when its thread, or the process, has ended all but for that,
    /// is guarded by the rules, but kept by the handle alone.
    ///
    /// # Errors
    /// [`NameError`] unless the name is 1 to 1024 bytes, not blank, and without NUL.
    pub fn resource(&self, name: &str) -> Result<Resource, NameError> {
        match self.known(name) {
            Some(resource) => Ok(resource),
            None => self.make(name),
        }
    }

    /// The resource of a name that has been asked for before.
    #[inline]
    fn known(&self, name: &str) -> Option<Resource> {
        let resource = self.0.resources.get(name)?;
        if !self.0.bounded {
            return Some(Resource(resource));
        }
        Bound::is_kept(&resource).then_some(Resource(resource))
    }

    #[cold]
    fn make(&self, name: &str) -> Result<Resource, NameError> {
        check_name(name)?;
        let mut loading = self.loading();
        if let Some(known) = self.known(name) {
            return Ok(known);
        }
        let shared = Arc::clone(&self.0.shared);
        let Loading { rules, bound, .. } = &mut *loading;
        if ending::has_begun() {
            let resource = Arc::new(Inner::new(name, shared));
            rules.apply_to(&resource);
            return Ok(Resource(resource));
        }
        let now = || self.0.shared.clock.coarse();
        if bound.as_mut().is_some_and(|bound| !bound.make_room(&self.0.resources, name, now)) {
            return Ok(Resource(Arc::new(Inner::unguarded(name, shared))));
        }
        let resource = Arc::new(Inner::new(name, shared));
        rules.apply_to(&resource);
        self.0.resources.add(Arc::clone(&resource));
        Ok(Resource(resource))
    }

    /// The time on the registry's clock, that of [`Change::at`] and [`Trip::open_until`](crate::Trip).
    #[must_use]
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.0.shared.clock.now())
    }

    /// All resources that are known, in no order.
    #[must_use]
    pub fn resources(&self) -> Vec<Resource> {
        let mut found = Vec::with_capacity(self.len());
        self.0.resources.for_each(|resource| {
            let resource = Arc::clone(resource);
            if !self.0.bounded || Bound::is_kept(&resource) {
                found.push(Resource(resource));
            }
        });
        found
    }

    /// How many resources are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.resources.len()
    }

    /// Whether no resource is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many calls a bounded registry has admitted unguarded, for want of a place for their names.
    #[must_use]
    pub fn unguarded_calls(&self) -> u64 {
        self.0.shared.unguarded.load(Ordering::Relaxed)
    }

    /// Registers an observer under a name; one of the same name is replaced.
    ///
    /// It is told of every change after it has been made, with no lock held, on the thread that made it
    /// or on one that is telling of that breaker already: once each, and each breaker's in their order.
    /// It may use the library: what it changes is told when it has returned. A panic in it is
    /// contained, and counted in [`Registry::observer_panics`]. A slow one delays the thread that tells
    /// it, and what happens meanwhile to the same breaker waits in memory. That thread also tells what
    /// other threads change on the breaker until then: under a steady stream of changes, a slow observer
    /// may hold one call for long. Of a breaker whose rule has been removed, what was already waiting is
    /// told, and nothing more.
    ///
    /// ```
    /// use tripcoil::Registry;
    ///
    /// let registry = Registry::new();
    /// registry.observe("log", |change| {
    ///     println!("{}: {:?} -> {:?}", change.resource, change.from, change.to);
    ///     if let Some(trip) = &change.trip {
    ///         println!("{trip}");
    ///     }
    /// });
    /// assert!(registry.unobserve("log"));
    /// ```
    pub fn observe(&self, name: &str, observer: impl Fn(&Change) + Send + Sync + 'static) {
        self.0.shared.observers.set(name, Arc::new(observer));
    }

    /// Removes an observer, and says whether there was one. A thread that is telling it something at
    /// the time goes on to the end of that.
    pub fn unobserve(&self, name: &str) -> bool {
        self.0.shared.observers.remove(name)
    }

    /// How many times an observer has panicked.
    #[must_use]
    pub fn observer_panics(&self) -> u64 {
        self.0.shared.observers.panics()
    }

    /// How many times the registry's clock has panicked. Calls then went on at the time that it told last.
    #[must_use]
    pub fn clock_panics(&self) -> u64 {
        self.0.shared.clock.panics()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("resources", &self.len())
            .field("observers", &self.0.shared.observers)
            .finish_non_exhaustive()
    }
}
