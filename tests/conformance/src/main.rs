//! `tripcoil-conformance [DIR]`: every runner on every vector file of a folder.

use std::path::PathBuf;
use std::process::ExitCode;

use tripcoil_conformance::{Runner, Rust, Suite, check};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "tests/vectors".into()));
    if arguments.next().is_some() {
        eprintln!("usage: tripcoil-conformance [DIR]");
        return ExitCode::FAILURE;
    }
    let suite = match Suite::read(&folder) {
        Ok(suite) => suite,
        Err(refusal) => {
            eprintln!("refused: {refusal}");
            return ExitCode::FAILURE;
        }
    };
    let mut runners: [Box<dyn Runner>; 1] = [Box::new(Rust)];
    let mut agree = true;
    for runner in &mut runners {
        let tally = check(&suite, runner.as_mut(), |difference| println!("{difference}"));
        println!("{}: {tally}", runner.name());
        agree &= tally.differ == 0;
    }
    if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
