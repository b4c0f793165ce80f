//! The text of a vector file, field by field: what it does not know, it refuses.

mod documents;
mod traces;

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer};
use tripcoil::Release;

use self::documents::RawDocument;
use self::traces::RawTrace;
use crate::suite::Case;

/// What a file's cases are, as its name tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Trace,
    Legacy(Release),
    Rules,
}

impl Kind {
    pub(crate) fn of(name: &str) -> Result<Self, String> {
        let Some(stem) = name.strip_suffix(".json") else {
            return Err("not a vector file: its name does not end in .json".to_owned());
        };
        match stem.strip_prefix("legacy-") {
            Some(release) if release.starts_with("1.6.") => Ok(Self::Legacy(Release::V1_6)),
            Some(release) if release.starts_with("1.7.") => Ok(Self::Legacy(Release::V1_7)),
            Some(release) => {
                Err(format!("no legacy check of release {release}: there are those of 1.6 and 1.7"))
            }
            None if stem == "rules" => Ok(Self::Rules),
            None => Ok(Self::Trace),
        }
    }
}

/// The cases of a file of this kind.
pub(crate) fn cases(kind: Kind, bytes: &[u8]) -> Result<Vec<Case>, String> {
    let cases: Vec<Case> = match kind {
        Kind::Rules => each(bytes, RawDocument::into_case)?,
        _ => each(bytes, |case: RawTrace| case.into_case(kind))?,
    };
    let mut names = BTreeSet::new();
    match cases.iter().find(|case| case.name.trim().is_empty() || !names.insert(&case.name)) {
        Some(case) => Err(format!("case {:?}: blank, or the name of an earlier case", case.name)),
        None if cases.is_empty() => Err("no case".to_owned()),
        None => Ok(cases),
    }
}

fn each<'b, T: Deserialize<'b>>(
    bytes: &'b [u8],
    into_case: impl Fn(T) -> Result<Case, String>,
) -> Result<Vec<Case>, String> {
    let file: RawFile<T> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if file.origin.trim().is_empty() {
        return Err("origin: blank".to_owned());
    }
    file.cases.into_iter().map(into_case).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile<T> {
    /// What made the file.
    origin: String,
    cases: Vec<T>,
}

/// A field that may be left out, but not be null.
fn present<'d, D: Deserializer<'d>, T: Deserialize<'d>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
