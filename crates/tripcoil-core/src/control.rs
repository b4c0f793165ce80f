//! Giving a breaker its rule, replacing the rule's numbers, and manual control.

use crate::breaker::Breaker;
use crate::memory::Memory;
use crate::rule::{Rule, RuleError};
use crate::sync::Ordering;
use crate::transition::Transition;
use crate::word::{Mode, Word};

impl<M: Memory + ?Sized> Breaker<'_, M> {
    /// Makes this the breaker of `rule`: closed, with nothing counted, in a new generation. Calls
    /// that were admitted before are late, and are not listed. One caller at a time. Returns the
    /// generation that begins.
    ///
    /// # Errors
    /// The first number of the rule that is out of its range, or `buckets` where the rule has more
    /// than there is memory for. Nothing is changed then.
    pub fn assign(&self, rule: &Rule) -> Result<u64, RuleError> {
        rule.check()?;
        if self.memory.buckets().len() < rule.buckets as usize {
            return Err(RuleError { field: "buckets", allowed: "no more than there is memory for" });
        }
        // First out of everybody's reach: whoever still holds a permit must not see the new shape
        // with it, nor the new rule.
        let (_, retired) = self.restart(|_| Mode::Disabled);
        self.head.shape.set(rule);
        self.head.rule.write(rule);
        self.sweep(retired.life(), 0);
        // Buckets beyond the new shape keep what another rule counted: the next one with room for it
        // must not find that.
        self.empty_beyond_window();
        // Relaxed, as in `tally`: the word that is swapped below publishes it.
        self.head.born.store(retired.generation() + 1, Ordering::Relaxed);
        self.head.tallies.clear();
        let (_, begun) = self.restart(|_| Mode::Normal);
        Ok(begun.generation())
    }

    /// Replaces the numbers of a rule that has the [same shape](Rule::same_shape): they count from the
    /// next decision, and deadlines that are set stay. One caller at a time.
    ///
    /// # Errors
    /// As [`Breaker::assign`], and `stat_interval_ms` where the shape is another. Nothing is changed.
    pub fn edit(&self, rule: &Rule) -> Result<(), RuleError> {
        rule.check()?;
        if !rule.same_shape(&self.rule()) {
            return Err(RuleError {
                field: "stat_interval_ms",
                allowed: "what it was, like the kind of condition and the number of buckets",
            });
        }
        self.head.rule.write(rule);
        self.forget_slack();
        Ok(())
    }

    /// Takes the breaker out of use until it is [assigned](Breaker::assign) again: it admits
    /// everything, and calls that were admitted before are late. One caller at a time.
    pub fn retire(&self) {
        self.restart(|_| Mode::Disabled);
    }

    /// The rule as it is.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.head.rule.read()
    }

    /// Sets the mode (spec section 11): closed, over a cleared window, in a new generation.
    pub fn set_mode(&self, mode: Mode, now: u64) -> Transition {
        self.control(|_| mode, now)
    }

    /// Closes the breaker over a cleared window, in a new generation and the mode it is in.
    pub fn reset(&self, now: u64) -> Transition {
        self.control(Word::mode, now)
    }

    fn control(&self, mode: impl Fn(Word) -> Mode, now: u64) -> Transition {
        let (from, to) = self.restart(mode);
        self.sweep(to.life(), self.head.shape.place(now).lap);
        self.clear_run(to);
        self.transition(from, to, now)
    }

    fn restart(&self, mode: impl Fn(Word) -> Mode) -> (Word, Word) {
        loop {
            let from = self.word();
            let to = from.then_in(mode(from));
            if self.swap(from, to) {
                return (from, to);
            }
        }
    }
}
