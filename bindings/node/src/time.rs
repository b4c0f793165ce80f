//! Times as JavaScript has them: in ms, as numbers.

use std::time::Duration;

/// In ms.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}

/// From ms, to the nearest ns. The longest time that there is for what is none: negative, NaN, too long.
pub(crate) fn duration(millis: f64) -> Duration {
    // Beyond this, not every whole number of ms is a binary64 number.
    const MAX_MILLIS: f64 = (1_u64 << 53) as f64;
    if !(0.0..MAX_MILLIS).contains(&millis) {
        return Duration::MAX;
    }
    // Apart, so that neither loses a digit to the other.
    Duration::from_millis(millis.trunc() as u64) + Duration::from_nanos((millis.fract() * 1e6).round() as u64)
}

/// A count as a number, exact up to 2^53.
pub(crate) fn count(count: u64) -> f64 {
    count as f64
}
