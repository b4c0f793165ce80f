//! A run whose calls are made in this process.

use std::error::Error;
use std::io::Write;
use std::sync::mpsc;
use std::thread;

use crate::client::Client;
use crate::guard::Guard;
use crate::http::Http;
use crate::progress::Progress;
use crate::script::{CLIENTS, Script};
use crate::server::Server;
use crate::story::{Run, Turn};
use crate::watch::Watch;

use super::{Event, tell};

/// Plays the script once from this process, at `speed`, through Sentinel's `rules` where there are any.
pub(crate) fn run(
    script: Script,
    speed: f64,
    rules: Option<&str>,
    progress: &mut Progress<impl Write>,
) -> Result<Run, Box<dyn Error>> {
    let watch = Watch::start(speed);
    let (sender, events) = mpsc::channel();
    let server = Server::start(script, watch)?;
    let address = server.address();
    let guard = match rules {
        None => Guard::None,
        Some(rules) => {
            let sender = sender.clone();
            Guard::breaker(rules, &address.to_string(), watch, move |change| {
                // Nobody listens once the run is over.
                let _ = sender.send(Event::Turn(Turn::from(change)));
            })?
        }
    };
    let mut run = Run::new(if rules.is_some() { "Rust" } else { "without" }, guard.rules());
    let told = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|id| {
                let (sender, guard) = (sender.clone(), &guard);
                let report = move |sample| sender.send(Event::Call(sample)).is_ok();
                scope.spawn(move || {
                    let http = Http::new(address, watch);
                    Client { id, script, watch }.run(|caller| Some(http.call(caller, guard)), report);
                })
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
