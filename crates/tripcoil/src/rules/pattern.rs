//! Resources that are patterns.

use regex::{Error, Regex, RegexBuilder};

/// Compiles a pattern to match whole names; on failure, what is allowed instead.
pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    // Alone first: `a)|(b` is no pattern, though it becomes one between the anchors. With no room
    // to compile, only the syntax is judged.
    match RegexBuilder::new(pattern).size_limit(0).build() {
        Ok(_) | Err(Error::CompiledTooBig(_)) => {}
        Err(error) => return Err(allowed(&error)),
    }
    whole(&format!("^(?:{pattern})$"))
        // Under `(?x)` a last comment swallows the closing anchor, and the line's end is ignored.
        .or_else(|_| whole(&format!("^(?:{pattern}\n)$")))
        .map_err(|error| allowed(&error))
}

/// A document may hold thousands of patterns, so each gets a tenth of what the crate would allow it.
fn whole(pattern: &str) -> Result<Regex, Error> {
    RegexBuilder::new(pattern).size_limit(1 << 20).build()
}

fn allowed(error: &Error) -> String {
    match error {
        Error::CompiledTooBig(limit) => {
            format!("a pattern that takes at most {limit} bytes when compiled")
        }
        // The crate draws the pattern with a marker below it; the last line holds the reason.
        error => {
            let message = error.to_string();
            let reason = message.lines().next_back().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ");
            format!("a pattern of Rust's regex crate: {reason}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        let matches = |pattern: &str, name: &str| compile(pattern).unwrap().is_match(name);
        assert!(matches("a|ab", "ab"));
        assert!(!matches("a|ab", "abc"));
        assert!(!matches("(?m)a", "a\nb"));
        assert!(!matches("a", "a\n"));
        assert!(matches("(?x) a b # both", "ab"));
        assert!(!matches("(?x) a b # both", "ab\n"));
    }

    #[test]
    fn a_pattern_must_stand_alone() {
        assert!(compile("a)|(b").is_err());
        assert!(compile("(?x)a # )").is_ok());
    }

    #[test]
    fn what_the_dialect_lacks_is_said() {
        assert!(compile("a(?=b)").unwrap_err().contains("look-around"));
        assert!(compile(r"(a)\1").unwrap_err().contains("backreferences"));
        assert!(compile("(?:a{1000}){1000}").unwrap_err().contains("bytes"));
    }
}
