//! The figures of both runs side by side.

use std::fmt;
use std::time::Duration;

use crate::script::SLOW;
use crate::story::Figures;

/// A row a figure, a column a run.
pub(crate) struct Table<'a> {
    pub(crate) without: &'a Figures,
    pub(crate) with: &'a Figures,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<38} {:>10} {:>10}", "", "without", "with")?;
        for (name, figure) in rows() {
            writeln!(f, "{name:<38} {:>10} {:>10}", figure(self.without), figure(self.with))?;
        }
        Ok(())
    }
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
