//! The script: who calls when, and how the server behaves. All of it follows from the seed.
//!
//! Phases and the waits in `rules.json` are placed so that every probe falls well inside a phase
//! (at least 0.3 s from its edges); the order of state changes then survives the jitter of real
//! sockets and of a busy machine.

use std::net::SocketAddr;
use std::ops::Range;
use std::time::Duration;

pub(crate) const CLIENTS: u32 = 24;
/// Calls that each client makes.
pub(crate) const CALLS: u32 = 45;
/// A client's calls are this far apart, but for the jitter.
pub(crate) const INTERVAL: Duration = Duration::from_millis(200);
/// What the whole story takes.
pub(crate) const LENGTH: Duration = Duration::from_millis(9_000);
/// A client gives up on an answer after this.
pub(crate) const TIME_OUT: Duration = Duration::from_millis(1_000);
/// An answer that takes longer is told as slow; the slow-ratio rule in `rules.json` says the same.
pub(crate) const SLOW: Duration = Duration::from_millis(200);

/// A stretch of the outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Healthy,
    Slow,
    Failing,
    Healed,
}

impl Phase {
    pub(crate) const ALL: [Self; 4] = [Self::Healthy, Self::Slow, Self::Failing, Self::Healed];

    /// The phase at story time `at`. The last one has no end.
    pub(crate) fn at(at: Duration) -> Self {
        Self::ALL.into_iter().find(|phase| at < phase.span().end).unwrap_or(Self::Healed)
    }

    pub(crate) fn span(self) -> Range<Duration> {
        let (from, to) = match self {
            Self::Healthy => (0, 2_000),
            Self::Slow => (2_000, 4_500),
            Self::Failing => (4_500, 6_800),
            Self::Healed => (6_800, 9_000),
        };
        Duration::from_millis(from)..Duration::from_millis(to)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Slow => "slow",
            Self::Failing => "failing",
            Self::Healed => "healed",
        }
    }

    pub(crate) fn is_sick(self) -> bool {
        matches!(self, Self::Slow | Self::Failing)
    }

    /// How much of the phase is over at `at`: 0 to 1.
    fn progress(self, at: Duration) -> f64 {
        let span = self.span();
        let over = at.saturating_sub(span.start).as_secs_f64();
        (over / (span.end - span.start).as_secs_f64()).min(1.0)
    }
}

/// One call in the whole story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) client: u32,
    pub(crate) call: u32,
}

impl Caller {
    /// What it asks the server for.
    pub(crate) fn url(self, server: SocketAddr) -> String {
        format!("http://{server}/stock?client={}&call={}", self.client, self.call)
    }
}

/// What the server sends back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Stock,
    Unavailable,
    Reset,
}

/// What the server does with one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Act {
    pub(crate) after: Duration,
    pub(crate) answer: Answer,
}

/// The same seed is the same script.
#[derive(Clone, Copy)]
pub(crate) struct Script {
    pub(crate) seed: u64,
}

impl Script {
    /// When the call is due: clients are spread over the interval, and none is punctual.
    pub(crate) fn due(self, caller: Caller) -> Duration {
        let spread = f64::from(caller.client) / f64::from(CLIENTS);
        let jitter = 0.3 * self.roll(caller, Die::Due);
        INTERVAL.mul_f64(f64::from(caller.call) + (spread + jitter).fract())
    }

    /// What the server does with a call that reaches it at `at`.
    pub(crate) fn act(self, caller: Caller, at: Duration) -> Act {
        let jitter = self.roll(caller, Die::Delay);
        let phase = Phase::at(at);
        let (millis, answer) = match phase {
            Phase::Healthy | Phase::Healed => (4.0 + 16.0 * jitter, Answer::Stock),
            Phase::Slow => {
                let worsening = 300.0 + 900.0 * phase.progress(at);
                (worsening * (0.9 + 0.2 * jitter), Answer::Stock)
            }
            Phase::Failing if self.roll(caller, Die::Failure) < 0.25 => (2.0, Answer::Reset),
            Phase::Failing => (4.0 + 12.0 * jitter, Answer::Unavailable),
        };
        Act { after: Duration::from_millis(1).mul_f64(millis), answer }
    }

    /// A number from 0 to below 1 that depends on nothing but seed, caller and die.
    fn roll(self, caller: Caller, die: Die) -> f64 {
        let call = u64::from(caller.client) << 32 | u64::from(caller.call);
        let bits = mix(mix(mix(self.seed) ^ call) ^ die as u64);
        (bits >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// What a roll is for: each has a sequence of its own.
#[derive(Clone, Copy)]
enum Die {
    Due = 1,
    Delay,
    Failure,
}

/// One step of SplitMix64: spreads neighbouring numbers over all 64 bits.
fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn callers() -> impl Iterator<Item = Caller> {
        (0..CLIENTS).flat_map(|client| (0..CALLS).map(move |call| Caller { client, call }))
    }

    #[test]
    fn phases_follow_each_other_and_fill_the_story() {
        assert_eq!(Phase::Healthy.span().start, Duration::ZERO);
        assert_eq!(Phase::Healed.span().end, LENGTH);
        for pair in Phase::ALL.windows(2) {
            assert_eq!(pair[0].span().end, pair[1].span().start);
        }
    }

    #[test]
    fn every_call_is_due_in_its_turn_and_within_the_story() {
        let script = Script { seed: 7 };
        for caller in callers() {
            let turn = INTERVAL * caller.call..INTERVAL * (caller.call + 1);
            assert!(turn.contains(&script.due(caller)), "{caller:?}");
            assert!(turn.end <= LENGTH);
        }
    }

    #[test]
    fn the_same_seed_is_the_same_script_and_another_is_not() {
        let dues = |seed| callers().map(|c| Script { seed }.due(c)).collect::<Vec<_>>();
        assert_eq!(dues(1), dues(1));
        assert_ne!(dues(1), dues(2));
    }

    #[test]
    fn only_the_failing_server_fails_and_only_the_slow_one_is_slow() {
        let script = Script { seed: 7 };
        for phase in Phase::ALL {
            for caller in callers() {
                let act = script.act(caller, phase.span().start);
                assert_eq!(act.answer != Answer::Stock, phase == Phase::Failing, "{caller:?}");
                assert_eq!(act.after > SLOW, phase == Phase::Slow, "{caller:?}");
            }
        }
    }
}
