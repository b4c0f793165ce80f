//! One rule and its breaker: conditions, states, window, probes, lease, modes (sections 2 to 7 and 11).

use std::collections::BTreeMap;

use crate::MS;

/// A valid rule, every field after defaults; lengths are in ms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRule {
    pub id: Option<String>,
    pub resource: String,
    pub regex: bool,
    pub limit_app: String,
    /// 0 slow ratio, 1 error ratio, 2 error count, 3 consecutive errors.
    pub grade: u8,
    pub count: f64,
    pub slow_ratio_threshold: f64,
    pub inclusive: bool,
    pub min_request_amount: u64,
    pub stat_interval_ms: u64,
    pub buckets: u64,
    pub time_window_ms: u64,
    pub probe_num: u64,
    pub probe_timeout_ms: u64,
    pub backoff_factor: f64,
    pub max_retry_timeout_ms: u64,
}

impl ModelRule {
    pub fn is_bad(&self, error: bool, response_time: u64) -> bool {
        if self.grade == 0 { response_time as f64 > self.count * MS as f64 } else { error }
    }

    /// The value that trips the breaker after a completion that counts, where it does.
    pub fn trips(&self, bad: bool, bads: u64, total: u64, run: u64) -> Option<f64> {
        let ratio = bads as f64 / total as f64;
        let (value, threshold) = match self.grade {
            0 => (ratio, self.slow_ratio_threshold),
            1 => (ratio, self.count),
            2 => (bads as f64, self.count),
            _ => return (bad && run as f64 >= self.count).then_some(run as f64),
        };
        let reached = (self.inclusive || self.grade != 2 && threshold == 1.0) && value == threshold;
        let judged = bads > 0 && total >= self.min_request_amount;
        (judged && (reached || value > threshold)).then_some(value)
    }

    /// How long the breaker stays open, in ns, after the `n`-th reopening in a row; the 0th is the trip.
    pub fn wait(&self, n: u64) -> u64 {
        let limit = self.max_retry_timeout_ms.max(self.time_window_ms) as f64;
        let longer = |wait: f64, _| limit.min(wait * self.backoff_factor);
        ((0..n).fold(self.time_window_ms as f64, longer).floor() as u64).saturating_mul(MS)
    }

    pub fn same(&self, other: &ModelRule) -> bool {
        ModelRule { id: None, ..self.clone() } == ModelRule { id: None, ..other.clone() }
    }

    /// D7: whether this is an edit of `old` that leaves it its breaker.
    pub fn edits(&self, old: &ModelRule) -> bool {
        let ModelRule { id, resource, regex, grade, stat_interval_ms, buckets, .. } = old;
        let named = id.is_some() && (&self.id, &self.resource, self.regex) == (id, resource, *regex);
        named && (self.grade, self.stat_interval_ms, self.buckets) == (*grade, *stat_interval_ms, *buckets)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Closed,
    Open,
    HalfOpen,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Normal,
    ForcedOpen,
    Disabled,
    ObserveOnly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Good,
    Bad,
    Ignored,
    Cancelled,
}

/// What is announced: state and mode before and after, and the value of section 2's last column.
pub type Change = ((State, Mode), (State, Mode), Option<f64>);
/// The generation that a permit was given in, and whether the call is a probe.
pub type Permit = (u64, bool);

/// A time (ns) to wait for, and how far off it was when it was set.
#[derive(Clone, Copy, Debug, Default)]
struct Deadline(u64, u64);

impl Deadline {
    fn new(now: u64, length: u64) -> Self {
        Self(now.saturating_add(length), length)
    }

