//! One run of the story: server, clients and guard for as long as the script has calls.

use std::error::Error;
use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tripcoil::{Change, State};

use crate::client::{Client, Outcome, Sample};
use crate::guard::Guard;
use crate::progress::Progress;
use crate::script::{CLIENTS, LENGTH, Phase, Script};
use crate::server::Server;
use crate::story::{Run, Turn};
use crate::watch::Watch;

/// What the main thread is told while a run goes on.
enum Event {
    Call(Sample),
    Turn(Turn),
}

/// Plays the script once, at `speed`, through Sentinel's `rules` where there are any.
pub(crate) fn run(
    script: Script,
    speed: f64,
    rules: Option<&str>,
    progress: &mut Progress<impl Write>,
) -> Result<Run, Box<dyn Error>> {
    let watch = Watch::start(speed);
    let (sender, events) = mpsc::channel();
    let guard = match rules {
        None => Guard::None,
        Some(rules) => {
            let sender = sender.clone();
            Guard::breaker(rules, watch, move |change| {
                // Nobody listens once the run is over.
                let _ = sender.send(Event::Turn(Turn::from(change)));
            })?
        }
    };
    let server = Server::start(script, watch)?;
    let address = server.address();
    let mut run = Run::new(guard.rules());
    let told = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|id| {
                let (sender, guard) = (sender.clone(), &guard);
                let report = move |sample| sender.send(Event::Call(sample)).is_ok();
                scope.spawn(move || Client::new(id, address, script, watch).run(guard, report))
            })
            .collect();
        let over = || clients.iter().all(thread::ScopedJoinHandle::is_finished);
        // Owns the receiver: if it ends early, so do the clients.
        tell(&mut run, events, over, watch, progress)
    });
    run.sick = server.stop();
    told?;
    run.turns.sort_by_key(|turn| turn.at);
    Ok(run)
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
            (None, State::Open) => "back to waiting".into(),
            (None, State::HalfOpen) => "the wait is over: the next call is let through as a probe".into(),
            (None, State::Closed) => "the probe ended well".into(),
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

/// How often the progress line moves while nothing happens.
const TICK: Duration = Duration::from_millis(50);
