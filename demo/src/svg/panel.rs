//! One run as a panel: phases, axes, calls, and a band of states for each rule.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use tripcoil::{State, Strategy};

use crate::script::{LENGTH, Phase, TIME_OUT};
use crate::story::{Run, state_name};
use crate::table::time;

use super::marks::{Colour, MARKS};
use super::pen::{Anchor, line, rect, text};

pub(super) const LEFT: f64 = 112.0;
pub(super) const RIGHT: f64 = 1176.0;

/// A run, drawn with its plot's upper edge at `top`.
pub(super) struct Panel<'a> {
    pub(super) top: f64,
    pub(super) run: &'a Run,
}

impl Display for Panel<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, r#"<g class="run">"#)?;
        self.heading(f)?;
        self.phases(f)?;
        self.waits(f)?;
        self.calls(f)?;
        for (position, rule) in self.run.rules.iter().enumerate() {
            self.band(f, position, rule)?;
        }
        self.seconds(f)?;
        writeln!(f, "</g>")
    }
}

impl Panel<'_> {
    /// The lower edge: of the last band, or of the plot.
    pub(super) fn bottom(&self) -> f64 {
        let bands = self.run.rules.len() as f64 * BAND;
        self.floor() + bands + if bands > 0.0 { 6.0 } else { 0.0 }
    }

    fn floor(&self) -> f64 {
        self.top + HEIGHT
    }

    fn heading(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let title = match self.run.name {
            "without" => "Without the breaker".to_owned(),
            language => format!("With the breaker, from {language}"),
        };
        text(f, (24.0, self.top - 20.0), Anchor::Start, "panel", title)?;
        let figures = self.run.figures();
        let figures = [
            (420.0, figures.calls.to_string(), "calls"),
            (510.0, figures.failed.to_string(), "failed"),
            (600.0, figures.blocked.to_string(), "blocked"),
            (690.0, figures.sick.to_string(), "reached the sick server"),
            (880.0, time(figures.waited), "spent waiting"),
            (1010.0, time(figures.p50), "p50"),
            (1100.0, time(figures.p99), "p99"),
        ];
        for (x, figure, label) in figures {
            text(f, (x, self.top - 28.0), Anchor::Start, "figure", figure)?;
            text(f, (x, self.top - 12.0), Anchor::Start, "label", label)?;
        }
        Ok(())
    }

    fn phases(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for phase in Phase::ALL {
            let span = phase.span();
            let (from, to) = (x(span.start), x(span.end));
            rect(f, (from, self.top), (to - from, HEIGHT), Colour::phase(phase), "")?;
            let name = format!("server {}", phase.name());
            text(f, ((from + to) / 2.0, self.top + 18.0), Anchor::Middle, "quiet", name)?;
        }
        Ok(())
    }

    /// The axis of waits: logarithmic, a line for each power of ten.
    fn waits(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ticks = [(1, "1 ms"), (10, "10 ms"), (100, "100 ms"), (1_000, "1 s"), (10_000, "10 s")];
        for (ms, label) in ticks {
            let y = self.y(Duration::from_millis(ms));
            line(f, &format!("M{LEFT} {y:.1}H{RIGHT}"), Colour::GRID, "none")?;
            text(f, (LEFT - 8.0, y + 4.5), Anchor::End, "quiet", label)?;
        }
        let y = self.y(TIME_OUT);
        line(f, &format!("M{LEFT} {y:.1}H{RIGHT}"), Colour::AXIS, "5 4")?;
        text(f, (RIGHT - 6.0, y - 5.0), Anchor::End, "quiet", "time-out")?;
        let middle = (self.top + self.floor()) / 2.0;
        writeln!(f, r#"<g transform="translate(36 {middle}) rotate(-90)">"#)?;
        text(f, (0.0, 0.0), Anchor::Middle, "quiet", "how long the caller waited")?;
        writeln!(f, "</g>")
    }

    /// Blocked calls first, so that they cover no others.
    fn calls(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for mark in MARKS.iter().rev() {
            let samples = self.run.samples.iter().filter(|sample| sample.outcome == mark.outcome);
            mark.path(f, samples.map(|sample| (x(sample.due), self.y(sample.waited))))?;
        }
        Ok(())
    }

    /// The states of the breaker at `position`: a coloured stretch each, named where there is room.
    fn band(&self, f: &mut Formatter<'_>, position: usize, rule: &Strategy) -> fmt::Result {
        let top = self.floor() + position as f64 * BAND + 8.0;
        text(f, (LEFT - 8.0, top + 15.5), Anchor::End, "quiet", rule)?;
        let mut stretches = vec![(Duration::ZERO, State::Closed, "at the start")];
        let turns = self.run.turns.iter().filter(|turn| turn.position == position);
        stretches.extend(turns.map(|turn| (turn.at, turn.to, turn.why.as_str())));
        // From the last to the first: a short one is widened over the beginning of the next.
        let mut end = LENGTH;
        for stretch in stretches.into_iter().rev() {
            band_stretch(f, top, stretch, end)?;
            end = stretch.0;
        }
        Ok(())
    }

    fn seconds(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let y = self.bottom();
        for second in 0..=LENGTH.as_secs() {
            let x = x(Duration::from_secs(second));
            line(f, &format!("M{x:.1} {y:.1}v5"), Colour::AXIS, "none")?;
            text(f, (x, y + 19.0), Anchor::Middle, "quiet", format_args!("{second} s"))?;
        }
        Ok(())
    }

    /// Where a wait goes: no lower than 1 ms, no higher than 10 s.
    fn y(&self, wait: Duration) -> f64 {
        let decades = (wait.as_secs_f64() * 1000.0).clamp(1.0, 10_000.0).log10();
        self.floor() - FOOT - decades / 4.0 * (HEIGHT - FOOT - HEAD)
    }
}

/// Where a moment of the story goes.
fn x(at: Duration) -> f64 {
    LEFT + at.min(LENGTH).div_duration_f64(LENGTH) * (RIGHT - LEFT)
}

/// One state from its beginning to `end`, with why it began.
fn band_stretch(
    f: &mut Formatter<'_>,
    top: f64,
    (start, state, why): (Duration, State, &str),
    end: Duration,
) -> fmt::Result {
    let (from, to) = (x(start), x(end));
    let (fill, class) = Colour::state(state);
    let name = state_name(state);
    // A probe may be over in a few ms; its stretch is to be seen all the same.
    let width = (to - from).max(3.0);
    rect(f, (from, top), (width, BAND - 6.0), fill, &format!("{name}: {why}"))?;
    if width > 8.0 * name.len() as f64 + 6.0 {
        text(f, ((from + to) / 2.0, top + 15.5), Anchor::Middle, class, name)?;
    }
    Ok(())
}

const HEIGHT: f64 = 280.0;
/// Room in the plot below 1 ms and above 10 s.
const FOOT: f64 = 12.0;
const HEAD: f64 = 28.0;
/// A band of states with its gap.
const BAND: f64 = 28.0;
