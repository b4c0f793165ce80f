//! The numbers of a document, judged by their digits and not by what a float makes of them.

/// The greatest size of any integer in a rule, and of any time in ms: 2^53 - 1, the last whole
/// number that every language's floats tell from its neighbours.
pub(super) const MAX: u64 = (1 << 53) - 1;

/// The value of a JSON number that is whole and at most [`MAX`] in size, however it is written:
/// `10`, `10.0` and `1e1` are the same.
pub(super) fn whole(text: &str) -> Option<i64> {
    // As nearly all are written.
    if text.len() <= 15 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok();
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, text),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{integer}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }

    let trailing = digits.len() - significant.len();
    let zeros = saturating_exponent(exponent) - length(fraction.len()) + length(trailing);
    let zeros = u32::try_from(zeros).ok()?;
    let value = significant
        .parse::<u64>()
        .ok()?
        .checked_mul(10_u64.checked_pow(zeros)?)
        .filter(|value| *value <= MAX)?;
    let value = i64::try_from(value).ok()?;
    Some(if negative { -value } else { value })
}

/// The binary64 number nearest to a JSON number; infinite where that is out of range. Never -0.0.
pub(super) fn real(text: &str) -> Option<f64> {
    // Adding zero turns -0.0 into 0.0 and leaves everything else alone.
    text.parse::<f64>().ok().map(|value| value + 0.0)
}

/// An exponent too long for an `i64` is out of reach of any number of digits a document can hold,
/// so that a bound far from the limits serves as well and cannot overflow.
fn saturating_exponent(text: &str) -> i64 {
    const FAR: i64 = i64::MAX / 4;
    match text.parse::<i64>() {
        Ok(exponent) => exponent.clamp(-FAR, FAR),
        Err(_) if text.starts_with('-') => -FAR,
        Err(_) => FAR,
    }
}

fn length(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_whole_however_they_are_written() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0e9", 0),
            ("0e99999999999999999999", 0),
            ("10", 10),
            ("10.0", 10),
            ("1e1", 10),
            ("1E+1", 10),
            ("100e-1", 10),
            ("0.001e4", 10),
            ("-10.000", -10),
            ("9007199254740991", 9_007_199_254_740_991),
            ("-9007199254740991.0", -9_007_199_254_740_991),
            ("9.007199254740991e15", 9_007_199_254_740_991),
        ] {
            assert_eq!(whole(text), Some(value), "{text}");
        }
    }

    #[test]
    fn fractions_and_sizes_over_the_limit_are_refused_exactly() {
        for text in [
            "0.1",
            "1.5",
            "1e-1",
            "10.00000000000000000000000000001",
            "9007199254740992",
            "9007199254740993",
            "-9007199254740992",
            "9007199254740991.5",
            "1e16",
            "1e400",
            "1e-400",
            "1e99999999999999999999",
            "1e-99999999999999999999",
        ] {
            assert_eq!(whole(text), None, "{text}");
        }
        assert_eq!(whole(&format!("1{}", "0".repeat(400))), None);
        assert_eq!(whole(&format!("1{}e-400", "0".repeat(401))), Some(10));
    }

    #[test]
    fn reals_lose_the_sign_of_zero_and_keep_infinity() {
        assert!(real("-0.0").is_some_and(|zero| zero.is_sign_positive()));
        assert_eq!(real("0.3"), Some(0.3));
        assert_eq!(real("1e400"), Some(f64::INFINITY));
    }
}
