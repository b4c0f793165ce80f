//! What a runner is asked, and what it answers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tripcoil::Release;

/// Drives one implementation.
pub trait Runner {
    /// The name at the start of the runner's lines.
    fn name(&self) -> &str;

    /// Does the steps in order, in a fresh registry whose virtual clock is at 0: an observation a step.
    ///
    /// # Errors
    /// Why the implementation could not be asked; the case then differs as a whole.
    fn run(&mut self, steps: &[Step]) -> Result<Vec<Observation>, String>;

    /// Reads a document of ordinary rules, and loads nothing.
    ///
    /// # Errors
    /// As for [`Runner::run`].
    fn read(&mut self, text: &str) -> Result<Reading, String>;
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What the virtual clock is set to first; it may go back.
    pub at: Duration,
    /// What to do.
    pub op: Op,
    /// The resources whose breakers' states are asked for afterwards.
    pub watch: Vec<String>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Replaces rules by those of a document.
    Load {
        /// Which rules are replaced.
        scope: Scope,
        /// The document, JSON text.
        rules: String,
    },
    /// Asks for an entry.
    Enter {
        /// The name that later steps end it by.
        id: String,
        /// The resource.
        resource: String,
    },
    /// Ends an entry.
    Exit {
        /// The entry.
        id: String,
        /// Whether with an error.
        error: bool,
    },
    /// Ends an entry without an outcome.
    Cancel {
        /// The entry.
        id: String,
    },
    /// Ends an entry whose result is to be ignored.
    Ignore {
        /// The entry.
        id: String,
    },
    /// Sets the mode of one of a resource's breakers.
    SetMode {
        /// The resource.
        resource: String,
        /// The breaker's position among its resource's.
        rule: usize,
        /// The mode.
        mode: Mode,
    },
    /// Resets one of a resource's breakers.
    Reset {
        /// The resource.
        resource: String,
        /// The breaker's position among its resource's.
        rule: usize,
    },
    /// Takes a name out of the default rules' guard.
    Exclude {
        /// The resource.
        resource: String,
    },
    /// Puts an excluded name back.
    Include {
        /// The resource.
        resource: String,
    },
}

/// Which rules a load replaces.
#[derive(Clone, Debug, PartialEq)]
pub enum Scope {
    /// All rules that are not default rules.
    Ordinary,
    /// All default rules.
    Defaults,
    /// One resource's exact rules.
    Resource(String),
    /// The rules of the check that Sentinel made before release 1.8.
    Legacy(Release),
}

/// What an implementation did at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// What the operation came to.
    pub answer: Answer,
    /// The breakers' states of each resource that was to be watched.
    pub states: BTreeMap<String, Vec<State>>,
    /// What observers were told during the step, in order.
    pub events: Vec<Event>,
}

/// What an operation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The rules were loaded.
    Loaded,
    /// The rules were refused.
    Refused,
    /// There is an entry.
    Pass,
    /// The call was rejected.
    Block,
    /// The entry has ended.
    Ended,
    /// The entry had ended before.
    EndedBefore,
    /// There is no such entry: the call had been rejected.
    NoEntry,
    /// There is no such breaker.
    NoBreaker,
    /// A mode was set, a breaker reset, a name excluded or included.
    Done,
}

/// A breaker's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// Calls pass.
    Closed,
    /// Calls are rejected.
    Open,
    /// Probes pass.
    HalfOpen,
}

/// What a breaker is told to do, whatever its statistics say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Mode {
    /// The rule decides.
    Normal,
    /// Every call is rejected.
    ForcedOpen,
    /// Every call is admitted, and nothing trips.
    Disabled,
    /// Decides, and rejects nothing.
    ObserveOnly,
}

/// One change of a breaker's state, as told to an observer.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The resource's own name.
    pub resource: String,
    /// The breaker's position among its resource's.
    pub rule: usize,
    /// The state before.
    pub from: State,
    /// The state after.
    pub to: State,
    /// The value that made the breaker open.
    pub snapshot: Option<f64>,
    /// The modes before and after.
    pub modes: [Mode; 2],
}

/// What an implementation read in a rule document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The valid rules, each once, in Sentinel's fields with all defaults filled in.
    pub rules: Vec<Map<String, Value>>,
    /// Where each fault is.
    pub faults: Vec<FaultPlace>,
}

/// Where a fault is: the rule's position, or none for the whole document; the field, or none for the
/// whole rule.
pub type FaultPlace = (Option<usize>, Option<String>);
