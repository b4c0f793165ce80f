//! What random cases have reached: a run in which one of these never happened has shown nothing of it.

use std::collections::BTreeMap;
use std::fmt;

use tripcoil_model::{Breaker, Change, MS, Mode, Model, State};
use tripcoil_random::{NAMES, Op as Happening};

use crate::runner::Op;

const WHAT: [&str; 31] = [
    "trips on slow ratio",
    "trips on error ratio",
    "trips on error count",
    "trips on consecutive errors",
    "trips of regex rules",
    "trips of default rules",
    "probe rounds",
    "closings",
    "closings by several probes",
    "reopenings",
    "longer waits",
    "probes given back",
    "ended leases",
    "late outcomes",
    "ignored",
    "cancelled",
    "never ended",
    "ended twice",
    "blocked",
    "blocked by a later rule",
    "observed",
    "clocks that went back",
    "refused loads",
    "breakers kept over an edit",
    "breakers kept over another load",
    "breakers dropped",
    "resets",
    "set to forced open",
    "set to disabled",
    "set to observe only",
    "set to normal",
];

/// How often each thing has happened.
#[derive(Clone, Debug)]
pub struct Coverage {
    counts: BTreeMap<&'static str, u64>,
    /// Breakers that were not closed before a reload, by resource.
    before: [usize; NAMES.len()],
}

impl Default for Coverage {
    fn default() -> Self {
        Self { counts: WHAT.map(|what| (what, 0)).into(), before: [0; NAMES.len()] }
    }
}

impl Coverage {
    /// What has never happened.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        self.counts.iter().filter(|(_, count)| **count == 0).map(|(what, _)| *what).collect()
    }

    pub(super) fn add(&mut self, what: &'static str, is: bool) {
        *self.counts.get_mut(what).expect("a known name") += u64::from(is);
    }

    /// A breaker's change that a step has made.
    pub(super) fn note(&mut self, op: &Op, breaker: &Breaker, change: &Change, now: u64) {
        let ((from, _), (to, mode), _) = *change;
        let rule = &breaker.rule;
        if let Op::SetMode { .. } = op {
            return self.add(set_to(mode), true);
        }
        match (from, to) {
            (State::Closed, State::Open) => {
                self.add(WHAT[usize::from(rule.grade)], true);
                self.add("trips of regex rules", rule.regex);
                self.add("trips of default rules", rule.resource == "*");
            }
            (State::Open, State::HalfOpen) => self.add("probe rounds", true),
            (State::HalfOpen, State::Closed) if matches!(op, Op::Exit { .. }) => {
                self.add("closings", true);
                self.add("closings by several probes", rule.probe_num > 1);
            }
            (State::HalfOpen, State::Open) if matches!(op, Op::Exit { .. }) => {
                self.add("reopenings", true);
                let wait = breaker.retry_after(now).unwrap_or(0);
                self.add("longer waits", wait > rule.time_window_ms * MS);
            }
            (State::HalfOpen, State::Open) => self.add("probes given back", true),
            _ => {}
        }
    }

    pub(super) fn before_reload(&mut self, model: &mut Model) {
        self.before = moved(model);
    }

    pub(super) fn after_reload(&mut self, model: &mut Model, op: &Happening) {
        for (before, after) in self.before.into_iter().zip(moved(model)) {
            self.add("breakers dropped", after < before);
            let edited = matches!(op, Happening::Edit(..));
            let kept = if edited { "breakers kept over an edit" } else { "breakers kept over another load" };
            self.add(kept, after > 0);
        }
    }

    /// A case has ended.
    pub(super) fn end(&mut self, model: &Model) {
        let totals = [
            ("late outcomes", "late"),
            ("ignored", "ignored"),
            ("cancelled", "cancelled"),
            ("blocked", "blocked"),
            ("observed", "observed"),
            ("ended leases", "forfeited"),
        ];
        for (what, total) in totals {
            *self.counts.get_mut(what).expect("a known name") += model.total(total);
        }
        let ended: u64 =
            ["good", "bad", "ignored", "cancelled", "late"].map(|what| model.total(what)).iter().sum();
        *self.counts.get_mut("never ended").expect("a known name") += model.total("passed") - ended;
    }
}

fn set_to(mode: Mode) -> &'static str {
    match mode {
        Mode::Normal => "set to normal",
        Mode::ForcedOpen => "set to forced open",
        Mode::Disabled => "set to disabled",
        Mode::ObserveOnly => "set to observe only",
    }
}

/// How many breakers of each resource are not closed.
fn moved(model: &mut Model) -> [usize; NAMES.len()] {
    NAMES.map(|name| model.breakers(name).iter().filter(|breaker| breaker.state != State::Closed).count())
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<_> = WHAT.iter().map(|what| format!("{} {what}", self.counts[what])).collect();
        f.write_str(&shown.join(", "))
    }
}
