//! The figures of all runs side by side.

use std::fmt;
use std::time::Duration;

use crate::script::SLOW;
use crate::story::{Figures, Run};

/// A row a figure, a column a run.
pub(crate) struct Table<'a>(pub(crate) &'a [Run]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        row(f, "", self.0.iter().map(|run| run.name.to_owned()))?;
        let figures: Vec<_> = self.0.iter().map(Run::figures).collect();
        for (name, figure) in rows() {
            row(f, &name, figures.iter().map(figure))?;
        }
        Ok(())
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, cells: impl Iterator<Item = String>) -> fmt::Result {
    write!(f, "{name:<38}")?;
    for cell in cells {
        write!(f, " {cell:>9}")?;
    }
    writeln!(f)
}

type Figure = fn(&Figures) -> String;

fn rows() -> [(String, Figure); 9] {
    [
        ("calls".into(), |run| run.calls.to_string()),
        (format!("answered within {}", time(SLOW)), |run| run.ok.to_string()),
        ("answered later".into(), |run| run.slow.to_string()),
        ("failed".into(), |run| run.failed.to_string()),
        ("blocked".into(), |run| run.blocked.to_string()),
        ("callers waited".into(), |run| time(run.waited)),
        ("calls that reached the sick server".into(), |run| run.sick.to_string()),
        ("p50 of the calls not blocked".into(), |run| time(run.p50)),
        ("p99 of the calls not blocked".into(), |run| time(run.p99)),
    ]
}

/// A duration as people write it.
pub(crate) fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 100.0 => format!("{seconds:.0} s"),
        seconds if seconds >= 1.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} ms", seconds * 1000.0),
    }
}
