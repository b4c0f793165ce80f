//! What a run was on.

use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

/// The machine, the tools and the day.
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) system: String,
    pub(crate) rust: String,
    pub(crate) c: String,
    pub(crate) day: String,
    pub(crate) commit: String,
}

impl Machine {
    /// This one, now.
    pub(crate) fn look() -> Self {
        let changed = !says("git", &["status", "--porcelain", "--", "crates", "bindings"]).is_empty();
        Self {
            processor: processor(),
            cores: available_parallelism().map_or(1, Into::into),
            system: known(says("uname", &["-srm"])),
            rust: known(says("rustc", &["--version"])),
            c: known(says("cc", &["--version"])),
            day: known(says("date", &["-u", "+%Y-%m-%d"])),
            commit: says("git", &["rev-parse", "--short", "HEAD"]) + if changed { ", changed" } else { "" },
        }
    }
}

/// The processor's name, where the system tells it.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    match model {
        Some((_, name)) => name.to_owned(),
        None => known(says("sysctl", &["-n", "machdep.cpu.brand_string"])),
    }
}

/// The first line that a program prints; empty where it does not run.
fn says(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).current_dir(crate::root()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

fn known(text: String) -> String {
    if text.is_empty() { "unknown".to_owned() } else { text }
}
