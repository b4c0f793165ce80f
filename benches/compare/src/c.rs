//! Calls from C, by a program of C's that is linked against the library: a line in, a line out, so that it takes
//! its turns in the rounds.

use std::cell::RefCell;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use crate::root;
use crate::rounds::Rounds;

/// Adds all subjects, with the library linked statically and shared.
pub(crate) fn add_to(rounds: &mut Rounds) -> Result<(), Box<dyn Error>> {
    let library = build_library()?;
    for link in [Link::Static, Link::Shared] {
        let program = Rc::new(RefCell::new(Program::start(&build(&library, link)?)?));
        for (case, name) in CASES {
            let program = Rc::clone(&program);
            let name = format!("{name}/C, {}", link.name());
            rounds.add_run(name, move |_| {
                program.borrow_mut().measure(case).expect("the program in C goes on")
            });
        }
    }
    Ok(())
}

const CASES: [(&str, &str); 4] =
    [("closed", "closed"), ("slow", "slow rule"), ("open", "rejected"), ("call", "c floor")];

/// How many calls the program makes in its turn.
const CALLS: u32 = 20_000;

const RULES: &str = r#"[
    {"resource": "closed", "grade": 1, "count": 0.5, "timeWindow": 10, "statIntervalMs": 10000,
     "statSlidingWindowBucketCount": 10},
    {"resource": "slow", "count": 1000, "slowRatioThreshold": 0.5, "timeWindow": 10, "statIntervalMs": 10000,
     "statSlidingWindowBucketCount": 10},
    {"resource": "open", "grade": 1, "count": 0.5, "timeWindow": 86400}]"#;

#[derive(Clone, Copy)]
enum Link {
    Static,
    Shared,
}

impl Link {
    fn name(self) -> &'static str {
        match self {
            Link::Static => "static",
            Link::Shared => "shared",
        }
    }
}

/// The program that runs.
struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn start(path: &Path) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(path);
        command.args([RULES, &CALLS.to_string()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, input, output })
    }

    /// What one call takes, in ns.
    fn measure(&mut self, case: &str) -> Result<f64, Box<dyn Error>> {
        writeln!(self.input, "{case}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The bench is over; there is nothing to do about a child that has gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Builds the library in both its forms, and says where it is.
fn build_library() -> Result<PathBuf, Box<dyn Error>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--locked", "--package", "tripcoil-c"]);
    let status = cargo.current_dir(root()).status()?;
    if !status.success() {
        return Err(format!("cargo build: {status}").into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(std::path::absolute(target)?.join("release"))
}

/// Builds the program against one of the libraries.
fn build(library: &Path, link: Link) -> Result<PathBuf, Box<dyn Error>> {
    let folder = library.join("c-bench");
    std::fs::create_dir_all(&folder)?;
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(root().join("include"));
    cc.arg(root().join("tests/c/bench.c"));
    match link {
        Link::Static => cc.arg(library.join("libtripcoil.a")).args(["-lpthread", "-ldl", "-lm"]),
        Link::Shared => {
            // By the name that it is looked for when the program starts.
            let shared = folder.join("libtripcoil.so.0");
            std::fs::copy(library.join("libtripcoil.so"), &shared)?;
            cc.arg(shared).arg(format!("-Wl,-rpath,{}", folder.display()))
        }
    };
    let out = folder.join(link.name());
    let status = cc.arg("-o").arg(&out).status()?;
    if status.success() { Ok(out) } else { Err(format!("cc: {status}").into()) }
}
