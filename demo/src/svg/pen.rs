//! The elements of SVG that the picture is made of.

use std::fmt::{self, Display, Formatter};

/// Where a text stands in relation to its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text on the base line at `(x, y)`, in a class of the style sheet.
pub(super) fn text(
    f: &mut Formatter<'_>,
    (x, y): (f64, f64),
    anchor: Anchor,
    class: &str,
    text: impl Display,
) -> fmt::Result {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let text = escape(&text.to_string());
    write!(f, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" class="{class}">"#)?;
    writeln!(f, "{text}</text>")
}

/// A filled rectangle from its upper left corner; `hint` is shown on hovering, if it says anything.
pub(super) fn rect(
    f: &mut Formatter<'_>,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    fill: &str,
    hint: &str,
) -> fmt::Result {
    write!(f, r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}""#)?;
    if hint.is_empty() {
        writeln!(f, r#" fill="{fill}"/>"#)
    } else {
        writeln!(f, r#" fill="{fill}"><title>{}</title></rect>"#, escape(hint))
    }
}

/// A line along `path`; `dashes` as SVG has them, `none` for an unbroken line.
pub(super) fn line(f: &mut Formatter<'_>, path: &str, stroke: &str, dashes: &str) -> fmt::Result {
    writeln!(f, r#"<path d="{path}" stroke="{stroke}" stroke-dasharray="{dashes}"/>"#)
}

/// Text for between tags.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
