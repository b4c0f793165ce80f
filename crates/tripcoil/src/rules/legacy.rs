//! Documents of the releases before 1.8, for the legacy check.

use super::fault::{Fault, Faults, Report, Warning};
use super::fields::{self, Whole};
use super::json;
use super::limits::Limits;
use super::notes::Notes;
use super::reader::Reader;
use super::rule::Strategy;

/// A release line of Sentinel before half-open states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Release {
    /// 1.6: both amounts of a rule are 5.
    V1_6,
    /// 1.7: rules can set them.
    V1_7,
}

/// A rule for the legacy check.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LegacyRule {
    /// The resource's name.
    pub resource: String,
    /// 0: average response time, 1: error ratio, 2: errors in the last minute. 0 by default.
    pub grade: u8,
    /// Milliseconds, a ratio from 0 to 1, or errors, by grade.
    pub count: f64,
    /// How long a cut lasts, in seconds, at least 1.
    pub time_window_s: u64,
    /// Grade 1: the calls of a second, at least 1, below which nothing is cut; 5 by default.
    pub min_request_amount: u64,
    /// Grade 0: the slow admissions in a row, at least 1, that make a cut; 5 by default.
    pub rt_slow_request_amount: u64,
}

/// What a legacy document holds, with all that is wrong with it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LegacyDocument {
    /// The valid rules in their order.
    pub rules: Vec<LegacyRule>,
    /// Everything that is wrong, in the order of the rules.
    pub faults: Vec<Fault>,
    /// What is ignored, in the order of the rules.
    pub warnings: Vec<Warning>,
}

impl LegacyDocument {
    /// Reads a document as that release did: JSON text in UTF-8, a list of rules or one rule.
    ///
    /// Never fails: [`LegacyDocument::faults`] has every fault of the text. The limits and the
    /// spelling of numbers are those of a [`Document`](crate::Document).
    pub fn parse(text: &[u8], release: Release) -> LegacyDocument {
        LegacyDocument::parse_within(text, release, &Limits::default())
    }

    /// As [`LegacyDocument::parse`], within limits of one's own.
    pub fn parse_within(text: &[u8], release: Release, limits: &Limits) -> LegacyDocument {
        let mut notes = Notes::new(limits.listed);
        let mut rules = Vec::new();
        let parsed = json::each_rule(text, limits, |index, item| {
            let reader = Reader::new(index, item, &mut notes);
            rules.extend(reader.and_then(|mut reader| read(&mut reader, release)));
        });
        match parsed {
            Ok(()) => {
                let (faults, warnings) = notes.into_lists();
                LegacyDocument { rules, faults, warnings }
            }
            Err(faults) => LegacyDocument { faults: faults.into(), ..LegacyDocument::default() },
        }
    }

    /// The rules for a load that takes all of them or none.
    ///
    /// # Errors
    ///
    /// Every fault, if there is one.
    pub fn into_strict(self) -> Result<(Vec<LegacyRule>, Report), Faults> {
        Faults::check(self.faults)?;
        let report = Report { rules: self.rules.len(), faults: Vec::new(), warnings: self.warnings };
        Ok((self.rules, report))
    }
}

/// Reads one rule. `None` just where the reader has noted a fault.
fn read(reader: &mut Reader<'_, '_>, release: Release) -> Option<LegacyRule> {
    warn_of_ignored(reader, release);
    let resource = reader.name();
    let grade = reader.whole(&fields::LEGACY_GRADE);
    let count = reader.real(&fields::count(grade.and_then(Strategy::from_grade)));
    let time_window_s = reader.whole(&fields::TIME_WINDOW);
    let limit_app = reader.limit_app();
    let mut amount = |field: &Whole| match release {
        Release::V1_6 => field.default,
        Release::V1_7 => reader.whole(field),
    };
    let min_request_amount = amount(&fields::MIN_REQUEST_AMOUNT);
    let rt_slow_request_amount = amount(&fields::RT_SLOW_REQUEST_AMOUNT);

    limit_app?;
    Some(LegacyRule {
        resource: resource?.to_owned(),
        grade: grade?.try_into().ok()?,
        count: count?,
        time_window_s: time_window_s?,
        min_request_amount: min_request_amount?,
        rt_slow_request_amount: rt_slow_request_amount?,
    })
}

fn warn_of_ignored(reader: &mut Reader<'_, '_>, release: Release) {
    for member in reader.members() {
        match member.name.as_ref() {
            "resource" | "grade" | "count" | "timeWindow" | "limitApp" => {}
            "minRequestAmount" | "rtSlowRequestAmount" => {
                if release == Release::V1_6 {
                    reader.warn(member, "not used, always 5 in release 1.6");
                }
            }
            _ => reader.warn(member, "unknown, not used"),
        }
    }
}
