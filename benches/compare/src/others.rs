//! What other programs measure and tell as JSON: the other languages' benches, and the memory of breakers.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::root;
use crate::samples::Results;

type Done = Result<(), Box<dyn Error>>;

/// What a bench of another language tells on its last line.
#[derive(Deserialize)]
struct Told {
    interpreter: String,
    samples: BTreeMap<String, Vec<f64>>,
}

/// Decorated functions, beside other libraries for Python.
pub(crate) fn python(quick: bool, results: &mut Results) -> Done {
    eprintln!("Python: building the package, then {} rounds", if quick { 5 } else { 100 });
    let mut command = Command::new(root().join("python/benches/run.sh"));
    command.arg("--json");
    if quick {
        command.arg("--quick");
    }
    take(&mut command, "python", results)
}

/// Wrapped functions, beside other libraries for Node.
pub(crate) fn node(quick: bool, results: &mut Results) -> Done {
    let rounds = if quick { "6" } else { "60" };
    eprintln!("Node: building the package, then {rounds} rounds");
    let log = Command::new(root().join("node/prepare")).arg("--release").output()?;
    if !log.status.success() {
        return Err(format!("node/prepare: {}", String::from_utf8_lossy(&log.stdout).trim()).into());
    }
    let mut command = Command::new("node");
    command.arg(root().join("node/bench/calls.mjs")).args([rounds, "--json"]);
    take(&mut command, "node", results)
}

/// Bytes of breakers, and what a million of them take.
pub(crate) fn memory(results: &mut Results) -> Done {
    let program = std::env::current_exe()?.with_file_name("memory");
    for (case, times) in [("idle", 1), ("peers", 1), ("rejection", 1), ("million", 3)] {
        for _ in 0..times {
            eprintln!("memory: {case}");
            let line = last_line(Command::new(&program).arg(case))?;
            let told: BTreeMap<String, f64> = serde_json::from_str(&line)?;
            told.iter().for_each(|(name, number)| results.push(name, *number));
        }
    }
    Ok(())
}

fn take(command: &mut Command, part: &'static str, results: &mut Results) -> Done {
    let told: Told = serde_json::from_str(&last_line(command)?)?;
    for (name, samples) in &told.samples {
        samples.iter().for_each(|sample| results.push(name, *sample));
    }
    results.is_of(part, told.interpreter);
    Ok(())
}

/// What a program prints last. It runs in the repository's folder; what it complains of is shown.
fn last_line(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let program = Path::new(command.get_program()).display().to_string();
    let ran = command.current_dir(root()).stderr(Stdio::inherit()).output();
    let ran = ran.map_err(|error| format!("{program}: {error}"))?;
    if !ran.status.success() {
        return Err(format!("{program}: {}", ran.status).into());
    }
    Ok(String::from_utf8(ran.stdout)?.lines().last().unwrap_or_default().to_owned())
}
