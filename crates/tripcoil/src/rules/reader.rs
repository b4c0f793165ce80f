//! Takes typed fields out of one rule of a document, noting what is wrong with them.

use super::document::Scope;
use super::fault::{Fault, Warning, shown};
use super::fields::{self, LIMIT_APP_DEFAULT, Real, Whole};
use super::json::{Item, Member, Value};
use super::name::{self, check_name};
use super::notes::Notes;
use super::number;
use super::pattern::Budget;
use super::rule::Target;

/// The fields of one rule. Every method that takes a field gives `None` just where it noted a
/// fault.
pub(super) struct Reader<'d, 'n> {
    index: usize,
    line: usize,
    resource: Option<&'d str>,
    members: &'d [Member<'d>],
    notes: &'n mut Notes,
}

impl<'d, 'n> Reader<'d, 'n> {
    /// A reader of an item's fields, none where the item is no object, which is noted.
    pub(super) fn new(index: usize, item: &'d Item<'d>, notes: &'n mut Notes) -> Option<Reader<'d, 'n>> {
        let mut reader = Reader {
            index,
            line: item.line,
            resource: None,
            members: item.members.unwrap_or_default(),
            notes,
        };
        if item.members.is_none() {
            return reader.whole_rule(|| shown(item.raw), "an object");
        }
        reader.resource = reader.present("resource").and_then(valid_name);
        Some(reader)
    }

