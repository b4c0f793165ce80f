//! What stands between client and server: nothing, or the library. All else is the same.

use std::error::Error;

use tripcoil::{CallError, Change, Faults, Registry, Resource, Strategy};

use crate::watch::Watch;

/// The way a client's calls take.
pub(crate) enum Guard {
    None,
    Breaker(Resource),
}

impl Guard {
    /// Guards `resource` with Sentinel's `rules`, on the story's clock; `observer` is told of
    /// every state change. Fails with every fault of the rules.
    pub(crate) fn breaker(
        rules: &str,
        resource: &str,
        watch: Watch,
        observer: impl Fn(&Change) + Send + Sync + 'static,
    ) -> Result<Self, Box<dyn Error>> {
        let registry = Registry::builder().clock(watch).build();
        registry.load_json(rules)?;
        registry.observe("demo", observer);
        Ok(Self::Breaker(registry.resource(resource)?))
    }

    pub(crate) fn call<T, E: Error + 'static>(
        &self,
        request: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        match self {
            Self::None => request().map_err(CallError::Failed),
            Self::Breaker(resource) => resource.call(request),
        }
    }

    /// The rules that guard, in the order in which they are asked.
    pub(crate) fn rules(&self) -> Vec<Strategy> {
        match self {
            Self::None => Vec::new(),
            Self::Breaker(resource) => strategies(resource),
        }
    }
}

fn strategies(resource: &Resource) -> Vec<Strategy> {
    resource.breakers().iter().map(|breaker| breaker.rule().strategy()).collect()
}

/// Loads `rules` for the sake of their faults alone.
pub(crate) fn check(rules: &str) -> Result<(), Faults> {
    Registry::new().load_json(rules).map(drop)
}

/// What `rules` guard `resource` with, in the order in which it is asked.
pub(crate) fn rules_of(resource: &str, rules: &str) -> Result<Vec<Strategy>, Box<dyn Error>> {
    let registry = Registry::new();
    registry.load_json(rules)?;
    Ok(strategies(&registry.resource(resource)?))
}
