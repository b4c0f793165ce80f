//! Resources that are patterns.

use regex::{Error, Regex, RegexBuilder};

/// What a pattern may take when compiled, in steps: the least that suffices is what it counts as.
const TIERS: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, LARGEST];

/// A tenth of what the crate would allow.
const LARGEST: usize = 1 << 20;

/// What the patterns of one document may still take together: a short text can hold thousands, each of
/// which compiles to a thousand times its length.
pub(super) struct Budget(usize);

impl Budget {
    /// For a document: 64 MiB.
    pub(super) fn of_document() -> Budget {
        Budget(64 << 20)
    }

    /// For a rule on its own.
    pub(super) fn of_rule() -> Budget {
        Budget(LARGEST)
    }

    /// Compiles a pattern to match whole names; on failure, what is allowed instead.
    pub(super) fn compile(&mut self, pattern: &str) -> Result<Regex, String> {
        if self.0 == 0 {
            return Err(USED_UP.to_owned());
        }
        let (taken, compiled) = compile(pattern);
        self.0 = self.0.saturating_sub(taken);
        compiled.map_err(|error| allowed(&error))
    }
}

const USED_UP: &str = "a name: the patterns before it have used up the 64 MiB that those of one document \
                       may take when compiled";

/// A compiled pattern, with what it counts as.
fn compile(pattern: &str) -> (usize, Result<Regex, Error>) {
    let whole = match whole(pattern) {
        Ok(whole) => whole,
        Err(error) => return (0, Err(error)),
    };
    let mut last = (LARGEST, Err(Error::CompiledTooBig(LARGEST)));
    for tier in TIERS {
        last = (tier, RegexBuilder::new(&whole).size_limit(tier).build());
        if !matches!(last.1, Err(Error::CompiledTooBig(_))) {
            break;
        }
    }
    last
}

/// The pattern between anchors.
fn whole(pattern: &str) -> Result<String, Error> {
    // Alone first: `a)|(b` is no pattern, though it becomes one between the anchors.
    check_syntax(pattern)?;
    let whole = format!("^(?:{pattern})$");
    if check_syntax(&whole).is_ok() {
        return Ok(whole);
    }
    // Under `(?x)` a last comment swallows the closing anchor, and the line's end is ignored.
    Ok(format!("^(?:{pattern}\n)$"))
}

/// With no room to compile, only the syntax is judged.
fn check_syntax(pattern: &str) -> Result<(), Error> {
    match RegexBuilder::new(pattern).size_limit(0).build() {
        Ok(_) | Err(Error::CompiledTooBig(_)) => Ok(()),
        Err(error) => Err(error),
    }
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

    fn compile(pattern: &str) -> Result<Regex, String> {
        Budget::of_rule().compile(pattern)
    }

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

    #[test]
    fn a_pattern_counts_as_the_least_that_suffices() {
        let taken = |pattern: &str| {
            let mut budget = Budget::of_document();
            let _ = budget.compile(pattern);
            Budget::of_document().0 - budget.0
        };
        assert_eq!(taken("orders/[0-9]+"), 16 << 10);
        assert_eq!(taken("a{1000}"), 64 << 10);
        assert_eq!(taken("a{5000}"), 256 << 10);
        assert_eq!(taken("a{15000}"), 1 << 20);
        assert_eq!(taken("(?:a{1000}){1000}"), 1 << 20);
        assert_eq!(taken("a("), 0);
    }

    #[test]
    fn a_used_up_budget_refuses_the_best_pattern() {
        let mut budget = Budget(17 << 10);
        for _ in 0..2 {
            assert!(budget.compile("a").is_ok());
        }
        assert_eq!(budget.compile("a").unwrap_err(), USED_UP);
    }
}
