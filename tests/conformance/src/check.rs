//! One runner on a whole suite.

use std::fmt;

use crate::compare::{Difference, Found, compare, compare_faults, compare_rules};
use crate::runner::Runner;
use crate::suite::{Content, Suite};

/// How much was run, and how many differences there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Vector files.
    pub files: usize,
    /// Cases of all files.
    pub cases: usize,
    /// Steps of all cases; reading a rule document is one.
    pub steps: usize,
    /// Differences.
    pub differ: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, cases, steps, differ } = self;
        write!(f, "{files} files, {cases} cases, {steps} steps, {differ} differ")
    }
}

/// Runs every case of the suite, and tells each difference as it is found.
pub fn check(suite: &Suite, runner: &mut dyn Runner, mut tell: impl FnMut(Difference)) -> Tally {
    let mut tally = Tally::default();
    for file in &suite.files {
        tally.files += 1;
        for case in &file.cases {
            tally.cases += 1;
            tally.steps += match &case.content {
                Content::Trace { steps, .. } => steps.len(),
                Content::Rules { .. } | Content::Faults { .. } => 1,
            };
            let found = run(&case.content, runner)
                .unwrap_or_else(|error| vec![(None, "runner", "an answer".to_owned(), error)]);
            tally.differ += found.len();
            for found in found {
                tell(Difference::new(runner, &file.name, &case.name, found));
            }
        }
    }
    tally
}

fn run(content: &Content, runner: &mut dyn Runner) -> Result<Vec<Found>, String> {
    Ok(match content {
        Content::Trace { steps, wanted } => compare(wanted, &runner.run(steps)?),
        Content::Rules { text, wanted } => compare_rules(wanted, &runner.read(text)?),
        Content::Faults { text, wanted } => compare_faults(wanted, &runner.read(text)?),
    })
}