    /// The fields that are there, which is those that are not null.
    pub(super) fn members(&self) -> impl Iterator<Item = &'d Member<'d>> + use<'d> {
        self.members.iter().filter(|member| member.value != Value::Null)
    }

    /// Notes a fault of the rule as a whole.
    pub(super) fn whole_rule<T>(&mut self, value: impl FnOnce() -> String, allowed: &str) -> Option<T> {
        let (index, resource, line) = (Some(self.index), self.resource, Some(self.line));
        self.notes.faults.push_with(|| Fault {
            index,
            resource: resource.map(str::to_owned),
            field: None,
            value: Some(value()),
            allowed: allowed.to_owned(),
            line,
        });
        None
    }

    /// Notes that a field does nothing.
    pub(super) fn warn(&mut self, member: &Member<'_>, note: &str) {
        let (index, resource) = (Some(self.index), self.resource);
        self.notes.warnings.push_with(|| Warning {
            index,
            resource: resource.map(str::to_owned),
            field: Some(shown(&member.name)),
            value: Some(shown(member.raw)),
            note: note.to_owned(),
            line: Some(member.line),
        });
    }

    /// A whole number, or its default.
    pub(super) fn whole(&mut self, field: &Whole) -> Option<u64> {
        let Some(member) = self.present(field.name) else {
            return field.default.or_else(|| self.missing(field.name, field.to_string()));
        };
        let number = match member.value {
            Value::Number(text) => number::whole(text),
            _ => None,
        };
        number.and_then(|number| field.accept(number)).or_else(|| self.wrong(member, field.to_string()))
    }

    /// A whole number whose default depends on other fields.
    pub(super) fn whole_or(&mut self, field: &Whole, default: u64) -> Option<u64> {
        self.whole(&Whole { default: Some(default), ..*field })
    }

    /// A whole number that, being in range, fits into 32 bits.
    pub(super) fn small(&mut self, field: &Whole) -> Option<u32> {
        self.whole(field).and_then(|number| number.try_into().ok())
    }

    /// A finite number, or its default.
    pub(super) fn real(&mut self, field: &Real) -> Option<f64> {
        let Some(member) = self.present(field.name) else {
            return field.default.or_else(|| self.missing(field.name, field.to_string()));
        };
        let number = match member.value {
            Value::Number(text) => number::real(text),
            _ => None,
        };
        number.and_then(|number| field.accept(number)).or_else(|| self.wrong(member, field.to_string()))
    }

    /// True or false, and false if absent.
    pub(super) fn flag(&mut self, field: &str) -> Option<bool> {
        match self.present(field) {
            None => Some(false),
            Some(member) => match member.value {
                Value::Bool(flag) => Some(flag),
                _ => self.wrong(member, "true or false".to_owned()),
            },
        }
    }

    /// The number of buckets that Sentinel's form gives: it must divide the interval.
    pub(super) fn buckets(&mut self, field: &Whole, interval_ms: Option<u64>) -> Option<u32> {
        let buckets = self.small(field)?;
        let divides = interval_ms.is_none_or(|ms| ms.is_multiple_of(u64::from(buckets)));
        match self.present(field.name) {
            Some(member) if !divides => {
                self.wrong(member, format!("{field}, and divide statIntervalMs without rest"))
            }
            _ => Some(buckets),
        }
    }

    /// The application a rule is limited to, none where that is the default, as for blank.
    pub(super) fn limit_app(&mut self) -> Option<Option<&'d str>> {
        let Some(member) = self.present("limitApp") else {
            return Some(None);
        };
        match &member.value {
            Value::Text(text) if text.len() <= name::MAX_BYTES => {
                Some(Some(text.as_ref()).filter(|text| !text.trim().is_empty() && *text != LIMIT_APP_DEFAULT))
            }
            _ => self.wrong(member, fields::text()),
        }
    }

    /// The id, if there is one; a number counts as its digits.
    pub(super) fn id(&mut self) -> Option<Option<String>> {
        let Some(member) = self.present("id") else {
            return Some(None);
        };
        let id = match &member.value {
            Value::Text(text) => Some(text.clone().into_owned()).filter(|text| text.len() <= name::MAX_BYTES),
            Value::Number(text) => number::whole(text).map(|number| number.to_string()),
            _ => None,
        };
        let max = number::MAX;
        let allowed = || format!("{}, or a whole number from -{max} to {max}", fields::text());
        id.map(Some).or_else(|| self.wrong(member, allowed()))
    }

    /// The resource's name.
    pub(super) fn name(&mut self) -> Option<&'d str> {
        match self.present("resource") {
            None => self.missing("resource", name::ALLOWED.to_owned()),
            Some(member) => valid_name(member).or_else(|| self.wrong(member, name::ALLOWED.to_owned())),
        }
    }

    /// What the rule guards: a name or a pattern, as far as the scope and the budget have room for it.
    pub(super) fn target(
        &mut self,
        regex: Option<bool>,
        scope: Scope<'_>,
        patterns: &mut Budget,
    ) -> Option<Target> {
        let name = self.name();
        let member = self.present("resource");
        let Some(wanted) = scope.resource() else {
            return match (name?, regex?) {
                (name, false) => Some(Target::name(name)),
                (pattern, true) => match patterns.compile(pattern) {
                    Ok(regex) => Some(Target::pattern(pattern, regex)),
                    Err(allowed) => self.wrong(member?, allowed),
                },
            };
        };

        let own = name.filter(|name| *name == wanted);
        if name.is_some() && own.is_none() {
            self.wrong::<()>(member?, scope.allowed());
        }
        if regex == Some(true) {
            self.wrong::<()>(self.present("regex")?, scope.allowed_regex());
        }
        regex.filter(|regex| !regex).and(own).map(Target::name)
    }

    /// The line of a field, if it is there.
    pub(super) fn line_of(&self, field: &str) -> Option<usize> {
        self.present(field).map(|member| member.line)
    }

    /// The member of that name, unless it is absent or null.
    fn present(&self, name: &str) -> Option<&'d Member<'d>> {
        self.members().find(|member| member.name == name)
    }

    fn missing<T>(&mut self, field: &str, allowed: String) -> Option<T> {
        self.note(field, None, allowed, self.line)
    }

    fn wrong<T>(&mut self, member: &Member<'_>, allowed: String) -> Option<T> {
        self.note(&member.name, Some(shown(member.raw)), allowed, member.line)
    }

    fn note<T>(&mut self, field: &str, value: Option<String>, allowed: String, line: usize) -> Option<T> {
        let (index, resource) = (Some(self.index), self.resource);
        self.notes.faults.push_with(|| Fault {
            index,
            resource: resource.map(str::to_owned),
            field: Some(field.to_owned()),
            value,
            allowed,
            line: Some(line),
        });
        None
    }
}

fn valid_name<'d>(member: &'d Member<'d>) -> Option<&'d str> {
    match &member.value {
        Value::Text(text) => check_name(text).is_ok().then_some(text.as_ref()),
        _ => None,
    }
}
