//! Rule texts, and what must hold of whatever a text is read as.

use std::collections::HashSet;
use std::fmt;

use arbitrary::{Result, Unstructured};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use tripcoil::{Document, Fault, LegacyDocument, Release, Rule, Scope, Strategy};

/// Pieces that documents are made of, valid and not.
const PIECES: [&str; 27] = [
    "[", "]", "{", "}", ",", ":", "\"", "\\", "\n", " ", "\u{feff}", "null", "true", "1", "-", ".", "0", "e",
    "E400", "1e-400", "NaN", "\\ud800", "\\u0000", "\\\\", "é", "\0", "\u{2028}",
];
/// The fields of both forms and of the legacy check, one that nobody knows, and one spelled with an escape.
const FIELDS: [&str; 26] = [
    "resource",
    "grade",
    "count",
    "timeWindow",
    "strategy",
    "threshold",
    "retryTimeoutMs",
    "minRequestAmount",
    "slowRatioThreshold",
    "statIntervalMs",
    "limitApp",
    "regex",
    "statSlidingWindowBucketCount",
    "probeNum",
    "probeTimeoutMs",
    "inclusive",
    "backoffFactor",
    "maxRetryTimeoutMs",
    "id",
    "maxAllowedRtMs",
    "rtSlowRequestAmount",
    "app",
    "\\u0069d",
    "Id",
    "",
    "id ",
];
const VALUES: [&str; 48] = [
    "\"r\"",
    "1",
    "0.5",
    "10",
    "0",
    "2",
    "3",
    "true",
    "false",
    "null",
    "1.0",
    "1000",
    "1500",
    "7",
    "65535",
    "65536",
    "-1",
    "-0",
    "1e308",
    "1e400",
    "1e-400",
    "0.9999999999999999",
    "1.0000000000000002",
    "9007199254740991",
    "9007199254740992",
    "9007199254740991.5",
    "0.49999999999999994",
    "1e15",
    "10e-1",
    "1E+2",
    "86400000",
    "4",
    "\"*\"",
    "\"a.*\"",
    "\"a(?=b)\"",
    "\"(\"",
    "\"1\"",
    "\"\"",
    "\" \"",
    "\"\\u0000\"",
    "\"\\ud83d\\ude00\"",
    "\"\\udc00\"",
    "\"é\\n\"",
    "[]",
    "{}",
    "{\"a\":1,\"a\":2}",
    "[[\"\\ud800\"]]",
    "\"default\"",
];

/// A text: the bytes themselves, a heap of pieces, or a list of objects with fields and values.
///
/// # Errors
/// None in truth: bytes that have run out are zeros.
pub fn draw_text(bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut text = String::new();
    match bytes.int_in_range(0..=2)? {
        0 => return Ok(bytes.bytes(bytes.len())?.to_vec()),
        1 => {
            while !bytes.is_empty() {
                text.push_str(bytes.choose(&PIECES)?);
            }
        }
        _ => {
            let mut between = "[{";
            while !bytes.is_empty() {
                let field = usize::from(bytes.arbitrary::<u8>()?);
                let value = bytes.choose(&VALUES)?;
                match FIELDS.get(field % (FIELDS.len() + 1)) {
                    Some(field) => {
                        text.extend([between, "\"", field, "\":", value]);
                        between = ",";
                    }
                    None => {
                        text.push_str(if between == "," { "}\n" } else { between });
                        between = if between == "," { ",{" } else { "" };
                    }
                }
            }
            text.push_str("}]");
        }
    }
    Ok(text.into_bytes())
}

