//! What differs between what was wanted of a case and what a runner saw.

use std::fmt;

use serde_json::{Map, Value};

use crate::runner::{Event, FaultPlace, Mode, Observation, Reading, Runner};
use crate::suite::{WantedEvent, WantedStep};

/// One difference. `Display` gives it on one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The runner.
    pub runner: String,
    /// The file's name.
    pub file: String,
    /// The case's name.
    pub case: String,
    /// The step's position, from 0; none for the case as a whole.
    pub step: Option<usize>,
    /// What differs.
    pub what: &'static str,
    /// What was wanted.
    pub wanted: String,
    /// What the runner saw.
    pub got: String,
}

impl Difference {
    /// What was found in a runner's case.
    #[must_use]
    pub fn new(runner: &dyn Runner, file: &str, case: &str, found: Found) -> Self {
        let (step, what, wanted, got) = found;
        let (runner, file, case) = (runner.name().to_owned(), file.to_owned(), case.to_owned());
        Self { runner, file, case, step, what, wanted, got }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}: ", self.runner, self.file, self.case)?;
        if let Some(step) = self.step {
            write!(f, "step {step}: ")?;
        }
        write!(f, "{}: wanted {}, got {}", self.what, self.wanted, self.got)
    }
}

/// A difference within a case: the step, what, wanted, got.
pub type Found = (Option<usize>, &'static str, String, String);

/// The differences of a case's steps, in order.
#[must_use]
pub fn compare(wanted: &[WantedStep], got: &[Observation]) -> Vec<Found> {
    let mut found = Vec::new();
    for (position, (wanted, got)) in wanted.iter().zip(got).enumerate() {
        let mut note = |what, wanted, got| found.push((Some(position), what, wanted, got));
        if wanted.answer != got.answer {
            note("answer", format!("{:?}", wanted.answer), format!("{:?}", got.answer));
        }
        for (resource, states) in &wanted.states {
            let seen = got.states.get(resource);
            if seen != Some(states) {
                let seen = seen.map_or("nothing".to_owned(), |seen| format!("{resource} {seen:?}"));
                note("states", format!("{resource} {states:?}"), seen);
            }
        }
        if let Some(wanted) = &wanted.events
            && !same_events(wanted, &got.events)
        {
            note("events", list(wanted.iter().map(show_wanted)), list(got.events.iter().map(show)));
        }
    }
    if wanted.len() != got.len() {
        found.push((None, "steps done", wanted.len().to_string(), got.len().to_string()));
    }
    found
}

fn same_events(wanted: &[WantedEvent], got: &[Event]) -> bool {
    let same = |(wanted, got): (&WantedEvent, &Event)| {
        wanted.resource.as_ref().is_none_or(|resource| *resource == got.resource)
            && wanted.modes.is_none_or(|modes| modes == got.modes)
            && (wanted.rule, wanted.from, wanted.to, wanted.snapshot)
                == (got.rule, got.from, got.to, got.snapshot)
    };
    wanted.len() == got.len() && wanted.iter().zip(got).all(same)
}

/// The difference between the rules that were wanted, field by field, and what was read.
pub(crate) fn compare_rules(wanted: &[Map<String, Value>], got: &Reading) -> Vec<Found> {
    if !got.faults.is_empty() {
        return vec![(None, "faults", "none".to_owned(), show_faults(&got.faults))];
    }
    if wanted.len() != got.rules.len() {
        return vec![(None, "number of rules", wanted.len().to_string(), got.rules.len().to_string())];
    }
    let mut found = Vec::new();
    for (index, (wanted, got)) in wanted.iter().zip(&got.rules).enumerate() {
        for (field, value) in wanted {
            let seen = got.get(field).unwrap_or(&Value::Null);
            if !same_value(value, seen) {
                let named = |value| format!("rule {index} {field} {value}");
                found.push((None, "rules", named(value), named(seen)));
            }
        }
    }
    found
}

/// The difference between the faults that were wanted, in any order, and those found.
pub(crate) fn compare_faults(wanted: &[FaultPlace], got: &Reading) -> Vec<Found> {
    let sorted = |faults: &[FaultPlace]| {
        let mut faults = faults.to_vec();
        faults.sort();
        faults
    };
    let (wanted, got) = (sorted(wanted), sorted(&got.faults));
    if wanted == got {
        return Vec::new();
    }
    vec![(None, "faults", show_faults(&wanted), show_faults(&got))]
}

/// Numbers are compared by value: 1 and 1.0 are the same.
fn same_value(wanted: &Value, got: &Value) -> bool {
    match (wanted.as_f64(), got.as_f64()) {
        (Some(wanted), Some(got)) => wanted == got,
        _ => wanted == got,
    }
}

fn show_wanted(event: &WantedEvent) -> String {
    let resource = event.resource.as_ref().map(|name| format!("{name} ")).unwrap_or_default();
    let modes = event.modes.map(|[from, to]| format!(" {from:?} -> {to:?}")).unwrap_or_default();
    format!("{resource}{} {:?} -> {:?} {:?}{modes}", event.rule, event.from, event.to, event.snapshot)
}

fn show(event: &Event) -> String {
    let Event { resource, rule, from, to, snapshot, modes } = event;
    // As long as nobody has set one there is nothing to say.
    let modes = match modes {
        [Mode::Normal, Mode::Normal] => String::new(),
        [from, to] => format!(" {from:?} -> {to:?}"),
    };
    format!("{resource} {rule} {from:?} -> {to:?} {snapshot:?}{modes}")
}

fn show_faults(faults: &[FaultPlace]) -> String {
    list(faults.iter().map(|(index, field)| {
        let index = index.map_or("document".to_owned(), |index| format!("rule {index}"));
        format!("{index} {}", field.as_deref().unwrap_or("as a whole"))
    }))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}
