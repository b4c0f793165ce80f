//! Every trace vector, step by step, on the model.

mod sentinel;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use tripcoil_model::{MS, Model, ModelRule, Outcome, State};

#[test]
fn the_model_does_what_the_vectors_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    let mut steps = 0;
    let mut differences = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.ends_with(".json") || name == "rules.json" || name.starts_with("legacy-") {
            continue;
        }
        let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for case in file["cases"].as_array().unwrap() {
            let mut run = Run::new();
            for (position, step) in case["steps"].as_array().unwrap().iter().enumerate() {
                steps += 1;
                let (wanted, got) = run.step(step);
                if wanted != got {
                    differences.push(format!("{name} {} step {position}: {wanted} <> {got}", case["name"]));
                    break;
                }
            }
        }
    }
    assert!(steps > 10_000, "{steps} steps");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

struct Run {
    model: Model,
    entries: BTreeMap<String, usize>,
}

impl Run {
    fn new() -> Self {
        let mut model = Model::default();
        model.matches = Some(sentinel::matches);
        Self { model, entries: BTreeMap::new() }
    }

    /// What the vector says of a step, and what the model did.
    fn step(&mut self, step: &Value) -> (Value, Value) {
        let now = step["at"].as_u64().unwrap() * MS;
        let text = |field: &str| step[field].as_str().unwrap();
        let mut got = step.clone();
        match text("op") {
            "enter" => {
                let entry = self.model.enter(text("resource"), now);
                got["expect"] = json!(if entry.is_ok() { "pass" } else { "block" });
                self.entries.extend(entry.ok().map(|entry| (text("id").to_owned(), entry)));
            }
            "exit" if step["error"].as_bool().unwrap() => self.end(text("id"), Outcome::Bad, now),
            "exit" => self.end(text("id"), Outcome::Good, now),
            "cancel" => self.end(text("id"), Outcome::Cancelled, now),
            op => {
                let refused = self.load(op, step).is_err();
                assert_eq!(refused, step["refused"] == json!(true), "{step}");
            }
        }
        for (resource, states) in got.get_mut("states").and_then(Value::as_object_mut).into_iter().flatten() {
            *states = self.model.breakers(resource).iter().map(|breaker| name(breaker.state)).collect();
        }
        got["events"] = self.events(&step["events"]);
        (by_value(step.clone()), by_value(got))
    }

    fn end(&mut self, id: &str, outcome: Outcome, now: u64) {
        assert!(self.model.end(self.entries[id], outcome, None, now), "{id} has ended before");
    }

    fn load(&mut self, op: &str, step: &Value) -> Result<(), String> {
        let rules = step["rules"].as_array().unwrap().iter().map(sentinel::rule);
        let rules = rules.collect::<Result<Vec<ModelRule>, String>>()?;
        match op {
            "load" => self.model.ordinary = rules,
            "load_defaults" if rules.iter().any(|rule| rule.resource != "*") => {
                return Err("not *".to_owned());
            }
            "load_defaults" => self.model.defaults = rules,
            "load_resource" => {
                let resource = step["resource"].as_str().unwrap();
                self.model.ordinary.retain(|rule| rule.regex || rule.resource != resource);
                self.model.ordinary.extend(rules);
            }
            _ => panic!("unknown op {op}"),
        }
        self.model.reload();
        Ok(())
    }

    /// The events of the step, each in the fields that the vector has.
    fn events(&mut self, wanted: &Value) -> Value {
        let told = std::mem::take(&mut self.model.events);
        let named =
            wanted.as_array().is_some_and(|events| events.iter().any(|event| event["resource"].is_string()));
        let event = |(resource, rule, (from, to, snapshot)): (String, usize, tripcoil_model::Change)| {
            let mut event =
                json!({"rule": rule, "from": name(from.0), "to": name(to.0), "snapshot": snapshot});
            if named {
                event["resource"] = json!(resource);
            }
            event
        };
        told.into_iter().map(event).collect()
    }
}

/// Makes 1 and 1.0 the same.
fn by_value(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.into_iter().map(by_value).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, by_value(value))).collect(),
        other => other,
    }
}

fn name(state: State) -> Value {
    json!(match state {
        State::Closed => "CLOSED",
        State::Open => "OPEN",
        State::HalfOpen => "HALF_OPEN",
    })
}
