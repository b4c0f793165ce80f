//! Runs of the story: server, clients and guard for as long as the script has calls.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tripcoil::{Change, State};

use crate::client::{Outcome, Sample};
use crate::progress::Progress;
use crate::script::{LENGTH, Phase};
use crate::story::{Run, Turn};
use crate::watch::Watch;

pub(crate) use self::other::run_program;
pub(crate) use self::rust::run;

mod other;
mod rust;

/// What the main thread is told while a run goes on.
enum Event {
    Call(Sample),
    Turn(Turn),
}

/// Takes events into `run`, and tells of them, until the run is `over`.
fn tell(
    run: &mut Run,
    events: Receiver<Event>,
    over: impl Fn() -> bool,
    watch: Watch,
    progress: &mut Progress<impl Write>,
) -> io::Result<()> {
    loop {
        // Asked before the channel is, so that nothing is left in it at the end.
        let over = over();
        match events.recv_timeout(TICK) {
            Ok(Event::Call(sample)) => run.samples.push(sample),
            Ok(Event::Turn(turn)) => {
                progress.say(&turn.to_string())?;
                run.turns.push(turn);
            }
            Err(RecvTimeoutError::Timeout) if !over => {}
            Err(_) => return progress.clear(),
        }
        let now = watch.now();
        progress.show(now, || status(run, now))?;
    }
}

/// The progress line.
fn status(run: &Run, now: Duration) -> String {
    let width = 10;
    let done = now.div_duration_f64(LENGTH).min(1.0);
    let full = (done * f64::from(width)) as usize;
    let bar = "█".repeat(full) + &"░".repeat(width as usize - full);
    let (seconds, phase) = (now.min(LENGTH).as_secs_f64(), Phase::at(now).name());
    let count = |outcome| run.count(outcome);
    format!(
        "{bar} {seconds:4.1} s {phase:<7} {:4} calls: {} ok, {} slow, {} failed, {} blocked",
        run.samples.len(),
        count(Outcome::Ok),
        count(Outcome::Slow),
        count(Outcome::Failed),
        count(Outcome::Blocked),
    )
}

impl From<&Change> for Turn {
    fn from(change: &Change) -> Self {
        let why = match (&change.trip, change.to) {
            (Some(trip), _) => trip.to_string(),
            (None, to) => reason(to).into(),
        };
        Self {
            at: change.at,
            position: change.position,
            rule: change.rule.strategy(),
            from: change.from,
            to: change.to,
            why,
        }
    }
}

/// Why a breaker came to a state that needs no figures to explain.
fn reason(to: State) -> &'static str {
    match to {
        State::Open => "back to waiting",
        State::HalfOpen => "the wait is over: the next call is let through as a probe",
        State::Closed => "the probe ended well",
    }
}

/// How often the progress line moves while nothing happens.
const TICK: Duration = Duration::from_millis(50);
