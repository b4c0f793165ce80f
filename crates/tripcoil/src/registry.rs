//! Names to resources, rules to breakers.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::Rule;
use crate::bound::Bound;
use crate::change::Change;
use crate::clock::{Clock, Source};
use crate::handle::Resource;
use crate::names::Names;
use crate::observers::Observers;
use crate::resource::{Inner, Shared};
use crate::rule_set::RuleSet;
use crate::rules::{Document, Faults, LegacyDocument, NameError, Release, Report, Scope, check_name};

/// Resources by name, and the rules that guard them. Clones are handles of one registry.
///
/// A resource is made when its name is first asked for, and guarded by the rules that are loaded for it
/// then and later. Looking up a known name takes no lock; the first use of a name and loading rules do.
#[derive(Clone)]
pub struct Registry(Arc<Core>);

struct Core {
    shared: Arc<Shared>,
    resources: Names,
    rules: Mutex<Loading>,
    /// Whether the number of resources is limited: then a look-up must mind eviction.
    bounded: bool,
}

/// Guarded by the registry's lock, under which resources are made and rules are loaded.
#[derive(Default)]
struct Loading {
    rules: RuleSet,
    bound: Option<Bound>,
    /// The document that the exact and regex rules are from, and what was reported of it. Who loads a file
    /// every few seconds mostly loads the same again.
    last: Option<(Box<[u8]>, Report)>,
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
        self.clock = Source::Given(Box::new(clock));
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
            rules: Mutex::new(Loading { bound, ..Loading::default() }),
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

    /// Replaces all exact and regex rules by those of a JSON document, or, if anything in it is wrong,
    /// changes nothing.
    ///
    /// A rule that is loaded already keeps its breaker with state and window, and so does an edited one
    /// of the same id whose window keeps its shape (spec section 7).
    /// The document that is loaded already is only compared.
    ///
    /// # Errors
    /// Every fault of the document.
    pub fn load_json(&self, text: impl AsRef<[u8]>) -> Result<Report, Faults> {
        self.load_text(text.as_ref(), |report| report.faults.is_empty(), Document::into_strict)
    }

    /// As [`Registry::load_json`], but takes the valid rules where some are not, as Sentinel does; the
    /// report has the faults of the others.
    ///
    /// # Errors
    /// The fault of a document that cannot be read as a whole: nothing is changed then.
    pub fn load_json_lenient(&self, text: impl AsRef<[u8]>) -> Result<Report, Faults> {
        self.load_text(text.as_ref(), |_| true, Document::into_lenient)
    }

    /// Loads a document, unless it is the one that has been loaded last, and `would` load it now.
    fn load_text(
        &self,
        text: &[u8],
        would: impl FnOnce(&Report) -> bool,
        rules: impl FnOnce(Document) -> Result<(Vec<Rule>, Report), Faults>,
    ) -> Result<Report, Faults> {
        if let Some((_, report)) = self.loading().last.as_ref().filter(|(last, _)| **last == *text)
            && would(report)
        {
            return Ok(report.clone());
        }
        let (rules, report) = rules(Document::parse(text, Scope::Ordinary))?;
        let mut loading = self.loading();
        loading.rules.set(rules);
        loading.last = Some((text.into(), report.clone()));
        self.apply(&loading);
        Ok(report)
    }

    /// Replaces the exact rules of one resource; a rule with another resource, or with `regex`, is a fault.
    ///
    /// # Errors
    /// Every fault of the document: nothing is changed then.
    pub fn load_resource_json(&self, name: &str, text: impl AsRef<[u8]>) -> Result<Report, Faults> {
        let scope = Scope::Resource(name);
        self.load(scope, Document::parse(text.as_ref(), scope).into_strict())
    }

    /// Replaces the default rules, whose resource is `*`: they guard every resource that no exact and no
    /// regex rule matches and that is not [excluded](Registry::exclude), each with breakers of its own.
    ///
    /// # Errors
    /// Every fault of the document: nothing is changed then.
    pub fn load_defaults_json(&self, text: impl AsRef<[u8]>) -> Result<Report, Faults> {
        self.load(Scope::Defaults, Document::parse(text.as_ref(), Scope::Defaults).into_strict())
    }

    /// As [`Registry::load_json`], from rules that have been built.
    ///
    /// # Errors
    /// Every rule whose id another one of the same resource has: nothing is changed then.
    pub fn load_rules(&self, rules: impl IntoIterator<Item = Rule>) -> Result<Report, Faults> {
        let rules = rules.into_iter().collect();
        self.load(Scope::Ordinary, Document::from_rules(rules, Scope::Ordinary).into_strict())
    }

