//! How calls and states look: colours that the colour-blind tell apart (after Okabe and Ito), and
//! shapes that do without colour.

use std::fmt;

use tripcoil::State;

use crate::client::Outcome;
use crate::script::Phase;

/// The colours of the picture.
pub(super) struct Colour;

impl Colour {
    pub(super) const PAPER: &str = "#ffffff";
    pub(super) const GRID: &str = "#d5dbe1";
    pub(super) const AXIS: &str = "#5b6874";
    const BLUE: &str = "#0072b2";
    const ORANGE: &str = "#e69f00";
    const VERMILION: &str = "#d55e00";
    const GREY: &str = "#7b8794";

    /// The shade behind a phase of the outage.
    pub(super) fn phase(phase: Phase) -> &'static str {
        match phase {
            Phase::Healthy | Phase::Healed => "#f3f7fa",
            Phase::Slow => "#fff3d6",
            Phase::Failing => "#fde3d8",
        }
    }

    /// A breaker's state, and the class of the writing on it.
    pub(super) fn state(state: State) -> (&'static str, &'static str) {
        match state {
            State::Closed => ("#009e73", "light"),
            State::Open => (Self::VERMILION, "light"),
            State::HalfOpen => ("#f0e442", "band"),
        }
    }
}

/// A kind of mark: all calls of one outcome are one path of it.
pub(super) struct Mark {
    pub(super) outcome: Outcome,
    /// Where it stands in the legend.
    pub(super) x: f64,
    /// For the legend; `{}` is where the limit of slowness goes.
    pub(super) label: &'static str,
    colour: &'static str,
    stroke: &'static str,
    /// Path commands, relative to the call's point.
    shape: &'static str,
}

impl Mark {
    /// One path with the mark at each of `points`.
    pub(super) fn path(
        &self,
        f: &mut fmt::Formatter<'_>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> fmt::Result {
        let Self { colour, stroke, shape, .. } = self;
        write!(f, r#"<path fill="none" stroke="{colour}" {stroke} d=""#)?;
        for (x, y) in points {
            write!(f, "M{x:.1} {y:.1}{shape}")?;
        }
        writeln!(f, r#""/>"#)
    }
}

/// In the order of the legend.
pub(super) const MARKS: [Mark; 4] = [
    Mark {
        outcome: Outcome::Ok,
        x: 32.0,
        label: "answered",
        colour: Colour::BLUE,
        stroke: r#"stroke-width="6" stroke-linecap="round" stroke-opacity=".7""#,
        shape: "h0",
    },
    Mark {
        outcome: Outcome::Slow,
        x: 146.0,
        label: "answered, but after more than {}",
        colour: Colour::ORANGE,
        stroke: r#"stroke-width="1.8""#,
        shape: "m-3.2 2.6h6.4l-3.2-6z",
    },
    Mark {
        outcome: Outcome::Failed,
        x: 462.0,
        label: "failed: 503, reset, or timed out",
        colour: Colour::VERMILION,
        stroke: r#"stroke-width="1.6""#,
        shape: "m-3-3l6 6m0-6l-6 6",
    },
    Mark {
        outcome: Outcome::Blocked,
        x: 746.0,
        label: "blocked by the breaker",
        colour: Colour::GREY,
        stroke: r#"stroke-width="1.4""#,
        shape: "m0-5v10",
    },
];
