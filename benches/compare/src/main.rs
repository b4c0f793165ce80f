//! Measures Tripcoil beside other circuit breakers and beside what no breaker can do without, and writes what
//! came of it: `benches/RESULTS.md`, `benches/growth.svg`. See `benches/README.md`.
#![forbid(unsafe_code)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;

use goals::goals;
use growth::Growth;
use machine::Machine;
use report::{Report, table};
use rounds::Rounds;
use samples::Results;

mod c;
mod goals;
mod growth;
mod json;
mod machine;
mod names;
mod one_thread;
mod others;
mod panel;
mod pen;
mod report;
mod rounds;
mod samples;
mod threads;

#[derive(Parser)]
#[command(about = "Measures Tripcoil beside other circuit breakers")]
struct Options {
    /// A look, not a measurement: few rounds
    #[arg(long)]
    quick: bool,
    /// What to measure: one-thread, threads, names, json, memory, python, node
    #[arg(long, value_delimiter = ',', default_values_t = PARTS.map(str::to_owned))]
    only: Vec<String>,
    /// The folder for RESULTS.md and growth.svg
    #[arg(long, default_value = "benches")]
    out: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let mut results = Results::default();
    for part in PARTS {
        if options.only.iter().any(|only| only == part) {
            measure(part, options.quick, &mut results);
        } else {
            results.lacks(part, "left out of this run");
        }
    }
    let goals = goals(&results);
    println!("{}", table(&goals));
    std::fs::create_dir_all(&options.out)?;
    let (page, picture) = (options.out.join("RESULTS.md"), options.out.join("growth.svg"));
    let report = Report { machine: &Machine::look(), quick: options.quick, goals: &goals, results: &results };
    std::fs::write(&page, report.to_string())?;
    std::fs::write(&picture, Growth(&results).to_string())?;
    println!("wrote {} and {}", page.display(), picture.display());
    Ok(())
}

/// Measures a part, or notes why that cannot be done here.
fn measure(part: &'static str, quick: bool, results: &mut Results) {
    let rounds = |full: u32| if quick { full.div_ceil(10) } else { full };
    let done = match part {
        "one-thread" => {
            let mut all = Rounds::new("one thread", Duration::from_millis(2));
            one_thread::add_to(&mut all);
            let with_c = c::add_to(&mut all);
            all.run(rounds(151), results);
            if let Err(why) = with_c {
                results.lacks("c", why);
            }
            Ok(())
        }
        "threads" => {
            let mut all = Rounds::new("threads that share a breaker", Duration::from_millis(4));
            threads::add_to(&mut all);
            all.run(rounds(61), results);
            Ok(())
        }
        "names" => {
            let mut all = Rounds::new("by name", Duration::from_millis(4));
            names::add_to(&mut all);
            all.run(rounds(61), results);
            Ok(())
        }
        "json" => {
            json::measure(rounds(15), results);
            Ok(())
        }
        "memory" => others::memory(results),
        "python" => others::python(quick, results),
        _ => others::node(quick, results),
    };
    if let Err(why) = done {
        eprintln!("{part}: {why}");
        results.lacks(part, why);
    }
}

/// The repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

const PARTS: [&str; 7] = ["one-thread", "threads", "names", "json", "memory", "python", "node"];