    /// As [`Registry::load_resource_json`], from rules that have been built.
    ///
    /// # Errors
    /// Every rule that is not an exact one of the resource, or whose id another one has.
    pub fn load_resource_rules(
        &self,
        name: &str,
        rules: impl IntoIterator<Item = Rule>,
    ) -> Result<Report, Faults> {
        let scope = Scope::Resource(name);
        self.load(scope, Document::from_rules(rules.into_iter().collect(), scope).into_strict())
    }

    /// As [`Registry::load_defaults_json`], from rules that have been built.
    ///
    /// # Errors
    /// Every rule whose resource is not `*`, or whose id another one has.
    pub fn load_defaults(&self, rules: impl IntoIterator<Item = Rule>) -> Result<Report, Faults> {
        let rules = rules.into_iter().collect();
        self.load(Scope::Defaults, Document::from_rules(rules, Scope::Defaults).into_strict())
    }

    /// Gives a resource rules of its own, in the place of those it had: what the code that calls it says.
    ///
    /// They guard it while no exact and no regex rule that is loaded does, and default rules then do not.
    /// Loads leave them. They are kept with the resource: a bounded registry forgets them when the
    /// resource gives its place away, and takes none for a name that it has no place for.
    ///
    /// # Errors
    /// Every rule that is not an exact one of the resource, or whose id another one has.
    pub fn set_own_rules(&self, name: &str, rules: impl IntoIterator<Item = Rule>) -> Result<Report, Faults> {
        let scope = Scope::Resource(name);
        let (rules, report) = Document::from_rules(rules.into_iter().collect(), scope).into_strict()?;
        let resource = self.resource(name).expect("the scope's name has been checked");
        if !resource.is_unguarded() {
            let loading = self.loading();
            let rules: Vec<Arc<Rule>> = rules.into_iter().map(Arc::new).collect();
            resource.0.own_rules.store((!rules.is_empty()).then(|| Arc::new(rules)));
            loading.rules.apply_to(&resource.0);
        }
        Ok(report)
    }

    fn load(&self, scope: Scope<'_>, read: Result<(Vec<Rule>, Report), Faults>) -> Result<Report, Faults> {
        let (rules, report) = read?;
        let mut loading = self.loading();
        if scope != Scope::Defaults {
            loading.last = None;
        }
        match scope {
            Scope::Ordinary => loading.rules.set(rules),
            Scope::Defaults => loading.rules.set_defaults(rules),
            Scope::Resource(name) => {
                loading.rules.set_resource(name, rules);
                self.0.resources.with(name, |resource| loading.rules.apply_to(resource));
                return Ok(report);
            }
        }
        self.apply(&loading);
        Ok(report)
    }

    /// Chooses the check that Sentinel made before 1.8 for every resource, and replaces its rules (spec
    /// section 12). It is apart from the breakers, which are asked first, and takes a lock per resource.
    ///
    /// # Errors
    /// Every fault of the document: nothing is changed then.
    pub fn load_legacy(&self, release: Release, text: impl AsRef<[u8]>) -> Result<Report, Faults> {
        let (rules, report) = LegacyDocument::parse(text.as_ref(), release).into_strict()?;
        let mut loading = self.loading();
        loading.rules.set_legacy(release, rules);
        self.apply(&loading);
        Ok(report)
    }

    /// Takes names out of the default rules' guard: their default breakers are gone, with their state.
    ///
    /// # Errors
    /// [`NameError`] for the first name that no resource can have: nothing is changed then.
    pub fn exclude<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> Result<(), NameError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.iter().try_for_each(|name| check_name(name))?;
        let mut loading = self.loading();
        loading.rules.excluded().extend(names);
        self.apply(&loading);
        Ok(())
    }

    /// Puts excluded names back under the default rules' guard, with new breakers.
    ///
    /// # Errors
    /// [`NameError`] for the first name that no resource can have: nothing is changed then.
    pub fn include<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Result<(), NameError> {
        let names: Vec<N> = names.into_iter().collect();
        names.iter().try_for_each(|name| check_name(name.as_ref()))?;
        let mut loading = self.loading();
        for name in names {
            loading.rules.excluded().remove(name.as_ref());
        }
        self.apply(&loading);
        Ok(())
    }

    /// The names that default rules do not guard, in order.
    #[must_use]
    pub fn excluded(&self) -> Vec<String> {
        let mut names: Vec<String> = self.loading().rules.excluded().iter().cloned().collect();
        names.sort();
        names
    }

    /// All rules: exact ones, regex ones, [resources' own](Registry::set_own_rules) where none of these
    /// guards them, default ones.
    #[must_use]
    pub fn rules(&self) -> Vec<Arc<Rule>> {
        self.loading().rules.all(&self.0.resources)
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

    fn loading(&self) -> MutexGuard<'_, Loading> {
        self.0.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn apply(&self, loading: &Loading) {
        self.0.resources.for_each(|resource| loading.rules.apply_to(resource));
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
