//! What a guarded call costs from C, beside the same call from Rust: in one run, round by round in turn.
//!
//! `cargo bench -p tripcoil-c`. The C program, `tests/c/bench.c`, is built here with `cc -O2` and linked
//! against both libraries. Judge by the ratios: two calls into the library are what C pays by its nature.

use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use tripcoil::{Outcome, Registry, Resource};

fn main() -> Result<(), Box<dyn Error>> {
    // Short rounds, so that most of them are not interrupted.
    // `cargo test --benches` only wants to know whether it runs; it builds another profile.
    let (rounds, calls) = if std::env::args().any(|arg| arg == "--bench") { (301, 20_000) } else { (1, 100) };
    build_libraries()?;
    let sides: [(&str, Box<dyn Side>); 3] = [
        ("Rust", Box::new(Rust::new(calls)?)),
        ("C, static", Box::new(C::new(calls, Link::Static)?)),
        ("C, shared", Box::new(C::new(calls, Link::Shared)?)),
    ];
    let (names, mut sides): (Vec<_>, Vec<_>) = sides.into_iter().unzip();

    println!("{:<26}{:>12}{:>12}{:>12}  C : Rust", "ns a call", names[0], names[1], names[2]);
    for (case, name) in CASES {
        let mut times: [Vec<f64>; 3] = Default::default();
        for _ in 0..rounds {
            for (side, times) in sides.iter_mut().zip(&mut times) {
                times.push(side.measure(case)?);
            }
        }
        let [rust, fixed, shared] = times.map(median);
        print!("{name:<26}{rust:>12.1}{fixed:>12.1}{shared:>12.1}");
        println!("{:>6.2}{:>6.2}", fixed / rust, shared / rust);
    }
    Ok(())
}

const CASES: [(&str, &str); 4] = [
    ("closed", "closed, error rule"),
    ("slow", "closed, slow rule"),
    ("open", "rejected"),
    ("call", "one call that does nothing"),
];

const RULES: &str = r#"[
    {"resource": "closed", "grade": 1, "count": 0.5, "timeWindow": 10, "statIntervalMs": 10000,
     "statSlidingWindowBucketCount": 10},
    {"resource": "slow", "count": 1000, "slowRatioThreshold": 0.5, "timeWindow": 10},
    {"resource": "open", "grade": 1, "count": 0.5, "timeWindow": 86400}]"#;

trait Side {
    /// What one call takes, in ns.
    fn measure(&mut self, case: &str) -> Result<f64, Box<dyn Error>>;
}

struct Rust {
    registry: Registry,
    calls: u32,
}

impl Rust {
    fn new(calls: u32) -> Result<Self, Box<dyn Error>> {
        let registry = Registry::new();
        registry.load_json(RULES)?;
        let open = registry.resource("open")?;
        (0..5).for_each(|_| assert!(guarded(&open, Outcome::Bad)));
        assert!(!guarded(&open, Outcome::Bad));
        Ok(Self { registry, calls })
    }
}

/// What a user writes around a call.
#[inline]
fn guarded(resource: &Resource, outcome: Outcome) -> bool {
    let Ok(entry) = resource.enter() else { return false };
    entry.end(outcome);
    true
}

/// A call that does nothing, and that the compiler leaves where it is.
#[inline(never)]
fn nothing() -> u32 {
    black_box(1000)
}

impl Side for Rust {
    #[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
    fn measure(&mut self, case: &str) -> Result<f64, Box<dyn Error>> {
        let (resource, nothing_to_guard) = (self.registry.resource(case)?, case == "call");
        let pass = |calls| {
            for _ in 0..calls {
                if nothing_to_guard {
                    black_box(nothing());
                } else {
                    black_box(guarded(black_box(&resource), Outcome::Good));
                }
            }
        };
        pass(self.calls / 4); // warm caches, as at any call but the first
        let began = Instant::now();
        pass(self.calls);
        Ok(began.elapsed().as_nanos() as f64 / f64::from(self.calls))
    }
}

enum Link {
    Static,
    Shared,
}

/// The program in C: a line in, a line out.
struct C {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl C {
    fn new(calls: u32, link: Link) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(build(link)?)
            .args([RULES, &calls.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, input, output })
    }
}

impl Side for C {
    fn measure(&mut self, case: &str) -> Result<f64, Box<dyn Error>> {
        writeln!(self.input, "{case}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for C {
    fn drop(&mut self) {
        // A bench is over; there is nothing to do about a child that has gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Builds the libraries, which cargo does not build for a bench that cannot link them.
fn build_libraries() -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--locked", "--package", "tripcoil-c"]);
    let status = cargo.status()?;
    if status.success() { Ok(()) } else { Err(format!("cargo build: {status}").into()) }
}

/// Builds the program against one of the libraries.
fn build(link: Link) -> Result<PathBuf, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bench = std::env::current_exe()?;
    let libraries = bench.parent().and_then(Path::parent).ok_or("no folder of libraries")?;
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(root.join("include"));
    cc.arg(root.join("tests/c/bench.c"));
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let out = match link {
        Link::Static => {
            cc.arg(libraries.join("libtripcoil.a")).args(["-lpthread", "-ldl", "-lm"]);
            "bench_static"
        }
        Link::Shared => {
            // By the name that it is looked for when the program starts.
            let soname = "libtripcoil.so.0";
            std::fs::copy(libraries.join("libtripcoil.so"), tmp.join(soname))?;
            cc.arg(tmp.join(soname)).arg(format!("-Wl,-rpath,{}", tmp.display()));
            "bench_shared"
        }
    };
    let out = tmp.join(out);
    let status = cc.arg("-o").arg(&out).status()?;
    if status.success() { Ok(out) } else { Err(format!("cc: {status}").into()) }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
