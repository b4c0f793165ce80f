//! What a user holds of a resource and of its breakers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tripcoil_core::{Mode, State, Totals, Transition};

use crate::Rule;
use crate::blocked::Blocked;
use crate::change::Trip;
use crate::entry::{Entry, OwnedEntry};
use crate::held::Held;
use crate::legacy::LegacyStatistics;
use crate::raw::RawEntry;
use crate::resource::Inner;
use crate::slot::Slot;

/// A named thing to protect. Made by [`Registry::resource`](crate::Registry::resource), which looks the
/// name up; a resource that is kept skips the look-up and stays valid over reloads.
#[derive(Clone)]
pub struct Resource(pub(crate) Arc<Inner>);

/// One rule's breaker on one resource. Made by [`Resource::breakers`].
///
/// A breaker whose rule has been removed since reads as one that has never been used, and cannot be
/// controlled.
#[derive(Clone)]
pub struct Breaker {
    resource: Arc<Inner>,
    slot: u32,
    born: u64,
    rule: Arc<Rule>,
}

/// A breaker at one time. While calls run, parts of it may be a call apart; at rest it is exact.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The state: a breaker whose retry deadline has passed reads open until a call comes.
    pub state: State,
    /// The mode.
    pub mode: Mode,
    /// The generation: grows with every change of state or mode, and every forfeited probe round.
    pub generation: u64,
    /// Calls in the window that were not bad.
    pub good: u64,
    /// Calls in the window that were bad: slow, for slow-ratio rules; failed, for the others.
    pub bad: u64,
    /// Failed calls since the last good one, for closed breakers of consecutive-errors rules; else 0.
    pub run: u64,
    /// Time until the next probe may go: open, until the retry deadline (0 when due); half-open, until
    /// the probes' lease ends. None otherwise, and where there is no limit.
    pub retry_after: Option<Duration>,
    /// What the breaker has seen since its rule was loaded.
    pub totals: Totals,
}

impl Resource {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Asks for leave to make a call, and begins it.
    ///
    /// # Errors
    /// [`Blocked`] where a breaker rejects: the call must not be made.
    #[inline(always)]
    pub fn enter(&self) -> Result<Entry<'_>, Blocked> {
        if let Some((slot, held)) = self.0.enter_quick() {
            return Ok(Entry::new(&self.0, Some(slot), held));
        }
        if let Some(blocked) = self.0.reject_quick() {
            return Err(blocked);
        }
        if let Some(held) = self.0.enter_timed() {
            return Ok(Entry::new(&self.0, None, held));
        }
        let mut held = Held::new(None);
        self.0.enter(&mut held)?;
        Ok(Entry::new(&self.0, None, held))
    }

    /// As [`Resource::enter`], for calls that end elsewhere: in a callback, on another thread.
    ///
    /// # Errors
    /// [`Blocked`] where a breaker rejects: the call must not be made.
    pub fn enter_owned(&self) -> Result<OwnedEntry, Blocked> {
        let RawEntry(held) = self.enter_raw()?;
        Ok(OwnedEntry::new(Arc::clone(&self.0), held))
    }

    /// The breakers that guard the resource, in the order in which they are asked.
    #[must_use]
    pub fn breakers(&self) -> Vec<Breaker> {
        let assigned = self.0.awake();
        let breaker = |slot| {
            let story = self.0.slot(slot).story();
            let born = story.born();
            let rule = story.rule_of(born)?;
            drop(story);
            Some(Breaker { resource: Arc::clone(&self.0), slot, born, rule })
        };
        assigned.slots().filter_map(breaker).collect()
    }

    /// Sets the mode of every breaker that the resource has now, announces it, and says how many there
    /// were.
    ///
    /// A mode is its breaker's (spec section 11): it outlives a reload that keeps the breaker, goes with
    /// a breaker whose rule is removed or changed without an id, and a rule that is added later begins
    /// in normal mode. A resource without rules has no breaker to set.
    pub fn set_mode(&self, mode: Mode) -> usize {
        self.breakers().iter().filter(|breaker| breaker.set_mode(mode)).count()
    }

    /// Resets every breaker that the resource has now within its mode, announces it, and says how many
    /// there were.
    pub fn reset(&self) -> usize {
        self.breakers().iter().filter(|breaker| breaker.reset()).count()
    }

    /// Whether calls pass unguarded because a bounded registry had no place for the name.
    #[must_use]
    pub fn is_unguarded(&self) -> bool {
        self.0.unguarded
    }

    /// Whether the resource has [rules of its own](crate::Registry::set_own_rules).
    #[must_use]
    pub fn has_own_rules(&self) -> bool {
        self.0.own_rules().is_some()
    }

    /// What the legacy check counts now, where it is in use.
    #[must_use]
    pub fn legacy_statistics(&self) -> Option<LegacyStatistics> {
        self.0.legacy_statistics()
    }
}

impl Breaker {
    /// The rule as it was when the breaker was asked for.
    #[must_use]
    pub fn rule(&self) -> &Arc<Rule> {
        &self.rule
    }

    /// The resource's name.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource.name
    }

    /// Whether a reload has removed the breaker's rule.
    #[must_use]
    pub fn is_removed(&self) -> bool {
        self.resource.slot(self.slot).story().born() != self.born
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> State {
        self.snapshot().state
    }

    /// The mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.snapshot().mode
    }

    /// State, counts, deadlines and totals. Reading changes nothing.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let taken = self.resource.slot(self.slot).breaker().snapshot(self.resource.shared.clock.coarse());
        if self.is_removed() {
            return Snapshot::unused();
        }
        Snapshot {
            state: taken.state,
            mode: taken.mode,
            generation: taken.generation,
            good: taken.window.good,
            bad: taken.window.bad,
            run: taken.run,
            retry_after: taken.retry_after.map(Duration::from_nanos),
            totals: taken.totals,
        }
    }

    /// Why the breaker last opened, by its condition or by a bad probe. None where it never has.
    #[must_use]
    pub fn last_trip(&self) -> Option<Trip> {
        let story = self.resource.slot(self.slot).story();
        let told = story.last_trip().filter(|_| story.born() == self.born)?;
        drop(story);
        Trip::new(&self.resource.name, &told)
    }

    /// Sets the mode, which closes the breaker and clears its window, and announces it. Says whether
    /// the breaker was still in use.
    pub fn set_mode(&self, mode: Mode) -> bool {
        self.control(|breaker, now| breaker.set_mode(mode, now))
    }

    /// Closes the breaker and clears its window within its mode, and announces it. Says whether the
    /// breaker was still in use.
    pub fn reset(&self) -> bool {
        self.control(|breaker, now| breaker.reset(now))
    }

    fn control(&self, change: impl FnOnce(tripcoil_core::Breaker<'_, Slot>, u64) -> Transition) -> bool {
        let now = self.resource.shared.clock.coarse();
        // The lock keeps a reload from giving the slot to another rule in between.
        let assigned = self.resource.assigned();
        if self.is_removed() {
            return false;
        }
        let transition = change(self.resource.slot(self.slot).breaker(), now);
        drop(assigned);
        self.resource.tell(self.slot, transition);
        true
    }
}

impl Snapshot {
    fn unused() -> Self {
        Self {
            state: State::Closed,
            mode: Mode::Normal,
            generation: 0,
            good: 0,
            bad: 0,
            run: 0,
            retry_after: None,
            totals: Totals::default(),
        }
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("resource", &self.resource())
            .field("rule", &self.rule)
            .field("snapshot", &self.snapshot())
            .finish()
    }
}
