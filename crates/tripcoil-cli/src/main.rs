//! `tripcoil`: checks rule documents before a program meets them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tripcoil::{Document, Fault, LegacyDocument, Limits, Release, Scope, Warning};

/// Checks rule documents of the Tripcoil circuit breaker.
#[derive(Parser)]
#[command(name = "tripcoil", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Prints a document's rules with all defaults filled in, or every fault with its line.
    ///
    /// Reads Sentinel's form (Java) and sentinel-golang's, and prints Sentinel's. Exits with 1 if
    /// the document has a fault or cannot be read.
    Check(Check),
}

#[derive(Args)]
struct Check {
    /// The document; `-` for standard input.
    file: PathBuf,

    /// Read it as default rules, whose resource must be `*`.
    #[arg(long, conflicts_with_all = ["resource", "legacy"])]
    defaults: bool,

    /// Read it as the exact rules of this one resource.
    #[arg(long, value_name = "NAME", conflicts_with = "legacy")]
    resource: Option<String>,

    /// Read it as rules for the check that this release of Sentinel made.
    #[arg(long, value_name = "RELEASE")]
    legacy: Option<LegacyRelease>,

    /// The bytes that the document may have, where the program that reads it sets others than 16 MiB.
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<usize>,

    /// The rules that the document may have, where the program that reads it sets others than 1,000,000.
    #[arg(long, value_name = "RULES")]
    max_rules: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum LegacyRelease {
    #[value(name = "1.6")]
    V1_6,
    #[value(name = "1.7")]
    V1_7,
}

fn main() -> ExitCode {
    let Command::Check(check) = Cli::parse().command;
    match check.run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Where standard error is closed too, the exit status has to do.
            let _ = writeln!(io::stderr(), "{}: {error}", shown(&check.file));
            ExitCode::FAILURE
        }
    }
}

impl Check {
    /// Whether the document is without faults.
    fn run(&self) -> io::Result<bool> {
        let limits = self.limits();
        let text = read(&self.file, limits.document_bytes)?;
        match self.legacy {
            Some(release) => {
                let release = match release {
                    LegacyRelease::V1_6 => Release::V1_6,
                    LegacyRelease::V1_7 => Release::V1_7,
                };
                let document = LegacyDocument::parse_within(&text, release, &limits);
                let rules = serde_json::to_string_pretty(&document.rules)?;
                self.report(&rules, &document.faults, &document.warnings)
            }
            None => {
                let document = Document::parse_within(&text, self.scope(), &limits);
                let rules = serde_json::to_string_pretty(&document.rules)?;
                self.report(&rules, &document.faults, &document.warnings)
            }
        }
    }

    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.document_bytes = self.max_bytes.unwrap_or(limits.document_bytes);
        limits.rules = self.max_rules.unwrap_or(limits.rules);
        limits
    }

    fn scope(&self) -> Scope<'_> {
        match &self.resource {
            Some(name) => Scope::Resource(name),
            None if self.defaults => Scope::Defaults,
            None => Scope::Ordinary,
        }
    }

    /// Prints the rules, unless there are faults, and whatever there is to say of them.
    fn report(&self, rules: &str, faults: &[Fault], warnings: &[Warning]) -> io::Result<bool> {
        let mut messages = io::BufWriter::new(io::stderr().lock());
        for fault in faults {
            let mut fault = fault.clone();
            let place = self.place(fault.line.take());
            writeln!(messages, "{place}: {fault}")?;
        }
        for warning in warnings {
            let mut warning = warning.clone();
            let place = self.place(warning.line.take());
            writeln!(messages, "{place}: warning: {warning}")?;
        }
        messages.flush()?;

        if !faults.is_empty() {
            return Ok(false);
        }
        writeln!(io::stdout().lock(), "{rules}")?;
        Ok(true)
    }

    /// `FILE:LINE`, which editors can follow.
    fn place(&self, line: Option<usize>) -> String {
        let file = shown(&self.file);
        match line {
            Some(line) => format!("{file}:{line}"),
            None => file,
        }
    }
}

/// A file's name on one line: without anything that a terminal would obey.
fn shown(file: &Path) -> String {
    let mut shown = String::new();
    for c in file.to_string_lossy().chars() {
        match c {
            '"' | '\'' | '\\' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    shown
}

/// The document's bytes: no more of them than are needed to see that they are too many.
fn read(file: &Path, max_bytes: usize) -> io::Result<Vec<u8>> {
    let limit = (max_bytes as u64).saturating_add(1);
    let mut text = Vec::new();
    if file == Path::new("-") {
        io::stdin().lock().take(limit).read_to_end(&mut text)?;
    } else {
        File::open(file)?.take(limit).read_to_end(&mut text)?;
    }
    Ok(text)
}
