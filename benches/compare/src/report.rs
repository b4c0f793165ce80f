//! The page that is written, and the table that is printed.

use std::fmt::{self, Display, Formatter};

use comfy_table::{ContentArrangement, Table, presets};

use crate::goals::Goal;
use crate::machine::Machine;
use crate::samples::{Results, Samples};

/// `RESULTS.md`.
pub(crate) struct Report<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) quick: bool,
    pub(crate) goals: &'a [Goal],
    pub(crate) results: &'a Results,
}

/// The goals for a terminal, as wide as that is.
pub(crate) fn table(goals: &[Goal]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    if table.width().is_none() {
        table.set_width(160);
    }
    table.set_header(HEADER);
    for goal in goals {
        table.add_row(cells(goal));
    }
    table
}

fn cells(goal: &Goal) -> [&str; 6] {
    [goal.what, &goal.measured, &goal.peers, &goal.floor, goal.goal, goal.verdict()]
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "# What a guarded call costs\n")?;
        writeln!(
            f,
            "Written by `make bench`; [README.md](README.md) says how it is measured and how to read it."
        )?;
        if self.quick {
            writeln!(f, "\n**A quick look with few rounds, not a measurement.**")?;
        }
        self.machine(f)?;
        writeln!(f, "\n## Goals\n\nTimes are medians, in ns a call.\n")?;
        row(f, HEADER)?;
        row(f, ["---"; 6])?;
        self.goals.iter().try_for_each(|goal| row(f, cells(goal)))?;
        let met = self.goals.iter().filter(|goal| goal.met == Some(true)).count();
        writeln!(f, "\n{met} of {} met.\n", self.goals.len())?;
        writeln!(
            f,
            "## How cost grows\n\n![ns a call against threads, buckets, names and rules](growth.svg)\n"
        )?;
        self.appendix(f)
    }
}

impl Report<'_> {
    fn machine(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Machine { processor, cores, system, rust, c, day, commit } = self.machine;
        writeln!(f, "\n{day}, commit {commit}. {processor}, {cores} cores; {system}.")?;
        write!(f, "{rust}; {c}")?;
        self.results.interpreters().try_for_each(|interpreter| write!(f, "; {interpreter}"))?;
        writeln!(f, ".")?;
        match self.results.unrest("closed/tripcoil") {
            Some(unrest) if unrest > 1.25 => writeln!(
                f,
                "\n**The machine was busy: medians are some {unrest:.1} x the least times, and not alike for all. Measure again.**"
            ),
            _ => Ok(()),
        }
    }

    fn appendix(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "## All that was measured\n")?;
        writeln!(f, "In ns a call, but for what names another unit.\n")?;
        row(f, ["subject", "median", "least", "most", "rounds"])?;
        row(f, ["---", "---:", "---:", "---:", "---:"])?;
        for (name, samples) in self.results.all() {
            let rounds = samples.rounds().to_string();
            let show = |of: fn(&Samples) -> f64| shown(name, of(samples));
            let [median, min, max] = [show(Samples::median), show(Samples::min), show(Samples::max)];
            row(f, [name, &median, &min, &max, &rounds])?;
        }
        Ok(())
    }
}

/// A number of a subject, in its unit.
fn shown(name: &str, number: f64) -> String {
    match name.split('/').next() {
        Some("json") => format!("{:.1} ms", number * 1000.0),
        Some("million") => format!("{number:.2} s"),
        Some("million bytes") => format!("{:.0} MB", number / 1e6),
        Some("memory") => format!("{number:.0} bytes"),
        Some("allocations") => format!("{number:.0}"),
        _ => format!("{number:.1}"),
    }
}

/// A row of a table in Markdown.
fn row<const N: usize>(f: &mut Formatter<'_>, cells: [&str; N]) -> fmt::Result {
    cells.iter().try_for_each(|cell| write!(f, "| {} ", cell.replace('|', "\\|")))?;
    writeln!(f, "|")
}

const HEADER: [&str; 6] = ["what", "measured", "peers", "floor", "goal", ""];
