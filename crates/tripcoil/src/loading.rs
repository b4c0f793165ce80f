//! How a registry gets its rules.

use std::sync::{Arc, MutexGuard, PoisonError};

use crate::Rule;
use crate::bound::Bound;
use crate::registry::Registry;
use crate::rule_set::RuleSet;
use crate::rules::{Document, Faults, LegacyDocument, Limits, NameError, Release, Report, Scope, check_name};

/// Guarded by the registry's lock, under which resources are made and rules are loaded.
#[derive(Default)]
pub(crate) struct Loading {
    pub(crate) rules: RuleSet,
    pub(crate) bound: Option<Bound>,
    /// Who loads a file every few seconds mostly loads the same again.
    last: Option<Last>,
    limits: Limits,
}

/// The document that the exact and regex rules are from, the limits that it kept, and what was reported of it.
struct Last {
    text: Box<[u8]>,
    limits: Limits,
    report: Report,
}

impl Loading {
    /// Without rules.
    pub(crate) fn new(bound: Option<Bound>) -> Self {
        Self { bound, ..Self::default() }
    }
}

impl Registry {
    /// Sets what rule documents that are loaded from now on may take.
    pub fn set_limits(&self, limits: Limits) {
        self.loading().limits = limits;
    }

    /// What rule documents may take.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.loading().limits
    }

    /// Replaces all exact and regex rules by those of a JSON document, or, if anything in it is wrong,
    /// changes nothing.
    ///
    /// A rule that is loaded already keeps its breaker with state and window, and so does an edited one
    /// of the same id whose window keeps its shape (spec section 7).
    /// The document that is loaded already is only compared, unless the [limits](Registry::set_limits) are
    /// others since.
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
        let loading = self.loading();
        let limits = loading.limits;
        if let Some(last) = loading.last.as_ref().filter(|last| last.limits == limits && *last.text == *text)
            && would(&last.report)
        {
            return Ok(last.report.clone());
        }
        drop(loading);
        let read = rules(Document::parse_within(text, Scope::Ordinary, &limits));
        self.load_from(Some((text, limits)), Scope::Ordinary, read)
    }

    /// Replaces the exact rules of one resource; a rule with another resource, or with `regex`, is a fault.
    ///
    /// # Errors
    /// Every fault of the document: nothing is changed then.
    pub fn load_resource_json(&self, name: &str, text: impl AsRef<[u8]>) -> Result<Report, Faults> {
        let scope = Scope::Resource(name);
        self.load(scope, self.parse(text.as_ref(), scope).into_strict())
    }

    /// Replaces the default rules, whose resource is `*`: they guard every resource that no exact and no
    /// regex rule matches and that is not [excluded](Registry::exclude), each with breakers of its own.
    ///
    /// # Errors
    /// Every fault of the document: nothing is changed then.
    pub fn load_defaults_json(&self, text: impl AsRef<[u8]>) -> Result<Report, Faults> {
        self.load(Scope::Defaults, self.parse(text.as_ref(), Scope::Defaults).into_strict())
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
    /// resource gives its place away, and takes none for a name that it has no place for: it reports 0 then.
    ///
    /// # Errors
    /// Every rule that is not an exact one of the resource, or whose id another one has.
    pub fn set_own_rules(&self, name: &str, rules: impl IntoIterator<Item = Rule>) -> Result<Report, Faults> {
        let scope = Scope::Resource(name);
        self.set_own(name, Document::from_rules(rules.into_iter().collect(), scope).into_strict())
    }

    /// As [`Registry::set_own_rules`], from a JSON document.
    ///
    /// # Errors
    /// Every fault of the document: nothing is changed then.
    pub fn set_own_json(&self, name: &str, text: impl AsRef<[u8]>) -> Result<Report, Faults> {
        self.set_own(name, self.parse(text.as_ref(), Scope::Resource(name)).into_strict())
    }

    fn set_own(&self, name: &str, read: Result<(Vec<Rule>, Report), Faults>) -> Result<Report, Faults> {
        let (rules, report) = read?;
        let resource = self.resource(name).expect("the scope's name has been checked");
        if resource.is_unguarded() {
            return Ok(Report { rules: 0, ..report });
        }
        let loading = self.loading();
        resource.0.set_own_rules(rules.into_iter().map(Arc::new).collect());
        loading.rules.apply_to(&resource.0);
        Ok(report)
    }

    fn load(&self, scope: Scope<'_>, read: Result<(Vec<Rule>, Report), Faults>) -> Result<Report, Faults> {
        self.load_from(None, scope, read)
    }

    fn load_from(
        &self,
        text: Option<(&[u8], Limits)>,
        scope: Scope<'_>,
        read: Result<(Vec<Rule>, Report), Faults>,
    ) -> Result<Report, Faults> {
        let (rules, report) = read?;
        let mut loading = self.loading();
        if scope != Scope::Defaults {
            loading.last =
                text.map(|(text, limits)| Last { text: text.into(), limits, report: report.clone() });
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
        let (rules, report) =
            LegacyDocument::parse_within(text.as_ref(), release, &self.limits()).into_strict()?;
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

    fn parse(&self, text: &[u8], scope: Scope<'_>) -> Document {
        Document::parse_within(text, scope, &self.limits())
    }

    pub(crate) fn loading(&self) -> MutexGuard<'_, Loading> {
        self.0.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn apply(&self, loading: &Loading) {
        self.0.resources.for_each(|resource| loading.rules.apply_to(resource));
    }
}
