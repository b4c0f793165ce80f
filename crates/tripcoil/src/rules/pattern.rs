//! Resources that are patterns.

use std::convert::Infallible;

use regex_automata::meta::{BuildError, Builder, Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, ClassSetBinaryOp, ClassSetItem, ClassSetRange, Flag, Flags, Visitor, visit};
use regex_syntax::hir::translate::Translator;

use super::limits::Limits;

/// What a Unicode class counts as at least: some take a millisecond, even where nothing is left of them
/// (`\pL{0}`).
const CLASS: usize = 16 << 10;

/// What a set that may hold most of Unicode counts as at least where the case does not: each of its
/// characters is looked up, which takes some milliseconds.
const FOLDED: usize = 64 << 10;

/// What a pattern may take besides while it matches; the crate would allow 2 MiB for each.
const MATCHING: usize = 64 << 10;

/// A compiled pattern, which matches whole names.
#[derive(Debug)]
pub(super) struct Pattern(Regex);

impl Pattern {
    pub(super) fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// What the patterns of one document may still take.
pub(super) struct Budget {
    each: usize,
    left: usize,
    all: usize,
}

impl Budget {
    pub(super) fn of_document(limits: &Limits) -> Budget {
        Budget { each: limits.pattern_bytes, left: limits.patterns_bytes, all: limits.patterns_bytes }
    }

    /// For a rule on its own.
    pub(super) fn of_rule() -> Budget {
        let Limits { pattern_bytes, .. } = Limits::default();
        Budget { each: pattern_bytes, left: pattern_bytes, all: pattern_bytes }
    }

    /// Compiles a pattern to match whole names; on failure, what is allowed instead.
    pub(super) fn compile(&mut self, pattern: &str) -> Result<Pattern, String> {
        if self.left == 0 {
            return Err(format!(
                "a name: the patterns before it have used up the {} bytes that those of one document may take \
                 when compiled",
                self.all
            ));
        }
        let (whole, ast) = whole(pattern)?;
        let sets = sets(&ast);
        let compiled =
            if sets > self.each { Err(self.too_large()) } else { self.compile_whole(&whole, &ast) };
        let taken = compiled.as_ref().map_or(self.each, |pattern| sets.max(pattern.0.memory_usage()));
        self.left = self.left.saturating_sub(taken);
        compiled
    }

    fn compile_whole(&self, whole: &str, ast: &Ast) -> Result<Pattern, String> {
        let hir = Translator::new().translate(whole, ast).map_err(|error| of_dialect(&error.into()))?;
        let config = Config::new()
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(self.each))
            .hybrid_cache_capacity(MATCHING);
        let regex =
            Builder::new().configure(config).build_from_hir(&hir).map_err(|error| self.refusal(&error))?;
        if regex.memory_usage() > self.each { Err(self.too_large()) } else { Ok(Pattern(regex)) }
    }

    fn refusal(&self, error: &BuildError) -> String {
        match error.syntax_error() {
            Some(error) => of_dialect(error),
            None => self.too_large(),
        }
    }

    fn too_large(&self) -> String {
        format!("a pattern that takes at most {} bytes when compiled", self.each)
    }
}

/// The pattern between anchors, as text and parsed; what is allowed instead if it is none.
fn whole(pattern: &str) -> Result<(String, Ast), String> {
    // Alone first: `a)|(b` is no pattern, though it becomes one between the anchors.
    parse(pattern)?;
    let whole = format!("^(?:{pattern})$");
    if let Ok(ast) = parse(&whole) {
        return Ok((whole, ast));
    }
    // Under `(?x)` a last comment swallows the closing anchor, and the line's end is ignored.
    let whole = format!("^(?:{pattern}\n)$");
    let ast = parse(&whole)?;
    Ok((whole, ast))
}

fn parse(pattern: &str) -> Result<Ast, String> {
    Parser::new().parse(pattern).map_err(|error| of_dialect(&error.into()))
}

