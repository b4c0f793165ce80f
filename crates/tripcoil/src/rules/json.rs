//! From the bytes of a document to the fields of its rules, each with its line.
//!
//! serde_json judges the syntax and finds where each value begins and ends; a value is decoded
//! only when its turn comes, so numbers keep their digits, and a document takes little more memory
//! than its text.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fault::{Fault, Faults, shown};
use super::limits::Limits;

/// A rule as it stands in the document.
pub(super) struct Item<'t> {
    pub(super) raw: &'t str,
    pub(super) line: usize,
    /// `None` if it is no object.
    pub(super) members: Option<Vec<Member<'t>>>,
}

/// A field of a rule as it stands in the document.
pub(super) struct Member<'t> {
    pub(super) name: Cow<'t, str>,
    pub(super) raw: &'t str,
    pub(super) line: usize,
    pub(super) value: Value<'t>,
}

/// A decoded value; no field holds a list or an object.
#[derive(Debug, PartialEq)]
pub(super) enum Value<'t> {
    Null,
    Bool(bool),
    Number(&'t str),
    Text(Cow<'t, str>),
    Nested,
}

/// Hands each rule of a document, with its position, to `each`.
///
/// Fails where the document as a whole is at fault, which may show after some rules have been
/// handed over.
pub(super) fn each_rule(
    document: &[u8],
    limits: &Limits,
    mut each: impl FnMut(usize, &Item<'_>),
) -> Result<(), Faults> {
    let text = text(document, limits.document_bytes)?;
    check_depth(text)?;
    let mut cursor = Cursor { text, offset: 0, line: 1 };
    // A list is not looked at as a whole first: it may be long.
    if text.trim_ascii_start().starts_with('[') {
        let rules = cursor.parse::<Vec<&RawValue>>(text, 1)?;
        if rules.len() > limits.rules {
            let value = format!("a list of {} rules", rules.len());
            return Err(refused(Some(value), format!("a list of at most {}", limits.rules), 1));
        }
        for (index, rule) in rules.into_iter().enumerate() {
            each(index, &cursor.item(rule.get())?);
        }
        return Ok(());
    }
    let root = cursor.parse::<&RawValue>(text, 1)?.get();
    match root.as_bytes().first() {
        Some(b'{') => {
            each(0, &cursor.item(root)?);
            Ok(())
        }
        _ => {
            let line = cursor.line_of(root);
            Err(refused(Some(shown(root)), "a list of rules, or one rule", line))
        }
    }
}

/// The document as text, without a byte order mark.
fn text(document: &[u8], max_bytes: usize) -> Result<&str, Faults> {
    if document.len() > max_bytes {
        // Not how many: a reader may have stopped as soon as there were too many.
        let value = format!("a text of more than {max_bytes} bytes");
        return Err(Fault::document(Some(value), "shorter".to_owned(), None).into());
    }
    let text = std::str::from_utf8(document).map_err(|error| {
        let valid = document.get(..error.valid_up_to()).unwrap_or_default();
        refused(None, "UTF-8", 1 + newlines(valid))
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn refused(value: Option<String>, allowed: impl Into<String>, line: usize) -> Faults {
    Fault::document(value, allowed.into(), Some(line)).into()
}

/// Refuses more brackets open at once than the limit, before anything recurses over them.
fn check_depth(text: &str) -> Result<(), Faults> {
    const MAX_DEPTH: usize = 64;
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            let line = 1 + newlines(text.as_bytes().get(..offset).unwrap_or_default());
            let allowed = format!("JSON with at most {MAX_DEPTH} brackets open at once");
            return Err(refused(None, allowed, line));
        }
    }
    Ok(())
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// Tells the lines of values, which are visited in the order of the text.
struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
}

impl<'t> Cursor<'t> {
    /// The line on which a part of the text begins.
    fn line_of(&mut self, part: &str) -> usize {
        let offset = part.as_ptr().addr() - self.text.as_ptr().addr();
        let between = self.text.as_bytes().get(self.offset..offset);
        self.line += newlines(between.unwrap_or_default());
        self.offset = self.offset.max(offset);
        self.line
    }

    fn item(&mut self, raw: &'t str) -> Result<Item<'t>, Faults> {
        let line = self.line_of(raw);
        if !raw.starts_with('{') {
            self.value(raw, line)?;
            return Ok(Item { raw, line, members: None });
        }
        let mut members = Vec::new();
        for (name, raw) in self.parse::<Members<'t>>(raw, line)?.0 {
            let raw = raw.get();
            let line = self.line_of(raw);
            let value = self.value(raw, line)?;
            members.push(Member { name, raw, line, value });
        }
        Ok(Item { raw, line, members: Some(members) })
    }

    /// Decodes a value.
    fn value(&mut self, raw: &'t str, line: usize) -> Result<Value<'t>, Faults> {
        Ok(match raw.as_bytes().first() {
            Some(b'n') => Value::Null,
            Some(b't') => Value::Bool(true),
            Some(b'f') => Value::Bool(false),
            Some(b'"') => Value::Text(self.parse::<Text<'t>>(raw, line)?.0),
            Some(b'[' | b'{') => {
                self.check_nested(raw)?;
                Value::Nested
            }
            _ => Value::Number(raw),
        })
    }

    /// Checks the strings and the keys within a list or an object, whose syntax is known to be
    /// valid: once over the text, however deep it is.
    fn check_nested(&mut self, raw: &'t str) -> Result<(), Faults> {
        // For each open bracket the keys so far, of which a list has none.
        let mut open = Vec::<HashSet<String>>::new();
        let mut rest = raw;
        while let Some(start) = rest.find(['[', '{', ']', '}', '"']) {
            let (_, token) = rest.split_at(start);
            let length = match token.as_bytes().first() {
                Some(b'"') => string_length(token),
                _ => 1,
            };
            let (token, after) = token.split_at(length);
            rest = after;
            match token {
                "[" | "{" => open.push(HashSet::new()),
                "]" | "}" => drop(open.pop()),
                string => {
                    let line = self.line_of(string);
                    let text = self.parse::<String>(string, line)?;
                    let keys = open.last_mut().filter(|_| after.trim_start().starts_with(':'));
                    if let Some(keys) = keys {
                        if keys.contains(&text) {
                            return Err(refused(None, format!("JSON: {}", repeated(&text)), line));
                        }
                        keys.insert(text);
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads a part of the text that begins on `line`; what is wrong there is a fault of the
    /// whole document.
    fn parse<T: Deserialize<'t>>(&self, part: &'t str, line: usize) -> Result<T, Faults> {
        serde_json::from_str(part).map_err(|error| {
            let line = line + error.line().saturating_sub(1);
            let message = error.to_string();
            let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
            refused(None, format!("JSON: {reason}"), line)
        })
    }
}

/// The bytes of the string that a text begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn repeated(key: &str) -> String {
    format!("the key \"{}\" is repeated", shown(key))
}

/// The members of an object in their order, no key twice.
struct Members<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor).map(Members)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        // As many as a rule may have are compared with each other; more are not to take for ever.
        const FEW: usize = 32;
        let mut members: Self::Value = Vec::with_capacity(8);
        let mut seen = HashSet::new();
        while let Some(Text(key)) = map.next_key()? {
            if members.len() == FEW {
                seen.extend(members.iter().map(|(key, _)| key.clone()));
            }
            let repeats = match members.len() {
                0..FEW => members.iter().any(|(known, _)| *known == key),
                _ => !seen.insert(key.clone()),
            };
            if repeats {
                return Err(A::Error::custom(repeated(&key)));
            }
            members.push((key, map.next_value::<&RawValue>()?));
        }
        Ok(members)
    }
}

/// A string, which is taken as it stands in the text where it has no escapes.
struct Text<'t>(Cow<'t, str>);

impl<'de: 't, 't> Deserialize<'de> for Text<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor).map(Text)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}
