//! Resources, and the two functions through which every call goes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use napi::bindgen_prelude::Function;
use napi::{Env, Error, Result, Status};
use napi_derive::napi;
use tripcoil::{Blocked, Mode, RawBlocked, RawEntry, Resource};

use crate::breaker::NativeBreaker;
use crate::entries::{Entries, NO_ENTRY};
use crate::names;
use crate::observer::Inbox;
use crate::rule::{Rule, limited};
use crate::time::{count, duration};

/// Bits of the number that `enter` gives: the entry's number above, and between them room for the outcome.
pub(crate) mod token {
    /// Changes wait to be told.
    pub(crate) const CHANGED: i32 = 4;
    const ENTRY: u32 = 3;

    #[inline]
    pub(crate) fn of(entry: u32, changed: bool) -> i32 {
        (entry << ENTRY) as i32 | if changed { CHANGED } else { 0 }
    }

    #[inline]
    pub(crate) fn entry(token: i32) -> u32 {
        token.cast_unsigned() >> ENTRY
    }
}

/// The functions through which calls go.
#[napi(object, object_from_js = false)]
pub struct Doors<'env> {
    /// Begins a call. Not negative: a token for `exit`, in which the bit 4 says that changes wait.
    /// Negative: blocked, for a reason that has this number.
    pub enter: Function<'env, (), i32>,
    /// Ends a call: its token plus 0 for good, 1 for bad, 2 for ignored, 3 for cancelled. Says whether
    /// changes wait.
    pub exit: Function<'env, i32, bool>,
    /// How long, in ms, the last call that was blocked has to wait.
    pub retry_after: Function<'env, (), f64>,
}

/// Why calls are blocked: the same for all calls that one breaker blocks in one state.
#[napi(object, object_from_js = false)]
pub struct Reason {
    /// The state that rejected.
    #[napi(ts_type = "'closed' | 'open' | 'halfOpen'")]
    pub state: &'static str,
    /// The mode that rejected.
    #[napi(ts_type = "'normal' | 'forcedOpen' | 'disabled' | 'observeOnly'")]
    pub mode: &'static str,
    /// The rule.
    pub rule: Option<Rule>,
    /// The rule in words.
    pub rule_text: Option<String>,
}

/// What the legacy check counts.
#[napi(object, object_from_js = false)]
pub struct LegacyStatistics {
    /// Calls admitted.
    pub pass: f64,
    /// Calls rejected.
    pub block: f64,
    /// Calls that ended.
    pub success: f64,
    /// Calls that ended with an error.
    pub exception: f64,
    /// Response times in ms.
    pub rt: f64,
}

/// A named thing to protect, with its calls that are out.
#[napi]
pub struct NativeResource(Rc<Desk>);

/// What the functions of one resource share.
struct Desk {
    resource: Resource,
    inbox: Arc<Inbox>,
    entries: RefCell<Entries<RawEntry>>,
    rejections: Rejections,
}

/// The last rejection, and a number for its reason.
#[derive(Default)]
pub(crate) struct Rejections {
    last: RefCell<Option<Blocked>>,
    reason: Cell<i32>,
}

impl Rejections {
    /// Notes a rejection. Its reason has a new number unless it is the one before.
    pub(crate) fn note(&self, blocked: Blocked) -> i32 {
        let mut last = self.last.borrow_mut();
        if !last.as_ref().is_some_and(|last| is_same(last, &blocked)) {
            self.reason.set(self.reason.get().checked_sub(1).unwrap_or(-1));
        }
        *last = Some(blocked);
        self.reason.get()
    }

    pub(crate) fn retry_after(&self) -> f64 {
        self.last.borrow().as_ref().map_or(f64::INFINITY, |last| limited(last.retry_after()))
    }

    pub(crate) fn reason(&self) -> Option<Reason> {
        let last = self.last.borrow();
        let blocked = last.as_ref()?;
        let rule = blocked.rule();
        let legacy = || blocked.legacy_rule().map(|rule| format!("legacy {rule:?}"));
        Some(Reason {
            state: names::of_state(blocked.state()),
            mode: names::of_mode(blocked.mode()),
            rule_text: rule.as_ref().map(ToString::to_string).or_else(legacy),
            rule: rule.as_deref().map(Rule::from),
        })
    }
}

/// Whether one breaker has rejected two calls in one state.
fn is_same(one: &Blocked, other: &Blocked) -> bool {
    let (
        RawBlocked::Breaker { slot, rejection },
        RawBlocked::Breaker { slot: other_slot, rejection: other_rejection },
    ) = (one.raw(), other.raw())
    else {
        return false;
    };
    slot == other_slot
        && rejection.generation == other_rejection.generation
        && (rejection.state, rejection.mode) == (other_rejection.state, other_rejection.mode)
        && one.resource() == other.resource()
}

