//! What an operation means: which time, which rules, which breaker. The model knows.

use tripcoil_model::{MS, Model};

use super::op::{Op, Pick};
use super::rules::{NAMES, edit, matches};

/// A model, and the time that it is told.
pub struct Course {
    /// The model.
    pub model: Model,
    now: u64,
    latest: u64,
    /// Of all windows that there have been, ms.
    shortest_window: u64,
}

impl Default for Course {
    fn default() -> Self {
        let mut model = Model::default();
        model.matches = Some(matches);
        Self { model, now: 0, latest: 0, shortest_window: u64::MAX }
    }
}

impl Course {
    /// The time, in ns.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Sets the clock where the operation is about time. Whether it is.
    pub fn pass_time(&mut self, op: &Op) -> bool {
        let now = self.now;
        match *op {
            Op::Advance(by) => self.set_clock(now.saturating_add(by)),
            Op::GoBack(by) => self.go_back(by),
            Op::AdvanceToDeadline(breaker, offset) => self.advance_to_deadline(breaker, offset),
            Op::AdvanceToMultiple(stretch, before) => {
                self.set_clock((now / stretch + 1).saturating_mul(stretch) - before);
            }
            _ => return false,
        }
        true
    }

    /// Replaces the model's rules where the operation does. Whether it does.
    pub fn replace_rules(&mut self, op: &Op) -> bool {
        let model = &mut self.model;
        match op {
            Op::LoadDefaults(rules) => model.defaults.clone_from(rules),
            Op::Exclude(name, true) => drop(model.excluded.insert((*name).to_owned())),
            Op::Exclude(name, false) => drop(model.excluded.remove(*name)),
            Op::Load(_)
            | Op::LoadResource(..)
            | Op::Edit(..)
            | Op::SwapIds(..)
            | Op::Reverse
            | Op::Remove(_) => edit(&mut model.ordinary, op),
            _ => return false,
        }
        model.reload();
        let windows = model.ordinary.iter().chain(&model.defaults).map(|rule| rule.stat_interval_ms);
        self.shortest_window = windows.fold(self.shortest_window, u64::min);
        true
    }

    /// The position of one of a resource's breakers, where it has any.
    pub fn breaker(&mut self, name: &str, position: Pick) -> Option<usize> {
        let many = self.model.breakers(name).len();
        (many > 0).then(|| position.of(many))
    }

    fn set_clock(&mut self, now: u64) {
        self.now = now;
        self.latest = self.latest.max(now);
    }

    /// A clock that goes back further than this is taken for one that went back less, as the core says.
    fn go_back(&mut self, by: u64) {
        const MOST_WINDOWS: u64 = 16_383;
        let far = MOST_WINDOWS.saturating_mul(self.shortest_window).saturating_mul(MS);
        let earliest = self.latest.saturating_sub(far).min(self.now);
        self.set_clock(self.now.saturating_sub(by).max(earliest));
    }

    fn advance_to_deadline(&mut self, breaker: Pick, offset: i64) {
        let now = self.now;
        let mut waits = Vec::new();
        for name in NAMES {
            waits.extend(self.model.breakers(name).iter().filter_map(|breaker| breaker.retry_after(now)));
        }
        if !waits.is_empty() {
            let wait = waits[breaker.of(waits.len())];
            self.set_clock(now.saturating_add(wait).saturating_add_signed(offset));
        }
    }
}
