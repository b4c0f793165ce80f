//! A circuit breaker: calls to a dependency that has become slow or fails are not made for a while, so
//! that callers do not wait and the dependency can recover.
//!
//! ```
//! use tripcoil::{CallError, Registry};
//!
//! let registry = Registry::new();
//! registry.load_json(
//!     r#"[{"resource": "stock", "grade": 1, "count": 0.5, "minRequestAmount": 2, "timeWindow": 10}]"#,
//! )?;
//! let stock = registry.resource("stock")?;
//!
//! let fetch = || Err::<u32, _>(std::io::Error::other("no answer"));
//! for _ in 0..2 {
//!     assert!(matches!(stock.call(fetch), Err(CallError::Failed(_))));
//! }
//! // More than half of at least two calls have failed: the third is not made.
//! assert!(matches!(stock.call(fetch), Err(CallError::Blocked(_))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Registry`] keeps [resources](Resource) by name, and the [rules](Rule) that guard them.
//! - [`Resource::call`] and [`Resource::call_async`] guard a call; [`Resource::enter`] gives an
//!   [`Entry`] to end by hand.
//! - [`Registry::observe`] tells of every [`Change`]; [`Breaker::snapshot`] reads one breaker.
//! - [`VirtualClock`] stands in for time in tests.
//!
//! Behaviour is that of Alibaba Sentinel 1.8.9, with the departures that the repository's `DESIGN.md`
//! lists. All types are `Send`, and all but [`Entry`] are `Sync`. Admission and completion are lock-free, but
//! for a resource's first call, which makes its breakers; no thread and no timer is started. "Spec" in these
//! pages is `docs/spec.md` of the repository.
#![forbid(unsafe_code)]

mod admission;
mod assigned;
mod blocked;
mod bound;
mod call;
mod cells;
mod change;
mod clock;
mod compile;
mod edition;
mod ending;
mod entry;
mod few;
mod finish;
mod handle;
mod held;
mod legacy;
mod loading;
mod names;
mod observers;
mod outcome;
mod plan;
mod raw;
mod registry;
mod resource;
mod rule_set;
mod rules;
mod slot;
mod story;
mod unwind;

pub use blocked::Blocked;
pub use call::{CallError, Guard, by_error, by_result};
pub use change::{Cause, Change, Trip};
pub use clock::{Clock, MonotonicClock, VirtualClock};
pub use entry::{AlreadyEnded, Entry, OwnedEntry};
pub use handle::{Breaker, Resource, Snapshot};
pub use legacy::LegacyStatistics;
pub use outcome::Outcome;
#[doc(hidden)]
pub use raw::{RawBlocked, RawEntry};
pub use registry::{Registry, RegistryBuilder};
pub use rules::{
    Document, Fault, Faults, LegacyDocument, LegacyRule, Limits, NameError, Release, Report, Rule,
    RuleBuilder, Scope, Strategy, Warning, check_name,
};
pub use tripcoil_core::{Mode, State, Totals};

/// The version of the library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
