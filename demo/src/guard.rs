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
    /// Guards the resource with Sentinel's `rules`, on the story's clock; `observer` is told of
    /// every state change. Fails with every fault of the rules.
    pub(crate) fn breaker(
        rules: &str,
        watch: Watch,
        observer: impl Fn(&Change) + Send + Sync + 'static,
    ) -> Result<Self, Box<dyn Error>> {
        let registry = Registry::builder().clock(watch).build();
        registry.load_json(rules)?;
        registry.observe("demo", observer);
        Ok(Self::Breaker(registry.resource(RESOURCE)?))
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
            Self::Breaker(resource) => resource.breakers().iter().map(|b| b.rule().strategy()).collect(),
        }
    }
}

/// Loads `rules` for the sake of their faults alone.
pub(crate) fn check(rules: &str) -> Result<(), Faults> {
    Registry::new().load_json(rules).map(drop)
}

/// What the clients call, as `rules.json` names it.
const RESOURCE: &str = "GET /stock";
