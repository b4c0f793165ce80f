//! Rules: documents in both forms, the typed builder, and what is said of faults.

mod builder;
mod documents;
mod fields;
mod legacy;
mod limits;
mod random;
mod rule;
mod vectors;

use tripcoil::{Document, Fault, Rule, Scope};

/// Reads an ordinary document.
fn parse(text: impl AsRef<[u8]>) -> Document {
    Document::parse(text.as_ref(), Scope::Ordinary)
}

/// The one rule of a document that is valid.
fn one(text: &str) -> Rule {
    let document = parse(text);
    assert_eq!(document.faults, [], "{text}");
    assert_eq!(document.rules.len(), 1, "{text}");
    document.rules[0].clone()
}

/// Position and field of each fault.
fn places(faults: &[Fault]) -> Vec<(Option<usize>, Option<&str>)> {
    faults.iter().map(|fault| (fault.index, fault.field.as_deref())).collect()
}

/// Asserts that the fields are what is wrong with the document's only rule.
fn assert_wrong(text: &str, fields: &[&str]) {
    let document = parse(text);
    let wanted: Vec<_> = fields.iter().map(|field| (Some(0), Some(*field))).collect();
    assert_eq!(places(&document.faults), wanted, "{text}");
    assert_eq!(document.rules, [], "{text}");
    assert!(!document.unreadable, "{text}");
}

/// Asserts that the document as a whole is refused, on that line, for a reason with these words.
fn assert_refused(text: impl AsRef<[u8]>, line: Option<usize>, words: &str) {
    let document = parse(text.as_ref());
    let shown = String::from_utf8_lossy(&text.as_ref()[..text.as_ref().len().min(200)]);
    assert!(document.unreadable, "{shown}");
    assert_eq!(places(&document.faults), [(None, None)], "{shown}");
    assert_eq!(document.faults[0].line, line, "{shown}");
    let message = document.faults[0].to_string();
    assert!(message.contains(words), "{shown}: {message}");
    assert_eq!(document.rules, []);
}

/// A valid error-ratio rule of Sentinel's form with more fields: `, "field": value`.
fn sentinel(more: &str) -> String {
    format!(r#"{{"resource": "r", "grade": 1, "count": 0.5, "timeWindow": 10{more}}}"#)
}

/// A valid error-ratio rule of sentinel-golang's form with more fields.
fn go(more: &str) -> String {
    format!(r#"{{"resource": "r", "strategy": 1, "threshold": 0.5, "retryTimeoutMs": 3000{more}}}"#)
}