/// What the sets of a pattern count as at least.
fn sets(ast: &Ast) -> usize {
    match visit(ast, Sets::default()) {
        Ok(taken) => taken,
    }
}

#[derive(Default)]
struct Sets {
    plain: usize,
    /// The same where the case does not count.
    folded: usize,
    folds: bool,
}

impl Sets {
    fn add(&mut self, plain: usize, folded: usize) {
        self.plain += plain;
        self.folded += folded;
    }

    fn flags(&mut self, flags: &Flags) {
        self.folds |= flags.flag_state(Flag::CaseInsensitive) == Some(true);
    }
}

impl Visitor for Sets {
    type Output = usize;
    type Err = Infallible;

    fn finish(self) -> Result<usize, Infallible> {
        Ok(if self.folds { self.folded } else { self.plain })
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        match ast {
            Ast::Flags(set) => self.flags(&set.flags),
            Ast::Group(group) => group.flags().into_iter().for_each(|flags| self.flags(flags)),
            Ast::ClassUnicode(_) => self.add(CLASS, FOLDED),
            // `\w` and the like are the same in either case.
            Ast::ClassPerl(_) => self.add(CLASS, CLASS),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        match item {
            ClassSetItem::Unicode(_) => self.add(CLASS, FOLDED),
            ClassSetItem::Perl(class) => self.add(CLASS, if class.negated { FOLDED } else { CLASS }),
            ClassSetItem::Ascii(class) if class.negated => self.add(0, FOLDED),
            ClassSetItem::Range(range) if is_wide(range) => self.add(0, FOLDED),
            // What it holds may be looked up again by each bracket around it.
            ClassSetItem::Bracketed(_) => self.add(0, FOLDED),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &ClassSetBinaryOp) -> Result<(), Infallible> {
        self.add(0, FOLDED);
        Ok(())
    }
}

fn is_wide(range: &ClassSetRange) -> bool {
    u32::from(range.end.c).saturating_sub(u32::from(range.start.c)) > 1000
}

fn of_dialect(error: &regex_syntax::Error) -> String {
    // The crate draws the pattern with a marker below it; the last line holds the reason.
    let message = error.to_string();
    let reason = message.lines().next_back().unwrap_or_default();
    let reason = reason.trim_start_matches("error: ");
    format!("a pattern of Rust's regex crate: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(pattern: &str) -> Result<Pattern, String> {
        Budget::of_rule().compile(pattern)
    }

    #[test]
    fn patterns_match_whole_names() {
        let matches = |pattern: &str, name: &str| compile(pattern).unwrap().matches(name);
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
        assert!(compile(r"\p{Nothing}").unwrap_err().contains("Unicode property not found"));
        assert!(compile(r"(?-u)\xff").unwrap_err().contains("invalid UTF-8"));
        assert!(compile("(?:a{1000}){1000}").unwrap_err().contains("bytes"));
    }

    #[test]
    fn a_pattern_counts_as_what_it_takes() {
        let taken = |pattern: &str| {
            let mut budget = Budget::of_document(&Limits::default());
            let _ = budget.compile(pattern);
            budget.all - budget.left
        };
        let short = taken("orders/[0-9]+");
        assert!((1..16 << 10).contains(&short), "{short}");
        assert!((100 << 10..1 << 20).contains(&taken("a{5000}")));
        assert_eq!(taken("(?:a{1000}){1000}"), 1 << 20);
        assert_eq!(taken("a("), 0);
        // Nothing is left of these when they are compiled.
        assert_eq!(taken(r"(?:\pL\d[\w&&\D]){0}"), 4 * CLASS);
        assert_eq!(taken(&format!("a{}", r"\pL{0}".repeat(65))), 1 << 20);
    }

    #[test]
    fn a_used_up_budget_refuses_the_best_pattern() {
        let mut budget = Budget { left: 1, ..Budget::of_rule() };
        assert!(budget.compile("a").is_ok());
        assert!(budget.compile("a").unwrap_err().contains("used up the 1048576 bytes"));
    }
}
