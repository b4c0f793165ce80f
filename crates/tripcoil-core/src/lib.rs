//! One circuit breaker as plain memory: the state machine and sliding window of Tripcoil.
//!
//! This crate has no clock, no names, no rule documents, no threads and no allocator: time comes in
//! as a number, memory as a reference, and a change of state goes out as a value. The crate `tripcoil`
//! adds the rest.
//!
//! ```text
//!            a completion makes the condition true
//!   CLOSED ------------------------------------------> OPEN <----------------+
//!      ^                                                |                    | a probe ends badly,
//!      |                       an admission after the   |                    | or the last is given back
//!      |                       retry deadline           v                    |
//!      +---------------------------------------- HALF_OPEN ------------------+
//!            all probes of the round end well
//! ```
//!
//! ```
//! use tripcoil_core::{Admission, Breaker, Bucket, Condition, Ending, Head, Rule, State, time::millis};
//!
//! static HEAD: Head = Head::new();
//! static BUCKETS: [Bucket; 10] = [Bucket::NEW; 10];
//!
//! let breaker = Breaker::new(&HEAD, &BUCKETS);
//! let rule = Rule { buckets: 10, min_request_amount: 2, ..Rule::new(Condition::ErrorRatio(0.5), 2000) };
//! breaker.assign(&rule)?;
//!
//! for _ in 0..2 {
//!     let Admission::Passed(permit, _) = breaker.admit(millis(0), || millis(0)) else {
//!         unreachable!("it is closed")
//!     };
//!     let _ = breaker.complete(permit, Ending { error: true, response_time: millis(3) }, millis(3));
//! }
//! assert_eq!(breaker.state(), State::Open);
//! assert!(matches!(breaker.admit(millis(4), || millis(4)), Admission::Rejected(_)));
//! # Ok::<(), tripcoil_core::RuleError>(())
//! ```
//!
//! # Progress
//!
//! Admission, completion, cancellation and reading are lock-free: a compare-and-swap is repeated only
//! when another thread's has succeeded, and no thread ever waits for another.
//!
//! # Memory ordering
//!
//! | what | published by | read by |
//! | --- | --- | --- |
//! | rule, shape | release of the word | acquire of the word in `Breaker::word` |
//! | deadline | release of its stamp | acquire of the stamp in `Deadline::read` |
//! | a bucket's life and lap | release of the bucket's word | acquire in `put`, before the word and anchor are checked again |
//! | anchor | release of the anchor, after the sweep | acquire in `anchor` |
//! | what is known of the window | release of `slack` | acquire of `slack`, before the window is summed up |
//! | a rule's edited numbers | release of the version | acquire of the version, and a fence before it is checked |
//!
//! Nothing needs sequential consistency: each decision is made by one compare-and-swap on one word.
//!
//! # Limits
//!
//! 2^48 generations, 4096 clearings of the window, or 2^17 sums of it, while one call is held up in the
//! middle of its completion, 65535 reopenings in a row (later ones wait as long as that one), 2^36 calls a bucket
//! (beyond that, ratios stay right to within one part in 2^35, and a count of errors stays there). A
//! clock that goes back by more than 16383 windows counts as if it had gone back by that many, and one that
//! leaps forward by more than 32768 of them finds the window empty when it comes back.
#![cfg_attr(not(any(test, loom)), no_std)]
#![forbid(unsafe_code)]

mod anchor;
mod breaker;
mod bucket;
mod completion;
mod condition;
mod control;
mod deadline;
mod memory;
mod permit;
mod probes;
mod rule;
mod rule_cell;
mod shape;
mod slack;
mod snapshot;
mod sync;
pub mod time;
mod totals;
mod transition;
mod window;
mod word;

pub use breaker::{Admission, Breaker, Head, Rejection, Verdict};
pub use bucket::Bucket;
pub use completion::{Completion, Ending};
pub use condition::Counts;
pub use memory::{Line, Memory};
pub use permit::Permit;
pub use rule::{Condition, Rule, RuleError};
pub use shape::Judges;
pub use snapshot::Snapshot;
pub use totals::Totals;
pub use transition::Transition;
pub use word::{Mode, State};
