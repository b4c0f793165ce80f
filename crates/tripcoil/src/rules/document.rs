//! Documents: what can only be judged with the other rules, and the load, in view.

use std::collections::HashSet;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::fault::{Fault, Faults, Report, Warning, shown};
use super::fields::DEFAULTS_RESOURCE;
use super::forms;
use super::json::{self, Item};
use super::limits::Limits;
use super::name::{self, check_name};
use super::notes::Notes;
use super::pattern::Budget;
use super::reader::Reader;
use super::rule::Rule;

/// What a document's rules are loaded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// All exact and regex rules; `*` is a plain name.
    Ordinary,
    /// The default rules, whose resource must be `*`.
    Defaults,
    /// One resource's exact rules.
    Resource(&'a str),
}

impl Scope<'_> {
    /// The one resource that the scope has room for, if it is not open to all.
    pub(super) fn resource(&self) -> Option<&str> {
        match self {
            Scope::Ordinary => None,
            Scope::Defaults => Some(DEFAULTS_RESOURCE),
            Scope::Resource(name) => Some(name),
        }
    }

    /// What a rule's resource must be here, for faults.
    pub(super) fn allowed(&self) -> String {
        let kind = match self {
            Scope::Defaults => "default rules",
            _ => "rules of that resource",
        };
        let name = shown(self.resource().unwrap_or_default());
        format!("\"{name}\" here, among {kind}")
    }

    /// What a rule's `regex` must be here, for faults.
    pub(super) fn allowed_regex(&self) -> String {
        match self {
            Scope::Defaults => "false for default rules".to_owned(),
            _ => "false for the rules of one resource".to_owned(),
        }
    }
}

/// What a rule document holds, with all that is wrong with it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Document {
    /// The valid rules in their order, each once.
    pub rules: Vec<Rule>,
    /// Everything that is wrong, in the order of the rules.
    pub faults: Vec<Fault>,
    /// What is ignored, in the order of the rules.
    pub warnings: Vec<Warning>,
    /// Whether the document as a whole is at fault; then that is the only fault, and there are no
    /// rules.
    pub unreadable: bool,
}

impl Document {
    /// Reads a document: JSON text in UTF-8, a list of rules or one rule, each in Sentinel's
    /// fields or in sentinel-golang's.
    ///
    /// Never fails: [`Document::faults`] has every fault of the text. What is wrong with the document
    /// as a whole (not JSON, a key twice, too large, too deep) is one fault, and the only one.
    ///
    /// How much of a document is taken, and how many faults are listed, says [`Limits`].
    ///
    /// | Sentinel | sentinel-golang | what | default |
    /// | --- | --- | --- | --- |
    /// | `resource` | `resource` | name, or pattern where `regex` | required |
    /// | `grade` | `strategy` | 0 slow ratio, 1 error ratio, 2 error count, 3 errors in a row | 0 |
    /// | `count` | `maxAllowedRtMs` | grade 0: the longest time in ms that is not slow, from 0 | required |
    /// | `count` | `threshold` | grade 1: ratio, 0 to 1; grade 2: number, from 0; grade 3: from 1 | required |
    /// | `slowRatioThreshold` | `threshold` | grade 0: ratio, 0 to 1 | 1.0; Go: required |
    /// | `timeWindow` | `retryTimeoutMs` | time open, from 1: whole seconds; Go: ms | required |
    /// | `minRequestAmount` | same | calls that the window must hold, from 1 | 5 |
    /// | `statIntervalMs` | same | length of the window in ms, from 1 | 1000 |
    /// | `statSlidingWindowBucketCount` | same | buckets, 1 to 1000, dividing the interval (Go: else 1) | 1 |
    /// | `probeNum` | same | probes that must end well, 1 to 65535 (Go: 0 is 1) | 1 |
    /// | `probeTimeoutMs` | same | a probe's lease in ms; 0: for ever | time open |
    /// | `backoffFactor` | same | what the time open grows by with every reopening, from 1 | 1.0 |
    /// | `maxRetryTimeoutMs` | same | what it does not grow beyond, in ms, from 1 | 86400000 |
    /// | `inclusive` | | whether reaching the threshold trips (Go: always) | false |
    /// | `regex` | | whether `resource` is a pattern for whole names | false |
    /// | `limitApp` | | kept, not used; at most 1024 bytes | "default" |
    /// | `id` | `id` | string of at most 1024 bytes, or integer: an edited rule of the same id keeps its breaker | none |
    pub fn parse(text: &[u8], scope: Scope<'_>) -> Document {
        Document::parse_within(text, scope, &Limits::default())
    }

    /// As [`Document::parse`], within limits of one's own.
    pub fn parse_within(text: &[u8], scope: Scope<'_>, limits: &Limits) -> Document {
        let mut collected = Collected::new(limits);
        let mut patterns = Budget::of_document(limits);
        let parsed = check_scope(scope).and_then(|()| {
            json::each_rule(text, limits, |index, item| collected.read(index, item, scope, &mut patterns))
        });
        match parsed {
            Ok(()) => collected.into_document(),
            Err(faults) => Document::unreadable(faults),
        }
    }

    /// Takes rules that were made by the typed builder, and checks what can only be checked for
    /// all of them together.
    pub fn from_rules(rules: Vec<Rule>, scope: Scope<'_>) -> Document {
        if let Err(faults) = check_scope(scope) {
            return Document::unreadable(faults);
        }
        let mut collected = Collected::new(&Limits::default());
        for (index, rule) in rules.into_iter().enumerate() {
            let before = collected.notes.faults.len();
            collected.check_target(index, &rule, scope);
            if collected.notes.faults.len() == before {
                collected.add(index, None, rule);
            }
        }
        collected.into_document()
    }

