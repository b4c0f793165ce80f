//! `tripcoil-conformance [DIR [NAME=COMMAND…]]`: every runner on every vector file of a folder; each
//! command is a driver of another language.

use std::path::PathBuf;
use std::process::ExitCode;

use tripcoil_conformance::{Driver, Runner, Rust, Suite, check};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "tests/vectors".into()));
    let mut drivers = Vec::new();
    for argument in arguments {
        let Some((name, command)) = argument.to_str().and_then(|text| text.split_once('=')) else {
            eprintln!("usage: tripcoil-conformance [DIR [NAME=COMMAND…]]");
            return ExitCode::FAILURE;
        };
        drivers.push((name.to_owned(), command.to_owned()));
    }
    let suite = match Suite::read(&folder) {
        Ok(suite) => suite,
        Err(refusal) => {
            eprintln!("refused: {refusal}");
            return ExitCode::FAILURE;
        }
    };
    let mut agree = judge(&suite, &mut Rust);
    for (name, command) in drivers {
        match drive(&suite, &name, &command) {
            Ok(agrees) => agree &= agrees,
            Err(failure) => {
                println!("{name}: {failure}");
                agree = false;
            }
        }
    }
    if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether a runner agrees with the suite.
fn judge(suite: &Suite, runner: &mut dyn Runner) -> bool {
    let tally = check(suite, runner, |difference| println!("{difference}"));
    println!("{}: {tally}", runner.name());
    tally.differ == 0
}

fn drive(suite: &Suite, name: &str, command: &str) -> Result<bool, String> {
    let mut driver = Driver::start(name, command)?;
    let agrees = judge(suite, &mut driver);
    driver.end()?;
    Ok(agrees)
}
