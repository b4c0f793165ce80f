//! Rounds: each measures every subject for a short time, in turn, so that whatever else the machine does hits
//! all alike.

use std::hint::black_box;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::samples::Results;

/// Something whose cost is wanted.
struct Subject {
    name: String,
    /// Makes so many calls, and says what one took, in ns.
    run: Box<dyn FnMut(u32) -> f64>,
    calls: u32,
}

/// The subjects that are measured together.
pub(crate) struct Rounds {
    title: &'static str,
    /// How long a subject's turn is to be.
    turn: Duration,
    subjects: Vec<Subject>,
}

impl Rounds {
    pub(crate) fn new(title: &'static str, turn: Duration) -> Self {
        Self { title, turn, subjects: Vec::new() }
    }

    /// A subject that is one call.
    pub(crate) fn add<T>(&mut self, name: impl Into<String>, mut call: impl FnMut() -> T + 'static) {
        self.add_run(name, move |calls| {
            timed(calls, |calls| {
                for _ in 0..calls {
                    black_box(call());
                }
            })
        });
    }

    /// A subject that makes so many calls itself, and says what one took, in ns.
    pub(crate) fn add_run(&mut self, name: impl Into<String>, run: impl FnMut(u32) -> f64 + 'static) {
        self.subjects.push(Subject { name: name.into(), run: Box::new(run), calls: 0 });
    }

    /// Measures all, in turns.
    pub(crate) fn run(mut self, rounds: u32, results: &mut Results) {
        for subject in &mut self.subjects {
            // Twice: the first call of anything is slow.
            for calls in [100, 1000] {
                let ns = (subject.run)(calls).max(0.1);
                subject.calls = (self.turn.as_nanos() as f64 / ns).clamp(100.0, 1e7) as u32;
            }
        }
        for round in 1..=rounds {
            progress(self.title, round, rounds);
            for subject in &mut self.subjects {
                results.push(&subject.name, (subject.run)(subject.calls));
            }
        }
    }
}

/// What one of so many calls takes, in ns: after a few that are not counted, as at any call but the first.
pub(crate) fn timed(calls: u32, mut pass: impl FnMut(u32)) -> f64 {
    pass(calls / 4);
    let began = Instant::now();
    pass(calls);
    began.elapsed().as_nanos() as f64 / f64::from(calls)
}

/// Where a part of the run is: a line that is written over, or, in a log, a line at its end.
pub(crate) fn progress(title: &str, done: u32, all: u32) {
    let mut terminal = std::io::stderr();
    let end = if done == all { "\n" } else { "" };
    // Progress that cannot be shown is no reason to stop.
    if terminal.is_terminal() {
        let _ = write!(terminal, "\r{title}: {done} of {all} rounds{end}");
    } else if done == all {
        let _ = writeln!(terminal, "{title}: {all} rounds");
    }
}