    /// What is left of it. A clock that went back moves it: there is never more left than its length.
    fn ask(&mut self, now: u64) -> u64 {
        self.0 = self.0.min(now.saturating_add(self.1));
        // Beyond the clock's last ns it never comes, not even then.
        if self.0 == u64::MAX { self.1 } else { self.0.saturating_sub(now) }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Breaker {
    pub rule: ModelRule,
    pub state: State,
    pub mode: Mode,
    pub totals: BTreeMap<&'static str, u64>,
    /// Bad completions since the last good one.
    pub run: u64,
    /// Completions that have not been recycled: the number of the bucket, and whether bad.
    window: Vec<(u64, bool)>,
    generation: u64,
    retry: Deadline,
    reopenings: u64,
    /// The probe round: its number, probes out, probes done well, and the lease unless that never ends.
    round: u64,
    out: u64,
    well: u64,
    lease: Option<Deadline>,
}

impl Breaker {
    /// The first step of an admission: whether this breaker rejects the call. Moves deadlines only.
    pub fn rejects(&mut self, now: u64) -> bool {
        let deadline = if self.state == State::Open { Some(&mut self.retry) } else { self.lease.as_mut() };
        deadline.map(|deadline| deadline.ask(now));
        self.would_reject(now) && self.mode != Mode::ObserveOnly
    }

    /// The second step, where nobody rejects: no permit from a breaker that only observes a rejection.
    pub fn admit(&mut self, now: u64) -> (Option<Permit>, Option<Change>) {
        if self.would_reject(now) {
            self.tally("observed");
            return (None, None);
        }
        self.tally("passed");
        let begins_round = self.begins_round(now);
        let change = (self.state == State::Open).then(|| self.go(State::HalfOpen, None));
        if begins_round {
            if change.is_none() {
                self.generation += 1;
                self.tally("forfeited");
            }
            (self.round, self.out, self.well) = (self.rule.probe_num, 0, 0);
        }
        let probe = self.state == State::HalfOpen;
        if probe {
            self.out += 1;
            let length = self.rule.probe_timeout_ms.saturating_mul(MS);
            self.lease = (length > 0).then(|| Deadline::new(now, length));
        }
        (Some((self.generation, probe)), change)
    }

    /// Open at its retry time, or half-open (D3) with a probe still out when the lease has ended.
    fn begins_round(&self, now: u64) -> bool {
        self.retry_after(now) == Some(0) && (self.state == State::Open || self.out > 0)
    }

    fn would_reject(&self, now: u64) -> bool {
        let full = self.state == State::Open || self.out + self.well >= self.round;
        let shut = self.state != State::Closed && full && !self.begins_round(now);
        self.mode == Mode::ForcedOpen || shut
    }

    /// Time until the next probe may go: none without a limit. Reading it moves nothing.
    pub fn retry_after(&self, now: u64) -> Option<u64> {
        let deadline = match self.state {
            State::Closed => None,
            State::Open => Some(self.retry),
            State::HalfOpen => self.lease,
        };
        deadline.map(|mut deadline| deadline.ask(now))
    }

    /// How an admitted call ended. D1: a completion of an earlier generation neither counts nor decides.
    pub fn end(&mut self, permit: Permit, outcome: Outcome, response_time: u64, now: u64) -> Option<Change> {
        let (late, probe) = (permit.0 != self.generation, permit.1);
        let what = match (outcome, self.rule.is_bad(outcome == Outcome::Bad, response_time)) {
            (Outcome::Ignored, _) => "ignored",
            (Outcome::Cancelled, _) => "cancelled",
            _ if late => "late",
            (_, true) => "bad",
            (_, false) => "good",
        };
        self.tally(what);
        match what {
            _ if late => None,
            "good" | "bad" if !probe => self.count(what == "bad", now),
            "bad" => self.open(self.reopenings + 1, 1.0, now),
            "good" => {
                (self.out, self.well) = (self.out - 1, self.well + 1);
                (self.well == self.round).then(|| self.go(State::Closed, None))
            }
            _ if probe => {
                self.out -= 1;
                (self.out + self.well == 0).then(|| self.go(State::Open, Some(1.0)))
            }
            _ => None,
        }
    }

    fn count(&mut self, bad: bool, now: u64) -> Option<Change> {
        let (own, slots) = (self.bucket(now), self.rule.buckets);
        // A slot that has been recycled for a later time counts for that.
        let in_slot =
            self.window.iter().map(|(other, _)| *other).filter(|other| other % slots == own % slots);
        let bucket = in_slot.max().unwrap_or(own).max(own);
        self.window.retain(|(other, _)| other % slots != bucket % slots || *other == bucket);
        self.window.push((bucket, bad));
        self.run = if bad { self.run + 1 } else { 0 };
        let (bads, total) = self.counts(now);
        let value = self.rule.trips(bad, bads, total, self.run).filter(|_| self.mode != Mode::Disabled)?;
        self.open(0, value, now)
    }

    /// Bad and all completions of the bucket that holds `now`, the `B - 1` before it, and all later ones.
    pub fn counts(&self, now: u64) -> (u64, u64) {
        let counted = self.window.iter().filter(|(bucket, _)| bucket + self.rule.buckets > self.bucket(now));
        (counted.clone().filter(|(_, bad)| *bad).count() as u64, counted.count() as u64)
    }

    fn bucket(&self, now: u64) -> u64 {
        now / (self.rule.stat_interval_ms / self.rule.buckets).saturating_mul(MS)
    }

    fn open(&mut self, reopenings: u64, value: f64, now: u64) -> Option<Change> {
        self.reopenings = reopenings;
        self.retry = Deadline::new(now, self.rule.wait(reopenings));
        Some(self.go(State::Open, Some(value)))
    }

    /// Sets the mode: to the one that it has, a reset.
    pub fn set_mode(&mut self, mode: Mode) -> Change {
        let from = (self.state, std::mem::replace(&mut self.mode, mode));
        (from, self.go(State::Closed, None).1, None)
    }

    fn go(&mut self, state: State, snapshot: Option<f64>) -> Change {
        let from = (std::mem::replace(&mut self.state, state), self.mode);
        self.generation += 1;
        if state == State::Closed {
            self.window.clear();
            self.run = 0;
        }
        (from, (state, self.mode), snapshot)
    }

    pub fn tally(&mut self, what: &'static str) {
        *self.totals.entry(what).or_default() += 1;
    }
}
