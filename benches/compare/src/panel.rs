//! One panel of the picture: axes, curves, and their names beside them.

use std::fmt::{self, Formatter};

use crate::pen::{curve, line, text};

pub(crate) struct Panel {
    pub(crate) title: &'static str,
    /// What the axis below is.
    pub(crate) below: &'static str,
    /// Where the axis below is labelled, and how.
    pub(crate) ticks: Vec<(f64, String)>,
    pub(crate) scale: Scale,
    pub(crate) series: Vec<Series>,
}

/// The axis of ns.
pub(crate) enum Scale {
    /// From 0.
    Even,
    /// Logarithmic, by powers of ten.
    Powers,
}

pub(crate) struct Series {
    pub(crate) name: &'static str,
    /// Of the style sheet.
    pub(crate) class: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Panel {
    /// Draws it with its upper left corner at `place`.
    pub(crate) fn draw(&self, f: &mut Formatter<'_>, (left, top): (f64, f64)) -> fmt::Result {
        writeln!(f, r#"<g transform="translate({left} {top})">"#)?;
        text(f, (24.0, 30.0), "start", "panel", self.title)?;
        if self.series.iter().all(|series| series.points.is_empty()) {
            text(f, (LEFT, TOP + 40.0), "start", "quiet", "not measured in this run")?;
        } else {
            self.axes(f)?;
            for series in self.series.iter().rev() {
                let points: Vec<_> = series.points.iter().map(|(x, y)| (self.x(*x), self.y(*y))).collect();
                curve(f, &points, series.class)?;
            }
            self.names(f)?;
        }
        writeln!(f, "</g>")
    }

    fn axes(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for ns in self.levels() {
            let y = self.y(ns);
            line(f, format_args!("M{LEFT} {y:.1}H{RIGHT}"), "grid")?;
            let unit = if ns == self.levels().last().copied().unwrap_or(ns) { " ns" } else { "" };
            text(f, (LEFT - 8.0, y + 4.5), "end", "quiet", format_args!("{ns}{unit}"))?;
        }
        line(f, format_args!("M{LEFT} {BOTTOM}H{RIGHT}"), "axis")?;
        for (tick, label) in &self.ticks {
            let x = self.x(*tick);
            line(f, format_args!("M{x:.1} {BOTTOM}v5"), "axis")?;
            text(f, (x, BOTTOM + 20.0), "middle", "quiet", label)?;
        }
        text(f, ((LEFT + RIGHT) / 2.0, BOTTOM + 42.0), "middle", "quiet", self.below)
    }

    /// The names at the curves' ends, moved apart where they would lie over each other.
    fn names(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ends = self.series.iter().filter_map(|series| Some((self.y(series.points.last()?.1), series)));
        let mut ends: Vec<_> = ends.collect();
        ends.sort_by(|a, b| b.0.total_cmp(&a.0));
        // From the lowest upwards.
        let mut free = BOTTOM;
        for (end, series) in ends {
            let y = end.min(free);
            free = y - LINE;
            line(f, format_args!("M{:.1} {end:.1}L{:.1} {y:.1}", RIGHT + 5.0, RIGHT + 14.0), "lead")?;
            let last = series.points.last().map_or(0.0, |point| point.1);
            text(f, (RIGHT + 18.0, y + 4.5), "start", "name", format_args!("{} {last:.0}", series.name))?;
        }
        Ok(())
    }

    /// The levels that are drawn, from the lowest.
    fn levels(&self) -> Vec<f64> {
        let (least, most) = self.range();
        match self.scale {
            Scale::Even => {
                let rough = most / 5.0;
                let power = 10_f64.powf(rough.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= rough);
                let step = step.unwrap_or(rough);
                (0..=(most / step).ceil() as u32).map(|n| f64::from(n) * step).collect()
            }
            Scale::Powers => {
                let (from, to) = (least.log10().floor() as i32, most.log10().ceil() as i32);
                (from..=to).map(|n| 10_f64.powi(n)).collect()
            }
        }
    }

    fn range(&self) -> (f64, f64) {
        let all = self.series.iter().flat_map(|series| &series.points).map(|point| point.1);
        all.fold((f64::INFINITY, 1.0), |(least, most), ns| (least.min(ns), most.max(ns)))
    }

    fn x(&self, value: f64) -> f64 {
        let first = self.ticks.first().map_or(0.0, |tick| tick.0);
        let last = self.ticks.last().map_or(1.0, |tick| tick.0);
        LEFT + 12.0 + (value - first) / (last - first) * (RIGHT - LEFT - 24.0)
    }

    fn y(&self, ns: f64) -> f64 {
        let levels = self.levels();
        let (Some(lowest), Some(highest)) = (levels.first(), levels.last()) else { return BOTTOM };
        let part = match self.scale {
            Scale::Even => (ns - lowest) / (highest - lowest),
            Scale::Powers => (ns / lowest).ln() / (highest / lowest).ln(),
        };
        BOTTOM - part * (BOTTOM - TOP)
    }
}

const LEFT: f64 = 84.0;
const RIGHT: f64 = 430.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 310.0;
/// What a name takes of height.
const LINE: f64 = 17.0;
