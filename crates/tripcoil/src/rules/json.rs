//! From the bytes of a document to the fields of its rules, each with its line.
//!
//! serde_json judges the syntax of the whole text. What is known to be JSON needs no second parser: a scanner
//! walks over it once and hands out each value as it stands there, so numbers keep their digits, and a
//! document takes little more memory than its text.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::{Deserialize, IgnoredAny};

use super::fault::{Fault, Faults, shown};
use super::limits::Limits;

/// A rule as it stands in the document.
pub(super) struct Item<'t> {
    pub(super) raw: &'t str,
    pub(super) line: usize,
    /// `None` if it is no object.
    pub(super) members: Option<&'t [Member<'t>]>,
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
    // Recurses over nothing, however deep the text is.
    let _: IgnoredAny = parse(text, 1)?;
    let mut scanner = Scanner { text, offset: 0, line: 1 };
    let mut members = Vec::new();
    match scanner.peek() {
        Some(b'[') => {
            scanner.offset += 1;
            let mut rules = 0;
            while scanner.peek() != Some(b']') {
                let item = scanner.item(&mut members, 1)?;
                if rules < limits.rules {
                    each(rules, &item);
                }
                rules += 1;
                scanner.pass(b',');
            }
            if rules > limits.rules {
                let value = format!("a list of {rules} rules");
                return Err(refused(Some(value), format!("a list of at most {}", limits.rules), 1));
            }
        }
        Some(b'{') => each(0, &scanner.item(&mut members, 0)?),
        _ => return Err(refused(Some(shown(text.trim())), "a list of rules, or one rule", scanner.line)),
    }
    Ok(())
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
        refused(None, "UTF-8", 1 + valid.iter().filter(|byte| **byte == b'\n').count())
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn refused(value: Option<String>, allowed: impl Into<String>, line: usize) -> Faults {
    Fault::document(value, allowed.into(), Some(line)).into()
}

/// Reads a part of the text that begins on `line`; what is wrong there is a fault of the whole document.
fn parse<'t, T: Deserialize<'t>>(part: &'t str, line: usize) -> Result<T, Faults> {
    serde_json::from_str(part).map_err(|error| {
        let line = line + error.line().saturating_sub(1);
        let message = error.to_string();
        let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
        refused(None, format!("JSON: {reason}"), line)
    })
}

/// A place in a text that is known to be JSON, and its line.
struct Scanner<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
}

impl<'t> Scanner<'t> {
    /// The byte that the next token begins with.
    fn peek(&mut self) -> Option<u8> {
        let (space, byte) = self.rest().bytes().enumerate().find(|(_, byte)| {
            self.line += usize::from(*byte == b'\n');
            !byte.is_ascii_whitespace()
        })?;
        self.offset += space;
        Some(byte)
    }

    /// Goes over the next token if it is this byte.
    fn pass(&mut self, byte: u8) {
        self.offset += usize::from(self.peek() == Some(byte));
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.offset).unwrap_or_default()
    }

    /// A rule with so many brackets open around it.
    fn item<'m>(&mut self, members: &'m mut Vec<Member<'t>>, open: usize) -> Result<Item<'m>, Faults> {
        let is_object = self.peek() == Some(b'{');
        let (start, line) = (self.offset, self.line);
        if !is_object {
            self.value(open)?;
            return Ok(Item { raw: self.since(start), line, members: None });
        }
        self.offset += 1;
        members.clear();
        // As many as a rule may have are compared with each other; more are not to take for ever.
        const FEW: usize = 32;
        let mut seen = HashSet::new();
        while self.peek() == Some(b'"') {
            let name_line = self.line;
            let name = self.string()?;
            if members.len() == FEW {
                seen.extend(members.iter().map(|member| member.name.clone()));
            }
            let repeats = match members.len() {
                0..FEW => members.iter().any(|known| known.name == name),
                _ => !seen.insert(name.clone()),
            };
            if repeats {
                return Err(repeated(&name, name_line));
            }
            self.pass(b':');
            self.peek();
            let (start, line) = (self.offset, self.line);
            let value = self.value(open + 1)?;
            members.push(Member { name, raw: self.since(start), line, value });
            self.pass(b',');
        }
        self.pass(b'}');
        Ok(Item { raw: self.since(start), line, members: Some(members) })
    }

    /// Goes over the value that begins here, and decodes it.
    fn value(&mut self, open: usize) -> Result<Value<'t>, Faults> {
        let start = self.offset;
        Ok(match self.rest().as_bytes().first() {
            Some(b'"') => Value::Text(self.string()?),
            Some(b'[' | b'{') => {
                self.nested(open)?;
                Value::Nested
            }
            first => {
                let ends = |byte: u8| matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace();
                self.offset += self.rest().bytes().position(ends).unwrap_or(self.rest().len());
                match first {
                    Some(b'n') => Value::Null,
                    Some(b't') => Value::Bool(true),
                    Some(b'f') => Value::Bool(false),
                    _ => Value::Number(self.since(start)),
                }
            }
        })
    }

    /// Goes over the string that begins here; it is taken as it stands in the text where it has no escapes.
    fn string(&mut self) -> Result<Cow<'t, str>, Faults> {
        let start = self.offset;
        let mut escapes = false;
        let mut bytes = self.rest().bytes().skip(1);
        self.offset += 1;
        while let Some(byte) = bytes.next() {
            self.offset += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    escapes = true;
                    self.offset += bytes.next().map_or(0, |_| 1);
                }
                _ => {}
            }
        }
        let string = self.since(start);
        if escapes {
            // Which may be half of a surrogate pair.
            return parse::<String>(string, self.line).map(Cow::Owned);
        }
        Ok(Cow::Borrowed(string.get(1..string.len() - 1).unwrap_or_default()))
    }

    /// Goes over the list or the object that begins here, with so many brackets open around it: once, however
    /// deep it is. Its strings and keys are held to what holds for a rule's.
    fn nested(&mut self, around: usize) -> Result<(), Faults> {
        const MAX_DEPTH: usize = 64;
        // For each open bracket the keys so far, of which a list has none.
        let mut open = Vec::<HashSet<Cow<'t, str>>>::new();
        while let Some(byte) = self.peek() {
            if byte == b'"' {
                let line = self.line;
                let text = self.string()?;
                let keys = open.last_mut().filter(|_| self.peek() == Some(b':'));
                if let Some(keys) = keys
                    && let Some(text) = keys.replace(text)
                {
                    return Err(repeated(&text, line));
                }
                continue;
            }
            self.offset += 1;
            match byte {
                b'[' | b'{' if around + open.len() == MAX_DEPTH => {
                    let allowed = format!("JSON with at most {MAX_DEPTH} brackets open at once");
                    return Err(refused(None, allowed, self.line));
                }
                b'[' | b'{' => open.push(HashSet::new()),
                b']' | b'}' => drop(open.pop()),
                // Of numbers, literals, and what stands between values.
                _ => {}
            }
            if open.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

fn repeated(key: &str, line: usize) -> Faults {
    refused(None, format!("JSON: the key \"{}\" is repeated", shown(key)), line)
}
