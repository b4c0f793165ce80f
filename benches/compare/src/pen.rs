//! The elements of SVG that the picture is made of. How they look is the style sheet's, by class.

use std::fmt::{self, Display, Formatter};

/// A line of text on the base line at `(x, y)`.
pub(crate) fn text(
    f: &mut Formatter<'_>,
    (x, y): (f64, f64),
    anchor: &str,
    class: &str,
    text: impl Display,
) -> fmt::Result {
    let text = text.to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    writeln!(f, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" class="{class}">{text}</text>"#)
}

/// A line through the points, with a dot on each.
pub(crate) fn curve(f: &mut Formatter<'_>, points: &[(f64, f64)], class: &str) -> fmt::Result {
    write!(f, r#"<path class="curve {class}" d=""#)?;
    for (i, (x, y)) in points.iter().enumerate() {
        write!(f, "{}{x:.1} {y:.1}", if i == 0 { "M" } else { "L" })?;
    }
    writeln!(f, r#""/>"#)?;
    for (x, y) in points {
        writeln!(f, r#"<circle class="dot {class}" cx="{x:.1}" cy="{y:.1}" r="3"/>"#)?;
    }
    Ok(())
}

/// A line along a path.
pub(crate) fn line(f: &mut Formatter<'_>, path: impl Display, class: &str) -> fmt::Result {
    writeln!(f, r#"<path class="{class}" d="{path}"/>"#)
}