impl Desk {
    #[inline]
    fn enter(&self) -> i32 {
        match self.resource.enter_raw() {
            Ok(entry) => {
                let number = self.entries.borrow_mut().add(entry).unwrap_or_else(|entry| {
                    self.resource.end_raw(&entry, tripcoil::Outcome::Cancelled, None);
                    NO_ENTRY
                });
                token::of(number, self.inbox.is_filled())
            }
            Err(blocked) => self.rejections.note(blocked),
        }
    }

    #[inline]
    fn exit(&self, token: i32) -> bool {
        let entry = self.entries.borrow_mut().take(token::entry(token));
        if let Some(entry) = entry {
            self.resource.end_raw(&entry, names::outcome(token), None);
        }
        self.inbox.is_filled()
    }
}

/// Entries that nobody has ended take their places along.
impl Drop for Desk {
    fn drop(&mut self) {
        for entry in self.entries.get_mut().drain() {
            self.resource.end_raw(&entry, tripcoil::Outcome::Cancelled, None);
        }
    }
}

/// The mode of a name that JavaScript has checked.
pub(crate) fn mode(name: &str) -> Result<Mode> {
    names::mode(name).ok_or_else(|| Error::new(Status::InvalidArg, format!("no mode {name:?}")))
}

impl NativeResource {
    pub(crate) fn new(resource: Resource, inbox: Arc<Inbox>) -> Self {
        let (entries, rejections) = (RefCell::new(Entries::new()), Rejections::default());
        Self(Rc::new(Desk { resource, inbox, entries, rejections }))
    }
}

#[napi]
impl NativeResource {
    /// The functions through which calls go.
    #[napi(catch_unwind)]
    pub fn doors<'env>(&self, env: &'env Env) -> Result<Doors<'env>> {
        let desk = || Rc::clone(&self.0);
        let (entering, exiting, asking) = (desk(), desk(), desk());
        Ok(Doors {
            enter: env.create_function_from_closure("enter", move |_| Ok(entering.enter()))?,
            exit: env.create_function_from_closure("exit", move |call| Ok(exiting.exit(call.get(0)?)))?,
            retry_after: env
                .create_function_from_closure("retryAfter", move |_| Ok(asking.rejections.retry_after()))?,
        })
    }

    /// As `exit`, with a response time in ms that the caller has measured.
    #[napi(catch_unwind)]
    pub fn exit_with(&self, token: i32, response_time: f64) -> bool {
        let entry = self.0.entries.borrow_mut().take(token::entry(token));
        if let Some(entry) = entry {
            self.0.resource.end_raw(&entry, names::outcome(token), Some(duration(response_time)));
        }
        self.0.inbox.is_filled()
    }

    /// Why the last call that was blocked was blocked.
    #[napi(catch_unwind)]
    pub fn reason(&self) -> Option<Reason> {
        self.0.rejections.reason()
    }

    /// The breakers that guard the resource, in the order in which they are asked.
    #[napi(catch_unwind)]
    pub fn breakers(&self) -> Vec<NativeBreaker> {
        self.0.resource.breakers().into_iter().map(NativeBreaker).collect()
    }

    /// The states of the breakers.
    #[napi(catch_unwind, ts_return_type = "('closed' | 'open' | 'halfOpen')[]")]
    pub fn states(&self) -> Vec<&'static str> {
        self.0.resource.breakers().iter().map(|breaker| names::of_state(breaker.state())).collect()
    }

    /// Sets the mode of all breakers, and says how many there were.
    #[napi(catch_unwind)]
    pub fn set_mode(&self, name: String) -> Result<u32> {
        Ok(u32::try_from(self.0.resource.set_mode(mode(&name)?)).unwrap_or(u32::MAX))
    }

    /// Resets all breakers within their modes, and says how many there were.
    #[napi(catch_unwind)]
    pub fn reset(&self) -> u32 {
        u32::try_from(self.0.resource.reset()).unwrap_or(u32::MAX)
    }

    /// Whether a bounded registry had no place for the name.
    #[napi(catch_unwind)]
    pub fn is_unguarded(&self) -> bool {
        self.0.resource.is_unguarded()
    }

    /// What the legacy check counts, where it is in use.
    #[napi(catch_unwind)]
    pub fn legacy_statistics(&self) -> Option<LegacyStatistics> {
        self.0.resource.legacy_statistics().map(|counted| LegacyStatistics {
            pass: count(counted.pass),
            block: count(counted.block),
            success: count(counted.success),
            exception: count(counted.exception),
            rt: count(counted.rt),
        })
    }
}
