//! The other languages that take part, and how their programs are built and run.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::script::{CLIENTS, TIME_OUT};

/// A language with a client of its own.
pub(crate) struct Language {
    pub(crate) name: &'static str,
    /// What is asked to build the program, and becomes it: from the repository's root.
    script: &'static str,
}

/// The place to register another one. `demo/clients/README.md` says what its script must do.
pub(crate) const LANGUAGES: &[Language] = &[
    Language { name: "C", script: "demo/clients/c" },
    Language { name: "Python", script: "demo/clients/python" },
    Language { name: "Node", script: "demo/clients/node" },
];

impl Language {
    /// Builds the program. The answer, where something is missing here: how to get it.
    pub(crate) fn build(&self) -> Result<Option<String>, Box<dyn Error>> {
        let mut build = Command::new(self.script);
        build.arg("build").stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = build.output().map_err(|error| format!("{}: {error}", self.script))?;
        let said = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        match output.status.code() {
            Some(0) => Ok(None),
            Some(MISSING) => Ok(Some(said)),
            _ => Err(format!("{} build: {}\n{said}", self.script, output.status).into()),
        }
    }

    /// How the program is started.
    pub(crate) fn command(&self, rules: &Path) -> Command {
        let mut command = Command::new(self.script);
        let (time_out, clients) = (TIME_OUT.as_millis().to_string(), CLIENTS.to_string());
        command.arg("run").arg(rules).args([time_out, clients]);
        // A proxy of the environment would not know the way to our loopback port.
        command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
        command
    }
}

/// The exit status of a build that lacks something.
const MISSING: i32 = 3;