/// Reads a text in every way there is.
///
/// # Panics
/// Where what comes of it is not as it must be.
pub fn read_in_every_way(text: &[u8]) {
    let readable = is_readable(text);
    let lines = 1 + text.iter().filter(|byte| **byte == b'\n').count();
    let check_fault = |fault: &Fault| check_fault(fault, text, lines);
    for scope in [Scope::Ordinary, Scope::Defaults, Scope::Resource("r")] {
        let document = Document::parse(text, scope);
        assert_eq!(document.unreadable, !readable, "{document:?}");
        assert_eq!(document.unreadable, document.faults.iter().any(|fault| fault.index.is_none()));
        assert!(!document.unreadable || (document.faults.len(), document.rules.len()) == (1, 0));
        document.faults.iter().for_each(check_fault);
        document.warnings.iter().for_each(|warning| assert!(!warning.to_string().contains('\n')));
        check_printed(&document.rules, scope);
        let again = Document::from_rules(document.rules.clone(), scope);
        assert_eq!((again.rules, again.faults), (document.rules, vec![]));
    }
    for release in [Release::V1_6, Release::V1_7] {
        let document = LegacyDocument::parse(text, release);
        assert!(readable || (document.faults.len(), document.rules.len()) == (1, 0));
        document.faults.iter().for_each(check_fault);
    }
}

/// A fault says on one line where it is, in words that are the document's, and what is allowed there.
fn check_fault(fault: &Fault, text: &[u8], lines: usize) {
    let shown = fault.to_string();
    assert!(!shown.contains('\n'), "{shown}");
    let line = fault.line.map(|line| format!(" (line {line})")).unwrap_or_default();
    let before = shown.strip_suffix(&line).unwrap_or_default();
    assert!(!fault.allowed.is_empty() && before.ends_with(&fault.allowed), "{shown}");
    assert!(fault.line.is_none_or(|line| (1..=lines).contains(&line)), "{shown}");
    let mut rest = shown.as_str();
    if let Some(index) = fault.index {
        rest = rest.strip_prefix("rule ").unwrap_or_default();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        assert!(index < text.len() && rest[..digits].parse() == Ok(index), "{shown}");
    }
    if let Some(field) = &fault.field {
        let spelled = rest.match_indices(", field ").any(|(at, before)| {
            rest[at + before.len()..].strip_prefix(field.as_str()).is_some_and(|rest| rest.starts_with(':'))
        });
        assert!(FIELDS.contains(&field.as_str()) && spelled, "{shown}");
    }
}

/// Rules are printed as what reads back as the same, where Sentinel's form can say it.
fn check_printed(rules: &[Rule], scope: Scope<'_>) {
    let can_be_said = |rule: &&Rule| {
        let printed: Value = serde_json::from_str(&rule.to_json()).expect("JSON");
        let is_whole = |field: &str| printed[field].is_u64();
        is_whole("timeWindow") && (rule.strategy() != Strategy::SlowRatio || is_whole("count"))
    };
    let rules: Vec<_> = rules.iter().filter(can_be_said).cloned().collect();
    let printed: Vec<_> = rules.iter().map(Rule::to_json).collect();
    let again = Document::parse(format!("[{}]", printed.join(",")).as_bytes(), scope);
    assert_eq!((again.rules, again.faults, again.warnings), (rules, vec![], vec![]));
}

/// Whether serde_json takes the text for JSON, and the specification for a document: no key twice, no lone
/// surrogate, at most 64 brackets open, a list or an object.
fn is_readable(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.trim_ascii_start().starts_with(['[', '{']) && is_well_formed(text, 64)
}

fn is_well_formed(text: &str, depth: usize) -> bool {
    let inner = |part: &RawValue| is_well_formed(part.get(), depth - 1);
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'[' | b'{') if depth == 0 => false,
        Some(b'[') => {
            serde_json::from_str::<Vec<&RawValue>>(text).is_ok_and(|all| all.into_iter().all(inner))
        }
        Some(b'{') => serde_json::from_str::<Members<'_>>(text).is_ok_and(|Members(all)| {
            let names: HashSet<_> = all.iter().map(|(name, _)| name).collect();
            names.len() == all.len() && all.iter().all(|(_, value)| inner(value))
        }),
        Some(b'"') => serde_json::from_str::<String>(text).is_ok(),
        _ => serde_json::from_str::<&RawValue>(text).is_ok(),
    }
}

struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(all)
            }
        }
        deserializer.deserialize_map(All).map(Members)
    }
}
