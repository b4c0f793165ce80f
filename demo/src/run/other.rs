//! A run whose calls are made by a program in another language.

use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread;

use tripcoil::Strategy;

use crate::client::Client;
use crate::guard;
use crate::language::Language;
use crate::lines::{Change, listen};
use crate::program::{Output, Program};
use crate::progress::Progress;
use crate::script::{CALLS, CLIENTS, Caller, Script};
use crate::server::Server;
use crate::story::{Run, Turn};
use crate::watch::Watch;

use super::{Event, reason, tell};

/// Plays the script once from the language's program, which loads the rules from their file; in real
/// time, because its breakers read the real clock.
pub(crate) fn run_program(
    script: Script,
    language: &Language,
    (rules_file, rules): (&Path, &str),
    progress: &mut Progress<impl Write>,
) -> Result<Run, Box<dyn Error>> {
    let (program, output) = Program::start(language.command(rules_file))?;
    let watch = Watch::start(1.0);
    let server = Server::start(script, watch)?;
    let address = server.address();
    let mut run = Run::new(language.name, guard::rules_of(&address.to_string(), rules)?);
    let played = Play { script, watch, address, program: &program }.play(output, &mut run, progress);
    run.sick = server.stop();
    played?;
    if run.samples.len() == (CLIENTS * CALLS) as usize {
        Ok(run)
    } else {
        Err("left calls unanswered".into())
    }
}

struct Play<'a> {
    script: Script,
    watch: Watch,
    address: SocketAddr,
    program: &'a Program,
}

impl Play<'_> {
    fn play(
        &self,
        output: Output,
        run: &mut Run,
        progress: &mut Progress<impl Write>,
    ) -> Result<(), Box<dyn Error>> {
        let (sender, events) = mpsc::channel();
        let (answerers, answers): (Vec<_>, Vec<_>) = (0..CLIENTS).map(|_| mpsc::channel()).unzip();
        let (heard, hearing) = mpsc::channel();
        let changed = self.changed(run.rules.clone(), sender.clone());
        thread::scope(|scope| {
            let listener = scope.spawn(move || {
                let said = listen(output, &answerers, changed);
                drop::<Sender<()>>(heard);
                said
            });
            let clients: Vec<_> = (0..)
                .zip(answers)
                .map(|(id, answers)| {
                    let sender = sender.clone();
                    let report = move |sample| sender.send(Event::Call(sample)).is_ok();
                    let make =
                        move |caller: Caller| self.program.call(caller, &caller.url(self.address), &answers);
                    let client = Client { id, script: self.script, watch: self.watch };
                    scope.spawn(move || client.run(make, report))
                })
                .collect();
            let over = || clients.iter().all(thread::ScopedJoinHandle::is_finished);
            let told = tell(run, events, over, self.watch, progress);
            let ended = self.program.end(&hearing);
            told?;
            listener.join().map_err(|_| "was not heard out")??;
            ended
        })
    }

    /// Takes in the changes that the program tells of. False for one of a breaker that is not there.
    fn changed(&self, rules: Vec<Strategy>, sender: Sender<Event>) -> impl FnMut(Change) -> bool + use<> {
        let watch = self.watch;
        move |Change { position, from, to, why }| {
            let Some(&rule) = rules.get(position) else { return false };
            let why = if why.is_empty() { reason(to) } else { why }.to_owned();
            // Nobody listens once the run is over.
            let _ = sender.send(Event::Turn(Turn { at: watch.now(), position, rule, from, to, why }));
            true
        }
    }
}
