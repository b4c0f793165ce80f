//! The picture: all runs as timelines over one axis, calls as marks, states as bands.

use std::fmt::{self, Display, Formatter};

use tripcoil::State;

use crate::script::{CLIENTS, INTERVAL, SLOW, TIME_OUT};
use crate::story::{Run, state_name};
use crate::table::time;

use self::marks::{Colour, MARKS};
use self::panel::{LEFT, Panel, RIGHT};
use self::pen::{Anchor, rect, text};

mod marks;
mod panel;
mod pen;

/// A page of SVG that needs nothing beside itself.
pub(crate) struct Picture<'a> {
    pub(crate) seed: u64,
    /// From the top; at least one.
    pub(crate) runs: &'a [Run],
}

impl Display for Picture<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut bottom = 88.0;
        let panels: Vec<_> = self
            .runs
            .iter()
            .map(|run| {
                let panel = Panel { top: bottom + 104.0, run };
                bottom = panel.bottom();
                panel
            })
            .collect();
        let height = bottom + 58.0;
        write!(f, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}""#)?;
        writeln!(f, r#" width="{WIDTH}" height="{height}" role="img">"#)?;
        writeln!(f, "<title>{TITLE}</title>\n<style>{STYLE}</style>")?;
        rect(f, (0.0, 0.0), (WIDTH, height), Colour::PAPER, "")?;
        self.heading(f)?;
        calls_legend(f)?;
        states_legend(f)?;
        panels.iter().try_for_each(|panel| panel.fmt(f))?;
        let below = ((LEFT + RIGHT) / 2.0, bottom + 42.0);
        let axis = "when the call was due, in seconds of the story";
        text(f, below, Anchor::Middle, "quiet", axis)?;
        writeln!(f, "</svg>")
    }
}

impl Picture<'_> {
    fn heading(&self, f: &mut Formatter<'_>) -> fmt::Result {
        text(f, (24.0, 48.0), Anchor::Start, "title", TITLE)?;
        let (every, out, seed) = (time(INTERVAL), TIME_OUT.as_secs_f64(), self.seed);
        let how = format!(
            "{CLIENTS} clients call one HTTP server, every {every} each, and give up after {out} s. \
             A mark is a call; its height is how long the caller waited, from when it was due. \
             Seed {seed}."
        );
        text(f, (24.0, 74.0), Anchor::Start, "quiet", how)
    }
}

fn calls_legend(f: &mut Formatter<'_>) -> fmt::Result {
    for mark in &MARKS {
        mark.path(f, [(mark.x, 104.0)])?;
        let label = mark.label.replace("{}", &time(SLOW));
        text(f, (mark.x + 13.0, 109.0), Anchor::Start, "plain", label)?;
    }
    Ok(())
}

fn states_legend(f: &mut Formatter<'_>) -> fmt::Result {
    let places = [(State::Closed, 958.0), (State::Open, 1034.0), (State::HalfOpen, 1096.0)];
    for (state, x) in places {
        rect(f, (x, 98.0), (12.0, 12.0), Colour::state(state).0, "")?;
        text(f, (x + 17.0, 108.0), Anchor::Start, "band", state_name(state))?;
    }
    Ok(())
}

const TITLE: &str = "One outage, without and with the breaker";
const WIDTH: f64 = 1200.0;
const STYLE: &str = "
text { font-family: Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #1f2933 }
.title { font-size: 24px; font-weight: 700 }
.panel { font-size: 17px; font-weight: 700 }
.figure { font-size: 16px; font-weight: 700 }
.plain { font-size: 14px }
.quiet { font-size: 13px; fill: #5b6874 }
.label { font-size: 12px; fill: #5b6874 }
.band { font-size: 11px; font-weight: 700 }
.light { font-size: 11px; font-weight: 700; fill: #ffffff }
";
