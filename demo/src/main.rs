//! One outage, told twice: the same clients call the same server over real sockets, first as they
//! are, then through the breaker. Ends with the figures of both and a picture.

use std::error::Error;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::progress::Progress;
use crate::run::run;
use crate::script::{CLIENTS, INTERVAL, LENGTH, Script};
use crate::table::Table;

mod client;
mod guard;
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
/// all the while: first unguarded, then through the breaker. Times are the script's own.
#[derive(Parser)]
struct Options {
    /// What schedule, delays and failures are drawn from: the same seed tells the same story
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// How much faster than real time the story is told
    #[arg(long, default_value_t = 1.0, value_parser = speed)]
    speed: f64,

    /// The breaker's rules for the resource "GET /stock": Sentinel JSON
    #[arg(long, default_value = "demo/rules.json", value_name = "FILE")]
    rules: PathBuf,

    /// Where the picture goes
    #[arg(long, default_value = "target/demo/timeline.svg", value_name = "FILE")]
    out: PathBuf,
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

    let (every, length) = (INTERVAL.as_millis(), 2.0 * LENGTH.as_secs_f64() / options.speed);
    progress.say(&format!("{CLIENTS} clients, a call every {every} ms each; some {length:.0} s in all."))?;
    progress.say("\nWithout the breaker")?;
    let without = run(script, options.speed, None, &mut progress)?;
    progress.restart();
    progress.say(&format!("\nWith the breaker, by {file}"))?;
    let with = run(script, options.speed, Some(&rules), &mut progress)?;

    let (before, after) = (without.figures(), with.figures());
    progress.say(&format!("\n{}", Table { without: &before, with: &after }))?;
    let picture = svg::Picture { seed: options.seed, without: &without, with: &with };
    fs::write(&options.out, picture.to_string()).map_err(|error| format!("{out}: {error}"))?;
    progress.say(&format!("picture: {out}"))?;
    Ok(())
}

fn speed(text: &str) -> Result<f64, String> {
    let range = 0.1..=20.0;
    let speed = text.parse().map_err(|_| "not a number".to_owned())?;
    if range.contains(&speed) { Ok(speed) } else { Err("allowed: 0.1 to 20".to_owned()) }
}
