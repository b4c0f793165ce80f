//! Registries: names to resources, rules to breakers.

use std::rc::Rc;
use std::sync::Arc;

use napi::bindgen_prelude::{Either, Function, Uint8Array};
use napi::{Error, Result, Status};
use napi_derive::napi;
use tripcoil::{Document, Faults, Registry, Scope};

use crate::calls::{Calls, Leave, Seat};
use crate::change::Change;
use crate::clock::NativeClock;
use crate::names;
use crate::observer::{Inbox, Observer};
use crate::pulse;
use crate::report::{Fault, Ignored, Loaded, into_all};
use crate::resource::{NativeResource, Reason, reason};
use crate::rule::{Rule, RuleOptions, build_all};
use crate::time::{count, millis};

/// The text of a document: a string, or its bytes in UTF-8. Without a name of its own, which the generated types would
/// use and not explain.
fn bytes(text: &Either<String, Uint8Array>) -> &[u8] {
    match text {
        Either::A(text) => text.as_bytes(),
        Either::B(bytes) => bytes,
    }
}

/// An environment's handle of a registry.
#[napi]
pub struct NativeRegistry {
    registry: Registry,
    inbox: Arc<Inbox>,
    observer: Option<Observer>,
    /// Of the last call by name.
    named: Option<Rc<Seat>>,
}

/// What a document may take; whole numbers.
#[napi(object)]
pub struct Limits {
    /// The bytes of a document.
    pub document_bytes: f64,
    /// The rules of a document.
    pub rules: f64,
    /// The bytes of one compiled pattern.
    pub pattern_bytes: f64,
    /// The bytes of all of a document.
    pub patterns_bytes: f64,
    /// The faults, and the warnings, that are listed.
    pub listed: f64,
}

/// What a document holds.
#[napi(object, object_from_js = false)]
pub(crate) struct ReadRules {
    /// The valid rules.
    pub rules: Vec<Rule>,
    /// The valid rules, normalised, in Sentinel's fields: a list in JSON.
    pub json: String,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// What is ignored.
    pub warnings: Vec<Ignored>,
}

/// Reads a document of ordinary rules, and loads nothing.
#[napi(catch_unwind)]
pub(crate) fn read_rules(text: Either<String, Uint8Array>) -> ReadRules {
    let Document { rules, faults, warnings, .. } = Document::parse(bytes(&text), Scope::Ordinary);
    let json: Vec<String> = rules.iter().map(|rule| rule.to_json()).collect();
    ReadRules {
        rules: rules.iter().map(Rule::from).collect(),
        json: format!("[{}]", json.join(",")),
        faults: into_all(faults),
        warnings: into_all(warnings),
    }
}

fn invalid_name(error: tripcoil::NameError) -> Error {
    Error::new(Status::InvalidArg, error.to_string())
}

impl NativeRegistry {
    fn of(registry: Registry) -> Self {
        registry.notice(pulse::beat);
        let inbox = Arc::new(Inbox::default());
        Self { registry, inbox, observer: None, named: None }
    }

    /// Changes which rules guard what.
    fn change<T>(&self, change: impl FnOnce(&Registry) -> T) -> T {
        let done = change(&self.registry);
        pulse::beat();
        done
    }
}

#[napi]
impl NativeRegistry {
    /// A registry of its own. 0 resources: no limit.
    #[napi(constructor, catch_unwind)]
    pub fn new(clock: Option<&NativeClock>, max_resources: u32) -> Self {
        let mut builder = Registry::builder();
        if let Some(clock) = clock {
            builder = builder.clock(clock.0.clone());
        }
        if max_resources > 0 {
            builder = builder.max_resources(max_resources as usize);
        }
        Self::of(builder.build())
    }

    /// What rule documents may take.
    #[napi(getter, catch_unwind)]
    pub fn limits(&self) -> Limits {
        let limits = self.registry.limits();
        Limits {
            document_bytes: limits.document_bytes as f64,
            rules: limits.rules as f64,
            pattern_bytes: limits.pattern_bytes as f64,
            patterns_bytes: limits.patterns_bytes as f64,
            listed: limits.listed as f64,
        }
    }

    /// Sets what rule documents that are loaded from now on may take.
    #[napi(catch_unwind)]
    pub fn set_limits(&self, given: Limits) {
        let mut limits = tripcoil::Limits::default();
        limits.document_bytes = given.document_bytes as usize;
        limits.rules = given.rules as usize;
        limits.pattern_bytes = given.pattern_bytes as usize;
        limits.patterns_bytes = given.patterns_bytes as usize;
        limits.listed = given.listed as usize;
        self.registry.set_limits(limits);
    }

    /// A handle of the registry that the process shares, all its threads included.
    #[napi(factory, catch_unwind)]
    pub fn global() -> Self {
        Self::of(Registry::global().clone())
    }

    /// The resource of a name.
    #[napi(catch_unwind)]
    pub fn resource(&self, name: String) -> Result<NativeResource> {
        let resource = self.registry.resource(&name).map_err(invalid_name)?;
        Ok(NativeResource::new(Seat::new(resource, Arc::clone(&self.inbox))))
    }

    /// As `enter`, on the resource of a name. What is blocked always has a new reason.
    #[napi(catch_unwind)]
    pub fn enter_named(&mut self, name: String) -> Result<i32> {
        let resource = self.registry.resource(&name).map_err(invalid_name)?;
        let seat = Seat::new(resource, Arc::clone(&self.inbox));
        let token = Calls::of_thread().enter_at(&seat, Leave::Once);
        self.named = (token < 0).then_some(seat);
        Ok(token)
    }

