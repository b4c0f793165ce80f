//! What is noted while a document is read.

use super::fault::{Fault, Warning};

/// The faults and warnings so far, of each at most so many.
pub(super) struct Notes {
    pub(super) faults: Listed<Fault>,
    pub(super) warnings: Listed<Warning>,
}

impl Notes {
    pub(super) fn new(limit: usize) -> Notes {
        Notes { faults: Listed::new(limit), warnings: Listed::new(limit) }
    }

    /// The faults in the order of the rules, and the warnings; of what is left out, the number.
    pub(super) fn into_lists(self) -> (Vec<Fault>, Vec<Warning>) {
        let Notes { mut faults, mut warnings } = self;
        faults.list.sort_by_key(|fault| fault.index);
        if faults.more > 0 {
            let allowed = format!("mended in {} more places, which are not listed", faults.more);
            faults.list.push(Fault::document(None, allowed, None));
        }
        if warnings.more > 0 {
            warnings.list.push(Warning::document(format!("{} more warnings are not listed", warnings.more)));
        }
        (faults.list, warnings.list)
    }
}

/// A list that counts what it has no room for: a document of a few megabytes may have millions of faults,
/// each of which takes a hundred times its place in the text.
pub(super) struct Listed<T> {
    list: Vec<T>,
    limit: usize,
    more: usize,
}

impl<T> Listed<T> {
    fn new(limit: usize) -> Self {
        Listed { list: Vec::new(), limit, more: 0 }
    }

    /// Makes the item only if there is room for it.
    pub(super) fn push_with(&mut self, item: impl FnOnce() -> T) {
        if self.list.len() < self.limit {
            self.list.push(item());
        } else {
            self.more += 1;
        }
    }

    /// How many there are, listed or not.
    pub(super) fn len(&self) -> usize {
        self.list.len() + self.more
    }
}
