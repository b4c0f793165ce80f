//! One outage, told several times: the same clients call the same server over real sockets, first as
//! they are, then through the breaker, from each language. Ends with the figures of all and a picture.

use std::error::Error;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::iter;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::language::{LANGUAGES, Language};
use crate::progress::Progress;
use crate::run::{run, run_program};
use crate::script::{CLIENTS, INTERVAL, LENGTH, Script};
use crate::table::Table;

mod client;
mod guard;
mod http;
mod language;
mod lines;
mod program;
mod progress;
mod run;
mod script;
mod server;
mod story;
mod svg;
mod table;
mod watch;

/// Plays a scripted outage over real sockets, without and with the breaker.
///
/// A server on a loopback port is healthy, then slow, then failing, then healed. Clients call it
/// all the while: first unguarded, then through the breaker, from each language. Times are the script's own.
#[derive(Parser)]
struct Options {
    /// What schedule, delays and failures are drawn from: the same seed tells the same story
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// How much faster than real time the story is told
    #[arg(long, default_value_t = 1.0, value_parser = speed)]
    speed: f64,

    /// The breaker's rules, for the server's host and port: Sentinel JSON
    #[arg(long, default_value = "demo/rules.json", value_name = "FILE")]
    rules: PathBuf,

    /// Where the picture goes
    #[arg(long, default_value = "target/demo/timeline.svg", value_name = "FILE")]
    out: PathBuf,

    /// The languages that take part; without it all do
    #[arg(long, value_delimiter = ',', value_name = "LANGUAGES", value_parser = known)]
    only: Vec<String>,

    /// Fail where a language cannot take part, instead of leaving it out
    #[arg(long)]
    strict: bool,
}

fn main() -> ExitCode {
    match demo(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If not even that can be written, the exit code has to do.
            let _ = writeln!(io::stderr(), "tripcoil-demo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn demo(options: &Options) -> Result<(), Box<dyn Error>> {
    let file = options.rules.display();
    let rules = fs::read_to_string(&options.rules).map_err(|error| format!("{file}: {error}"))?;
    guard::check(&rules).map_err(|faults| format!("{file}:\n{faults}"))?;
    let out = options.out.display();
    if let Some(folder) = options.out.parent() {
        fs::create_dir_all(folder).map_err(|error| format!("{out}: {error}"))?;
    }
    let script = Script { seed: options.seed };
    let mut progress = Progress::new(io::stdout(), io::stdout().is_terminal());
    let languages = others(options, &mut progress)?;

    let (every, length, speed) = (INTERVAL.as_millis(), LENGTH.as_secs_f64(), options.speed);
    let rust = options.plays("Rust");
    if languages.is_empty() && !rust {
        return Ok(());
    }
    let seconds = length * languages.len() as f64 + if rust { 2.0 * length / speed } else { 0.0 };
    progress.say(&format!("{CLIENTS} clients, a call every {every} ms each; some {seconds:.0} s in all."))?;
    let mut runs = Vec::new();
    if rust {
        progress.say("\nWithout the breaker")?;
        runs.push(run(script, speed, None, &mut progress)?);
        progress.restart();
        progress.say(&format!("\nWith the breaker, by {file}: from Rust"))?;
        runs.push(run(script, speed, Some(&rules), &mut progress)?);
    }
    for language in languages {
        let name = language.name;
        progress.restart();
        progress.say(&format!("\nWith the breaker, by {file}: from {name}"))?;
        let played = run_program(script, language, (&options.rules, &rules), &mut progress);
        runs.push(played.map_err(|error| format!("the client in {name} {error}"))?);
    }

    progress.say(&format!("\n{}", Table(&runs)))?;
    let picture = svg::Picture { seed: options.seed, runs: &runs };
    fs::write(&options.out, picture.to_string()).map_err(|error| format!("{out}: {error}"))?;
    progress.say(&format!("picture: {out}"))?;
    Ok(())
}

/// The other languages that take part. Says which do not, and how they would.
fn others(
    options: &Options,
    progress: &mut Progress<impl Write>,
) -> Result<Vec<&'static Language>, Box<dyn Error>> {
    let mut languages = Vec::new();
    for language in LANGUAGES.iter().filter(|language| options.plays(language.name)) {
        let missing = if options.speed == 1.0 {
            language.build()?
        } else {
            Some("its breakers read the real clock: it takes part at --speed 1".to_owned())
        };
        match missing {
            None => languages.push(language),
            Some(missing) if options.strict => return Err(format!("{}: {missing}", language.name).into()),
            Some(missing) => progress.say(&format!("{} is left out: {missing}", language.name))?,
        }
    }
    if languages.is_empty() && !options.plays("Rust") {
        Err("nobody takes part".into())
    } else {
        Ok(languages)
    }
}

impl Options {
    fn plays(&self, language: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only.eq_ignore_ascii_case(language))
    }
}

/// A language that can take part.
fn known(text: &str) -> Result<String, String> {
    let names = || iter::once("Rust").chain(LANGUAGES.iter().map(|language| language.name));
    if names().any(|name| name.eq_ignore_ascii_case(text)) {
        return Ok(text.to_owned());
    }
    Err(format!("allowed: {}", names().collect::<Vec<_>>().join(", ")))
}

fn speed(text: &str) -> Result<f64, String> {
    let range = 0.1..=20.0;
    let speed = text.parse().map_err(|_| "not a number".to_owned())?;
    if range.contains(&speed) { Ok(speed) } else { Err("allowed: 0.1 to 20".to_owned()) }
}
