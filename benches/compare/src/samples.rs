//! What was measured, by name: one number a round.

use std::collections::BTreeMap;
use std::fmt;

/// The numbers of all rounds of one subject.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn max(&self) -> f64 {
        self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    pub(crate) fn rounds(&self) -> usize {
        self.0.len()
    }
}

/// All that was measured in a run, and why what is missing is missing.
#[derive(Default)]
pub(crate) struct Results {
    samples: BTreeMap<String, Samples>,
    missing: BTreeMap<&'static str, String>,
    interpreters: BTreeMap<&'static str, String>,
}

impl Results {
    pub(crate) fn push(&mut self, name: &str, sample: f64) {
        self.samples.entry(name.to_owned()).or_default().0.push(sample);
    }

    /// The median of a subject's rounds.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        Some(self.samples.get(name)?.median())
    }

    /// How much longer a subject's median is than its least: near 1 on a machine that was left alone.
    pub(crate) fn unrest(&self, name: &str) -> Option<f64> {
        let samples = self.samples.get(name)?;
        Some(samples.median() / samples.min())
    }

    /// The medians of all subjects in a group, by what follows its name and a slash.
    pub(crate) fn group(&self, group: &str) -> Vec<(&str, f64)> {
        let members = self.samples.iter();
        let members = members.filter_map(|(name, samples)| {
            let member = name.strip_prefix(group)?.strip_prefix('/')?;
            (!member.contains('/')).then(|| (member, samples.median()))
        });
        members.collect()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &Samples)> {
        self.samples.iter().map(|(name, samples)| (name.as_str(), samples))
    }

    /// That a part (the first word of its subjects' names) could not be measured.
    pub(crate) fn lacks(&mut self, part: &'static str, why: impl fmt::Display) {
        self.missing.insert(part, why.to_string());
    }

    /// Which interpreter a part was measured on.
    pub(crate) fn is_of(&mut self, part: &'static str, interpreter: String) {
        self.interpreters.insert(part, interpreter);
    }

    pub(crate) fn interpreters(&self) -> impl Iterator<Item = &str> {
        self.interpreters.values().map(String::as_str)
    }

    pub(crate) fn why_missing(&self, part: &str) -> Option<&str> {
        self.missing.get(part).map(String::as_str)
    }
}
