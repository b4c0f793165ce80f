//! How a call can end.

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Without an error.
    Good,
    /// With an error.
    Bad,
    /// With a result that says nothing of the dependency: it counts nowhere, and a probe's place is free.
    Ignored,
    /// Not at all, the caller gave up: as `Ignored`, but listed apart.
    Cancelled,
}

impl Outcome {
    /// Whether it counts as good or bad.
    #[inline]
    pub(crate) fn counts(self) -> bool {
        matches!(self, Outcome::Good | Outcome::Bad)
    }
}
