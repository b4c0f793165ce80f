//! The picture of how cost grows: with threads, buckets, names and rules.

use std::fmt::{self, Display, Formatter};

use crate::names::NAMES;
use crate::one_thread::{BUCKETS, RULES};
use crate::panel::{Panel, Scale, Series};
use crate::pen::text;
use crate::samples::Results;
use crate::threads::THREADS;

/// A page of SVG that needs nothing beside itself, and suits a dark page as well as a light one.
pub(crate) struct Growth<'a>(pub(crate) &'a Results);

impl Display for Growth<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}""#)?;
        writeln!(f, r#" width="{WIDTH}" height="{HEIGHT}" role="img">"#)?;
        writeln!(f, "<title>{TITLE}</title>\n<style>{STYLE}</style>")?;
        writeln!(f, r#"<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>"#)?;
        text(f, (24.0, 40.0), "start", "title", TITLE)?;
        text(f, (24.0, 64.0), "start", "quiet", HOW)?;
        let places = [(0.0, 84.0), (600.0, 84.0), (0.0, 464.0), (600.0, 464.0)];
        let panels = [self.threads(), self.buckets(), self.names(), self.rules()];
        for (place, panel) in places.into_iter().zip(panels) {
            panel.draw(f, place)?;
        }
        writeln!(f, "</svg>")
    }
}

impl Growth<'_> {
    fn threads(&self) -> Panel {
        let peers = ["tripcoil", "recloser", "failsafe", "breaker", "circuitbreaker-rs", "sentinel-core"];
        let classes = ["ours", "a", "b", "c", "d", "e"];
        let series = peers.into_iter().zip(classes).map(|(peer, class)| {
            self.series(peer, class, THREADS.iter().map(|n| format!("threads {n}/{peer}")))
        });
        Panel {
            title: "Threads that share one breaker",
            below: "threads (of a core's time, beyond as many as there are cores)",
            ticks: THREADS.iter().zip(0..).map(|(n, i)| (f64::from(i), n.to_string())).collect(),
            scale: Scale::Powers,
            series: series.collect(),
        }
    }

    fn buckets(&self) -> Panel {
        let of = |what| BUCKETS.iter().map(move |n| format!("buckets, {what}/{n}"));
        Panel {
            title: "Buckets of the window",
            below: "buckets",
            ticks: BUCKETS.iter().filter(|n| **n != 2).map(|n| (f64::from(*n), n.to_string())).collect(),
            scale: Scale::Even,
            series: vec![
                self.series("good call", "ours", of("good")).at(&BUCKETS),
                self.series("failing call", "a", of("failing")).at(&BUCKETS),
            ],
        }
    }

    fn names(&self) -> Panel {
        let of = |what| NAMES.iter().map(move |n| format!("{what}/{n}"));
        let label = |n: &usize| match n {
            1_000_000.. => format!("{}M", n / 1_000_000),
            1_000.. => format!("{}k", n / 1000),
            _ => n.to_string(),
        };
        Panel {
            title: "Names, called in random order",
            below: "names, each with a breaker of its own",
            ticks: NAMES.iter().zip(0..).map(|(n, i)| (f64::from(i), label(n))).collect(),
            scale: Scale::Even,
            series: vec![
                self.series("by name", "ours", of("by name")),
                self.series("by handle", "a", of("by handle")),
                self.series("HashMap::get", "b", of("HashMap::get")),
            ],
        }
    }

    fn rules(&self) -> Panel {
        let of = |what| RULES.iter().map(move |n| format!("rules, {what}/{n}"));
        Panel {
            title: "Rules of one resource",
            below: "rules",
            ticks: RULES.iter().map(|n| (f64::from(*n), n.to_string())).collect(),
            scale: Scale::Even,
            series: vec![
                self.series("good call", "ours", of("good")).at(&RULES),
                self.series("failing call", "a", of("failing")).at(&RULES),
            ],
        }
    }

    /// Medians, one beside the other; what was not measured is left out.
    fn series(
        &self,
        name: &'static str,
        class: &'static str,
        subjects: impl Iterator<Item = String>,
    ) -> Series {
        let medians =
            subjects.zip(0..).filter_map(|(subject, i)| Some((f64::from(i), self.0.get(&subject)?)));
        Series { name, class, points: medians.collect() }
    }
}

impl Series {
    /// Moves the points from their places in the row to these values.
    fn at(mut self, values: &[u32]) -> Self {
        self.points.iter_mut().for_each(|(x, _)| *x = f64::from(values[*x as usize]));
        self
    }
}

const TITLE: &str = "How the cost of a guarded call grows";
const HOW: &str = "ns a call, medians of one run: see RESULTS.md for the machine. Closed breakers, a window of 10 s in 10 buckets where nothing else is said.";
const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 844.0;
/// Colours that the colour-blind tell apart (after Okabe and Ito).
const STYLE: &str = "
text { font-family: Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #1f2933 }
.title { font-size: 24px; font-weight: 700 }
.panel { font-size: 17px; font-weight: 700 }
.quiet { font-size: 13px; fill: #5b6874 }
.name { font-size: 13px }
.paper { fill: #ffffff }
.grid { stroke: #d5dbe1 }
.axis { stroke: #5b6874 }
.curve { fill: none; stroke-width: 2 }
.lead { fill: none; stroke: #9aa5b1; stroke-width: 1 }
path.ours { stroke: #0072b2; stroke-width: 3.5 } circle.ours { fill: #0072b2 }
path.a { stroke: #d55e00 } circle.a { fill: #d55e00 }
path.b { stroke: #009e73 } circle.b { fill: #009e73 }
path.c { stroke: #cc79a7 } circle.c { fill: #cc79a7 }
path.d { stroke: #e69f00 } circle.d { fill: #e69f00 }
path.e { stroke: #7b8794 } circle.e { fill: #7b8794 }
@media (prefers-color-scheme: dark) {
text { fill: #e4e7eb } .quiet { fill: #9aa5b1 } .paper { fill: #12181f } .grid { stroke: #323f4b } .axis { stroke: #9aa5b1 }
path.ours { stroke: #56b4e9 } circle.ours { fill: #56b4e9 }
}
";