    fn unreadable(faults: Faults) -> Document {
        Document { rules: Vec::new(), faults: faults.into(), warnings: Vec::new(), unreadable: true }
    }

    /// The rules for a load that takes all of them or none.
    ///
    /// # Errors
    ///
    /// Every fault, if there is one.
    pub fn into_strict(self) -> Result<(Vec<Rule>, Report), Faults> {
        Faults::check(self.faults)?;
        Ok(report(self.rules, Vec::new(), self.warnings))
    }

    /// The valid rules for a load that leaves out the others, which its report tells of.
    ///
    /// # Errors
    ///
    /// The fault of the whole document, if it has one.
    pub fn into_lenient(self) -> Result<(Vec<Rule>, Report), Faults> {
        if self.unreadable {
            return self.into_strict();
        }
        Ok(report(self.rules, self.faults, self.warnings))
    }
}

fn report(rules: Vec<Rule>, faults: Vec<Fault>, warnings: Vec<Warning>) -> (Vec<Rule>, Report) {
    let report = Report { rules: rules.len(), faults, warnings };
    (rules, report)
}

/// A scope's own resource must be one that can exist.
fn check_scope(scope: Scope<'_>) -> Result<(), Faults> {
    match scope {
        Scope::Resource(resource) if check_name(resource).is_err() => {
            let value = format!("\"{}\"", shown(resource));
            let mut fault = Fault::document(Some(value), name::ALLOWED.to_owned(), None);
            fault.field = Some("resource".to_owned());
            Err(fault.into())
        }
        _ => Ok(()),
    }
}

/// Where a rule is given its id.
struct Given {
    index: usize,
    line: Option<usize>,
}

struct Collected {
    /// Those that are valid by themselves.
    rules: Vec<Rule>,
    /// Of those with an id, in their order.
    ids: Vec<Given>,
    notes: Notes,
}

impl Collected {
    fn new(limits: &Limits) -> Collected {
        Collected { rules: Vec::new(), ids: Vec::new(), notes: Notes::new(limits.listed) }
    }

    fn read(&mut self, index: usize, item: &Item<'_>, scope: Scope<'_>, patterns: &mut Budget) {
        let Some(mut reader) = Reader::new(index, item, &mut self.notes) else {
            return;
        };
        if let Some(rule) = forms::read(&mut reader, scope, patterns) {
            let line = reader.line_of("id");
            self.add(index, line, rule);
        }
    }

    fn add(&mut self, index: usize, line: Option<usize>, rule: Rule) {
        if rule.id().is_some() {
            self.ids.push(Given { index, line });
        }
        self.rules.push(rule);
    }

    /// What [`Reader::target`] checks for rules of a text.
    fn check_target(&mut self, index: usize, rule: &Rule, scope: Scope<'_>) {
        let Some(wanted) = scope.resource() else {
            return;
        };
        let mut note = |field: &str, value: String, allowed: String| {
            self.notes.faults.push_with(|| Fault {
                index: Some(index),
                resource: Some(rule.resource().to_owned()),
                field: Some(field.to_owned()),
                value: Some(value),
                allowed,
                line: None,
            });
        };
        if rule.resource() != wanted {
            let value = format!("\"{}\"", shown(rule.resource()));
            note("resource", value, scope.allowed());
        }
        if rule.regex() {
            note("regex", "true".to_owned(), scope.allowed_regex());
        }
    }

    /// Drops the later of rules that are the same, and refuses the later of those with one id.
    ///
    /// In this order: the same rule twice counts once, whatever ids it comes with, and the one
    /// that is dropped takes none.
    fn into_document(mut self) -> Document {
        let hasher = RandomState::default();
        // By their numbers: keys are almost as large as rules, of which there may be millions.
        let mut unlike = HashTable::with_capacity(self.rules.len());
        let mut ids = HashSet::<_, RandomState>::default();
        let mut given = self.ids.into_iter();
        let mut kept = Vec::with_capacity(self.rules.len());
        for (number, rule) in self.rules.iter().enumerate() {
            let given = rule.id().and_then(|id| Some((id, given.next()?)));
            let same = |&other: &usize| self.rules[other].same(rule);
            let hash = |&number: &usize| hasher.hash_one(self.rules[number].key());
            let found = unlike.entry(hash(&number), same, hash);
            let Entry::Vacant(place) = found else {
                kept.push(false);
                continue;
            };
            let taken = given.filter(|(id, _)| !ids.insert((rule.resource(), rule.regex(), *id)));
            kept.push(taken.is_none());
            match taken {
                Some((id, given)) => self.notes.faults.push_with(|| id_taken(rule, id, &given)),
                None => drop(place.insert(number)),
            }
        }
        drop((unlike, ids));

        let (faults, warnings) = self.notes.into_lists();
        let mut kept = kept.into_iter();
        self.rules.retain(|_| kept.next().unwrap_or_default());
        Document { rules: self.rules, faults, warnings, unreadable: false }
    }
}

fn id_taken(rule: &Rule, id: &str, given: &Given) -> Fault {
    Fault {
        index: Some(given.index),
        resource: Some(rule.resource().to_owned()),
        field: Some("id".to_owned()),
        value: Some(format!("\"{}\"", shown(id))),
        allowed: "another than that of an earlier rule with the same resource and regex".to_owned(),
        line: given.line,
    }
}
