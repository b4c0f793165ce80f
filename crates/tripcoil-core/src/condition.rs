//! The decision to trip (spec section 4), on counts that have been read already.

use crate::rule::{Condition, Rule};

/// What a window holds at some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that ended well.
    pub good: u64,
    /// Calls that were slow, for a slow-ratio rule, or ended with an error, for the others.
    pub bad: u64,
}

impl Counts {
    /// All calls.
    #[must_use]
    pub fn total(self) -> u64 {
        self.good.saturating_add(self.bad)
    }
}

impl Rule {
    /// The value that trips the breaker over these counts, or none. A ratio, or a count.
    pub(crate) fn trips(&self, counts: Counts) -> Option<f64> {
        if counts.bad == 0 || counts.total() < self.min_request_amount {
            return None;
        }
        match self.condition {
            Condition::SlowRatio { threshold, .. } | Condition::ErrorRatio(threshold) => {
                let ratio = counts.bad as f64 / counts.total() as f64;
                let all = ratio == 1.0 && threshold == 1.0;
                (all || self.exceeds(ratio, threshold)).then_some(ratio)
            }
            Condition::ErrorCount(threshold) => {
                let bad = counts.bad as f64;
                self.exceeds(bad, threshold).then_some(bad)
            }
            Condition::ConsecutiveErrors(_) => None,
        }
    }

    /// How many more bad calls, at most `limit`, surely do not trip the breaker, whatever good ones come with
    /// them; none where these counts may trip it by themselves once there are enough calls.
    pub(crate) fn room(&self, counts: Counts, limit: u64) -> Option<u64> {
        let enough = Rule { min_request_amount: 0, ..*self };
        let trips =
            |more: u64| enough.trips(Counts { bad: counts.bad.saturating_add(more), ..counts }).is_some();
        if trips(0) {
            return None;
        }
        // The largest that does not trip is at least `room`, and less than `beyond`: first that is looked
        // for by doubling, since a condition that is nearly met leaves little room.
        let (mut room, mut beyond) = (0, 1);
        while beyond <= limit && !trips(beyond) {
            (room, beyond) = (beyond, beyond * 2);
        }
        let mut beyond = beyond.min(limit + 1);
        while room + 1 < beyond {
            let middle = room.midpoint(beyond);
            if trips(middle) { beyond = middle } else { room = middle }
        }
        Some(room)
    }

    /// The run that trips the breaker, where it has one that asks for runs.
    pub(crate) fn trips_on_run(&self, run: u64) -> Option<f64> {
        match self.condition {
            Condition::ConsecutiveErrors(count) => (run as f64 >= count).then_some(run as f64),
            _ => None,
        }
    }

    fn exceeds(&self, value: f64, threshold: f64) -> bool {
        value > threshold || (self.inclusive && value == threshold)
    }
}
