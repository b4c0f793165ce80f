//! Whether what libraries keep for this thread may be gone: the thread is ending, or, on the main thread, the
//! process is. Destructors of other thread-locals and of statics run then, and may use the library.

use std::cell::Cell;

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    New,
    Running,
    Ending,
}

struct Mark;

impl Drop for Mark {
    fn drop(&mut self) {
        STAGE.set(Stage::Ending);
    }
}

thread_local! {
    /// Has no destructor, and so is always there.
    static STAGE: Cell<Stage> = const { Cell::new(Stage::New) };
    static MARK: Mark = const { Mark };
}

/// Whether thread-locals that were in use before the first call of [`running`] may be gone. They go in the
/// opposite order, so the mark goes first.
#[inline]
pub(crate) fn has_begun() -> bool {
    STAGE.get() == Stage::Ending
}

/// To be called while all thread-locals that the asker minds are there.
#[inline]
pub(crate) fn running() {
    if STAGE.get() == Stage::New && MARK.try_with(|_| ()).is_ok() {
        STAGE.set(Stage::Running);
    }
}
