//! What is wrong with a document, told so that the place can be found and mended.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::ops::Deref;

/// One thing that is wrong with a document, or with the options of a rule.
///
/// Its `Display` is one line, whatever the document holds:
/// `rule 2 (resource "stock"), field count: -0.1 is not allowed; it must be a finite number from 0
/// to 1 (line 14)`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The rule's position in its list, from 0; `None` for a fault of the whole document, and for
    /// a rule that was not part of a list.
    pub index: Option<usize>,
    /// The rule's resource, where it has a valid one.
    pub resource: Option<String>,
    /// The field, as the document or the builder spells it; `None` for the whole rule or document.
    pub field: Option<String>,
    /// What stands there, shortened, on one line; `None` where something is missing.
    pub value: Option<String>,
    /// What is allowed there, to be read after "it must be".
    pub allowed: String,
    /// The line of the field, or else of the rule, from 1; `None` for rules that are no text.
    pub line: Option<usize>,
}

impl Fault {
    /// A fault of the whole document.
    pub(super) fn document(value: Option<String>, allowed: String, line: Option<usize>) -> Fault {
        Fault { index: None, resource: None, field: None, value, allowed, line }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = place(self.index, self.resource.as_deref(), self.field.as_deref());
        let allowed = &self.allowed;
        match (&self.value, &self.field) {
            (Some(value), _) => write!(f, "{place}: {value} is not allowed; it must be {allowed}"),
            (None, Some(_)) => write!(f, "{place}: missing; it must be {allowed}"),
            (None, None) => write!(f, "{place}: it must be {allowed}"),
        }?;
        write_line(f, self.line)
    }
}

impl Error for Fault {}

/// Every fault of a document, or of a rule's options; never empty.
///
/// Dereferences to a slice of [`Fault`]; its `Display` has a line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// The faults as an error, if there are any.
    pub(crate) fn check(faults: Vec<Fault>) -> Result<(), Faults> {
        if faults.is_empty() { Ok(()) } else { Err(Faults(faults)) }
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Faults {
        Faults(vec![fault])
    }
}

impl From<Faults> for Vec<Fault> {
    fn from(faults: Faults) -> Vec<Fault> {
        faults.0
    }
}

impl Deref for Faults {
    type Target = [Fault];

    fn deref(&self) -> &[Fault] {
        &self.0
    }
}

impl IntoIterator for Faults {
    type Item = Fault;
    type IntoIter = std::vec::IntoIter<Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Faults {
    type Item = &'a Fault;
    type IntoIter = std::slice::Iter<'a, Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, fault) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_char('\n')?;
            }
            fault.fmt(f)?;
        }
        Ok(())
    }
}

impl Error for Faults {}

/// Something in a document that is allowed, but does nothing.
///
/// Its `Display` is one line: `rule 0 (resource "stock"), field gmtCreate: unknown, not used
/// (line 3)`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The rule's position in its list, from 0.
    pub index: Option<usize>,
    /// The rule's resource, where it has a valid one.
    pub resource: Option<String>,
    /// The field, as the document spells it, shortened.
    pub field: Option<String>,
    /// What stands there, shortened, on one line.
    pub value: Option<String>,
    /// What becomes of it, and why.
    pub note: String,
    /// The line of the field, from 1.
    pub line: Option<usize>,
}

impl Warning {
    /// A warning of the whole document.
    pub(super) fn document(note: String) -> Warning {
        Warning { index: None, resource: None, field: None, value: None, note, line: None }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = place(self.index, self.resource.as_deref(), self.field.as_deref());
        write!(f, "{place}: {}", self.note)?;
        write_line(f, self.line)
    }
}

/// What a load did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How many rules were taken; the same rule twice counts once.
    pub rules: usize,
    /// What was wrong with the rules that were not taken; empty after a strict load.
    pub faults: Vec<Fault>,
    /// What was ignored.
    pub warnings: Vec<Warning>,
}

/// A text as part of a one-line message: shortened, and without anything that could break the
/// line or reorder it on a terminal.
pub(super) fn shown(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let mut out = String::new();
    let mut chars = text.chars();
    for c in chars.by_ref().take(MAX_CHARS) {
        match c {
            '"' | '\'' | '\\' => out.push(c),
            _ => out.extend(c.escape_debug()),
        }
    }
    let left = chars.count();
    if left > 0 {
        // Writing to a string cannot fail.
        let _ = write!(out, "… ({} characters)", MAX_CHARS + left);
    }
    out
}

fn place(index: Option<usize>, resource: Option<&str>, field: Option<&str>) -> String {
    let resource = resource.map(|name| format!("resource \"{}\"", shown(name)));
    let rule = match (index, resource) {
        (Some(index), Some(resource)) => format!("rule {index} ({resource})"),
        (Some(index), None) => format!("rule {index}"),
        (None, Some(resource)) => resource,
        (None, None) if field.is_some() => "rule".to_owned(),
        (None, None) => "document".to_owned(),
    };
    match field {
        Some(field) => format!("{rule}, field {}", shown(field)),
        None => rule,
    }
}

fn write_line(f: &mut fmt::Formatter<'_>, line: Option<usize>) -> fmt::Result {
    match line {
        Some(line) => write!(f, " (line {line})"),
        None => Ok(()),
    }
}
