//! `tripcoil-conformance [DIR [NAME=COMMAND…]]`: every runner on every vector file of a folder.
//! `tripcoil-conformance --random SEED STEPS [NAME=COMMAND…]`: every runner on random cases.
//! Each command is a driver of another language.

use std::path::PathBuf;
use std::process::ExitCode;

use tripcoil_conformance::{
    Difference, Driver, RandomCase, Runner, Rust, Suite, check, random_cases, vector,
};

const USAGE: &str = "usage: tripcoil-conformance [DIR | --random SEED STEPS] [NAME=COMMAND…]";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(refusal) => {
            eprintln!("{refusal}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all runners agree with what is wanted.
fn run(mut arguments: impl Iterator<Item = String>) -> Result<bool, String> {
    let first = arguments.next().unwrap_or_else(|| "tests/vectors".to_owned());
    if first != "--random" {
        let suite = Suite::read(&PathBuf::from(first)).map_err(|refusal| format!("refused: {refusal}"))?;
        return each_runner(arguments, |runner| judge(&suite, runner));
    }
    let mut number = || arguments.next().and_then(|word| word.parse::<u64>().ok()).ok_or(USAGE);
    let (seed, steps) = (number()?, number()?);
    let (cases, coverage) = random_cases(seed, usize::try_from(steps).map_err(|_| USAGE)?);
    println!("seed {seed}: {coverage}");
    let missing = coverage.missing();
    if !missing.is_empty() {
        println!("seed {seed}: never happened: {}", missing.join(", "));
    }
    let agree = each_runner(arguments, |runner| judge_random(&cases, runner))?;
    Ok(agree && missing.is_empty())
}

/// Whether a check holds for the Rust library, and for every driver.
fn each_runner(
    drivers: impl Iterator<Item = String>,
    holds: impl Fn(&mut dyn Runner) -> bool,
) -> Result<bool, String> {
    let drivers: Vec<_> = drivers.collect();
    let named = drivers.iter().map(|driver| driver.split_once('=').ok_or(USAGE));
    let named = named.collect::<Result<Vec<_>, _>>()?;
    let mut all = holds(&mut Rust);
    for (name, command) in named {
        let held = Driver::start(name, command).and_then(|mut driver| {
            let held = holds(&mut driver);
            driver.end()?;
            Ok(held)
        });
        all &= held.unwrap_or_else(|failure| {
            println!("{name}: {failure}");
            false
        });
    }
    Ok(all)
}

fn judge(suite: &Suite, runner: &mut dyn Runner) -> bool {
    let tally = check(suite, runner, |difference| println!("{difference}"));
    println!("{}: {tally}", runner.name());
    tally.differ == 0
}

/// Stops at the first case that differs, and shows it as a vector.
fn judge_random(cases: &[RandomCase], runner: &mut dyn Runner) -> bool {
    let mut steps = 0;
    for case in cases {
        steps += case.steps.len();
        match case.difference(runner) {
            Ok(None) => {}
            Ok(Some(found)) => {
                println!("{}", Difference::new(runner, "random", &format!("seed {}", case.seed), found));
                let case = case.shrink(runner);
                if let Ok(Some(found)) = case.difference(runner) {
                    println!("{}", Difference::new(runner, "random", "the same, shorter", found));
                }
                println!("{}", vector(&case));
                return false;
            }
            Err(failure) => {
                println!("{}: seed {}: {failure}", runner.name(), case.seed);
                return false;
            }
        }
    }
    println!("{}: {} random cases, {steps} steps, 0 differ", runner.name(), cases.len());
    true
}
