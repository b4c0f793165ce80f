//! A folder of vector files, taken apart.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::format::{self, Kind};
use crate::runner::{Answer, FaultPlace, Mode, State, Step};

/// The vector files of a folder, in the order of their names. Never empty.
#[derive(Debug)]
pub struct Suite {
    /// The files.
    pub files: Vec<File>,
}

/// One vector file. It has at least one case.
#[derive(Debug)]
pub struct File {
    /// The file's name, without its folder.
    pub name: String,
    /// Its cases.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Debug)]
pub struct Case {
    /// The case's name, which no other case of its file has.
    pub name: String,
    /// What to do, and what must come of it.
    pub content: Content,
}

/// What to do in a case, and what must come of it.
#[derive(Debug)]
pub enum Content {
    /// Steps on a fresh registry.
    Trace {
        /// What to do.
        steps: Vec<Step>,
        /// What must come of each.
        wanted: Vec<WantedStep>,
    },
    /// A rule document to read, which is valid.
    Rules {
        /// The document.
        text: String,
        /// Its rules, in the fields that each has here.
        wanted: Vec<Map<String, Value>>,
    },
    /// A rule document to read, which is not valid.
    Faults {
        /// The document.
        text: String,
        /// Position and field of each fault, in any order.
        wanted: Vec<FaultPlace>,
    },
}

/// What must come of a step.
#[derive(Debug)]
pub struct WantedStep {
    /// What the operation comes to.
    pub answer: Answer,
    /// The states of some resources' breakers.
    pub states: BTreeMap<String, Vec<State>>,
    /// What observers are told. None where the vector has no say.
    pub events: Option<Vec<WantedEvent>>,
}

/// What an observer must be told.
#[derive(Debug)]
pub struct WantedEvent {
    /// The resource. None where the vector has no say.
    pub resource: Option<String>,
    /// The breaker's position among its resource's.
    pub rule: usize,
    /// The state before.
    pub from: State,
    /// The state after.
    pub to: State,
    /// The value that made the breaker open.
    pub snapshot: Option<f64>,
    /// The modes before and after. None where the vector has no say.
    pub modes: Option<[Mode; 2]>,
}

impl Suite {
    /// Reads every file of a folder; text in Markdown beside the vectors is left alone.
    ///
    /// # Errors
    /// What is not known or not there: the folder, a file's kind, a field, an expectation.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let in_folder = |error| format!("{}: {error}", folder.display());
        let mut paths = Vec::<PathBuf>::new();
        for entry in fs::read_dir(folder).map_err(in_folder)? {
            paths.push(entry.map_err(in_folder)?.path());
        }
        paths.retain(|path| path.extension() != Some(OsStr::new("md")));
        paths.sort();
        if paths.is_empty() {
            return Err(format!("{}: no vector file", folder.display()));
        }
        let files = paths.iter().map(|path| File::read(path));
        Ok(Self { files: files.collect::<Result<_, _>>()? })
    }
}

impl File {
    fn read(path: &Path) -> Result<Self, String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let in_file = |reason: String| format!("{name}: {reason}");
        let kind = Kind::of(&name).map_err(in_file)?;
        let bytes = fs::read(path).map_err(|error| in_file(error.to_string()))?;
        let cases = format::cases(kind, &bytes).map_err(in_file)?;
        Ok(Self { name, cases })
    }
}
