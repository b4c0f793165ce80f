//! How much of a document is taken.

/// What a rule document may take at most: of memory, of time, and of what is told about it.
///
/// Documents come from configuration services and files, and who can write there should not be able to
/// exhaust the process that reads them. [`Registry::set_limits`](crate::Registry::set_limits) sets other
/// limits. A document beyond them changes nothing, and its fault says which limit it is.
///
/// Fixed besides: 64 brackets open at once, and names, patterns, ids and `limitApp` of 1024 bytes.
///
/// ```
/// # use tripcoil::{Limits, Registry};
/// let registry = Registry::new();
/// let mut limits = Limits::default();
/// limits.rules = 1;
/// registry.set_limits(limits);
/// let faults = registry.load_json("[{}, {}]").unwrap_err();
/// assert_eq!(
///     faults.to_string(),
///     "document: a list of 2 rules is not allowed; it must be a list of at most 1 (line 1)",
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The bytes of a document. Default: 16 MiB.
    pub document_bytes: usize,
    /// The rules of a document, good and bad. Default: 1,000,000.
    pub rules: usize,
    /// The bytes that one pattern takes when compiled; each matching thread adds 100 KiB. Default: 1 MiB.
    pub pattern_bytes: usize,
    /// The bytes that all patterns of a document take together: a short text can hold thousands, each of
    /// which compiles to a thousand times its length. Default: 64 MiB.
    ///
    /// A pattern counts as what it takes, or as 16 KiB for each Unicode class in it (`\w`, `\pL`) where
    /// that is more, because these take time; where case does not count (`(?i)`), as 64 KiB for each set
    /// that may hold most of Unicode, and for each bracket within brackets. A refused one counts as
    /// [`pattern_bytes`](Limits::pattern_bytes). Those that come when nothing is left are faults of their
    /// field, and are not compiled. Every new name, and every name when rules are loaded, is matched with
    /// every pattern: in time linear in its length, but 4000 patterns take ten times as long as 400.
    /// At worst that is 0.1 ms a KiB of patterns for a name of 1024 bytes. Meanwhile other new names and loads
    /// wait; calls on names that are known do not.
    pub patterns_bytes: usize,
    /// How many faults are listed, and how many warnings: a last one says how many more there are.
    /// Default: 1000.
    pub listed: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            document_bytes: 16 << 20,
            rules: 1_000_000,
            pattern_bytes: 1 << 20,
            patterns_bytes: 64 << 20,
            listed: 1000,
        }
    }
}