    /// Why the last call by name was blocked, if it was.
    #[napi(catch_unwind)]
    pub fn reason_named(&self) -> Option<Reason> {
        reason(&self.named.as_ref()?.rejections)
    }

    /// How long, in ms, the last call by name has to wait, if it was blocked.
    #[napi(catch_unwind)]
    pub fn retry_after_named(&self) -> f64 {
        self.named.as_ref().map_or(f64::INFINITY, |seat| seat.rejections.retry_after())
    }

    /// Replaces all exact and regex rules.
    #[napi(catch_unwind)]
    pub fn load(&self, text: Either<String, Uint8Array>, lenient: bool) -> Loaded {
        self.change(|registry| match lenient {
            true => registry.load_json_lenient(bytes(&text)).into(),
            false => registry.load_json(bytes(&text)).into(),
        })
    }

    /// Replaces one resource's exact rules.
    #[napi(catch_unwind)]
    pub fn load_resource(&self, name: String, text: Either<String, Uint8Array>) -> Loaded {
        self.change(|registry| registry.load_resource_json(&name, bytes(&text))).into()
    }

    /// Replaces the default rules.
    #[napi(catch_unwind)]
    pub fn load_defaults(&self, text: Either<String, Uint8Array>) -> Loaded {
        self.change(|registry| registry.load_defaults_json(bytes(&text))).into()
    }

    /// Chooses the check of an older release, and replaces its rules.
    #[napi(catch_unwind)]
    pub fn load_legacy(&self, release: String, text: Either<String, Uint8Array>) -> Result<Loaded> {
        let known = names::release(&release);
        let release =
            known.ok_or_else(|| Error::new(Status::InvalidArg, format!("no release {release:?}")))?;
        Ok(self.change(|registry| registry.load_legacy(release, bytes(&text))).into())
    }

    /// Gives a resource rules of its own, beneath those that are loaded.
    #[napi(catch_unwind)]
    pub fn set_own(&self, name: String, text: Either<String, Uint8Array>) -> Loaded {
        self.change(|registry| registry.set_own_json(&name, bytes(&text))).into()
    }

    /// As `load`, `load_resource` and `set_own` (with a name), and `load_defaults` (with `*`), from objects. Where
    /// JavaScript has found faults already, `apply` is false, and only the others are looked for.
    #[napi(catch_unwind)]
    pub fn load_rules(
        &self,
        #[napi(ts_arg_type = "'ordinary' | 'resource' | 'own' | 'defaults'")] scope: String,
        name: String,
        rules: Vec<RuleOptions>,
        apply: bool,
    ) -> Loaded {
        type Load = fn(&Registry, &str, Vec<tripcoil::Rule>) -> std::result::Result<tripcoil::Report, Faults>;
        let (scope, load): (Scope<'_>, Load) = match scope.as_str() {
            "resource" => {
                (Scope::Resource(&name), |registry, name, rules| registry.load_resource_rules(name, rules))
            }
            "own" => (Scope::Resource(&name), |registry, name, rules| registry.set_own_rules(name, rules)),
            "defaults" => (Scope::Defaults, |registry, _, rules| registry.load_defaults(rules)),
            _ => (Scope::Ordinary, |registry, _, rules| registry.load_rules(rules)),
        };
        match build_all(&rules, scope) {
            Ok(rules) if apply => self.change(|registry| load(registry, &name, rules)).into(),
            Ok(_) => Loaded::refused(Vec::new()),
            Err(faults) => Loaded::refused(faults),
        }
    }

    /// Takes names out of the default rules' guard.
    #[napi(catch_unwind)]
    pub fn exclude(&self, names: Vec<String>) -> Result<()> {
        self.change(|registry| registry.exclude(names)).map_err(invalid_name)
    }

    /// Puts names back.
    #[napi(catch_unwind)]
    pub fn include(&self, names: Vec<String>) -> Result<()> {
        self.change(|registry| registry.include(names)).map_err(invalid_name)
    }

    /// The names that default rules do not guard.
    #[napi(catch_unwind)]
    pub fn excluded(&self) -> Vec<String> {
        self.registry.excluded()
    }

    /// All rules that are loaded.
    #[napi(catch_unwind)]
    pub fn rules(&self) -> Vec<Rule> {
        self.registry.rules().iter().map(|rule| Rule::from(&**rule)).collect()
    }

    /// The names of all known resources, sorted.
    #[napi(catch_unwind)]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.registry.resources().iter().map(|resource| resource.name().to_owned()).collect();
        names.sort_unstable();
        names
    }

    /// How many resources are known.
    #[napi(catch_unwind)]
    pub fn size(&self) -> f64 {
        self.registry.len() as f64
    }

    /// Calls that a bounded registry admitted unguarded.
    #[napi(catch_unwind)]
    pub fn unguarded_calls(&self) -> f64 {
        count(self.registry.unguarded_calls())
    }

    /// The time on the registry's clock in ms.
    #[napi(catch_unwind)]
    pub fn now(&self) -> f64 {
        millis(self.registry.now())
    }

    /// Begins to note changes, or ends that (without `wake`). `wake` is called when another thread has
    /// made some.
    #[napi(catch_unwind)]
    pub fn observe(&mut self, wake: Option<Function<'_, (), ()>>) -> Result<()> {
        self.observer = match wake {
            Some(wake) => Some(Observer::new(&self.registry, &self.inbox, &wake)?),
            None => None,
        };
        Ok(())
    }

    /// The next change that waits.
    #[napi(catch_unwind)]
    pub fn next_change(&self) -> Option<Change> {
        self.inbox.take().as_ref().map(Change::from)
    }

    /// How many changes were lost because nobody took them.
    #[napi(catch_unwind)]
    pub fn lost_changes(&self) -> f64 {
        count(self.inbox.lost())
    }
}
