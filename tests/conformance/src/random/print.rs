//! A case as a vector file has it.

use serde_json::{Value, json};

use super::RandomCase;
use crate::runner::{Answer, Op, Scope, Step};
use crate::suite::{WantedEvent, WantedStep};

/// The case as text, a line a step, to be put into a vector file.
#[must_use]
pub fn vector(case: &RandomCase) -> String {
    let steps = case.steps.iter().zip(&case.wanted);
    let lines: Vec<_> = steps.map(|(step, wanted)| format!("    {}", step_json(step, wanted))).collect();
    format!("  {{\"name\": \"seed-{}\",\n   \"steps\": [\n{}\n   ]}}", case.seed, lines.join(",\n"))
}

fn step_json(step: &Step, wanted: &WantedStep) -> Value {
    let (op, mut fields) = match &step.op {
        Op::Load { scope, rules } => load_json(scope, rules),
        Op::Enter { id, resource } => {
            let verdict = if wanted.answer == Answer::Pass { "pass" } else { "block" };
            ("enter", json!({"id": id, "resource": resource, "expect": verdict}))
        }
        Op::Exit { id, error } => ("exit", json!({"id": id, "error": error})),
        Op::Cancel { id } => ("cancel", json!({"id": id})),
        Op::Ignore { id } => ("ignore", json!({"id": id})),
        Op::SetMode { resource, rule, mode } => {
            ("set_mode", json!({"resource": resource, "rule": rule, "mode": mode}))
        }
        Op::Reset { resource, rule } => ("reset", json!({"resource": resource, "rule": rule})),
        Op::Exclude { resource } => ("exclude", json!({"resource": resource})),
        Op::Include { resource } => ("include", json!({"resource": resource})),
    };
    (fields["at"], fields["op"]) = (millis(step.at.as_nanos()), json!(op));
    if wanted.answer == Answer::Refused {
        fields["refused"] = json!(true);
    }
    fields["states"] = json!(wanted.states);
    fields["events"] = wanted.events.iter().flatten().map(event_json).collect();
    fields
}

fn load_json(scope: &Scope, rules: &str) -> (&'static str, Value) {
    let rules: Value = serde_json::from_str(rules).expect("a document that was made here");
    match scope {
        Scope::Defaults => ("load_defaults", json!({"rules": rules})),
        Scope::Resource(resource) => ("load_resource", json!({"resource": resource, "rules": rules})),
        // No random case has the legacy check.
        Scope::Ordinary | Scope::Legacy(_) => ("load", json!({"rules": rules})),
    }
}

/// Whole, or with the digits of a ns.
fn millis(nanos: u128) -> Value {
    match (nanos / 1_000_000, nanos % 1_000_000) {
        (ms, 0) => json!(ms as u64),
        _ => json!(nanos as f64 / 1e6),
    }
}

fn event_json(event: &WantedEvent) -> Value {
    let WantedEvent { resource, rule, from, to, snapshot, modes } = event;
    json!({"resource": resource, "rule": rule, "from": from, "to": to, "snapshot": snapshot, "modes": modes})
}
