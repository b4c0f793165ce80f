//! An implementation in another process that speaks the line protocol of `tests/c/driver.c`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tripcoil::Release;

use crate::runner::{Answer, Event, Mode, Observation, Op, Reading, Runner, Scope, State, Step};

/// Runs a driver: a program that is told the steps, and tells what it saw.
pub struct Driver {
    name: String,
    child: Child,
    /// Taken when the driver is to end.
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

/// Numbers of the C ABI, which the protocol passes on.
mod code {
    pub(super) const OK: i32 = 0;
    pub(super) const BLOCKED: i32 = 1;
    pub(super) const ALREADY_ENDED: i32 = 2;
    pub(super) const NOT_FOUND: i32 = 3;
    pub(super) const INVALID_RULES: i32 = 17;
    pub(super) const GOOD: i32 = 1;
    pub(super) const BAD: i32 = 2;
    pub(super) const IGNORED: i32 = 3;
    pub(super) const CANCELLED: i32 = 4;
}

impl Driver {
    /// Starts a driver: a command with arguments, separated by blanks.
    ///
    /// # Errors
    /// Why it could not be started.
    pub fn start(name: &str, command: &str) -> Result<Self, String> {
        let mut words = command.split_whitespace();
        let program = words.next().ok_or("no command")?;
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
        let (to, from) = (child.stdin.take(), child.stdout.take().ok_or("no output")?);
        Ok(Self { name: name.to_owned(), child, to, from: BufReader::new(from) })
    }

    /// Ends the driver, which may have something to complain about: a leak, an invalid access.
    ///
    /// # Errors
    /// What its exit status says.
    pub fn end(mut self) -> Result<(), String> {
        drop(self.to.take());
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("the driver ended with {status}")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn send(&mut self, request: &[u8]) -> Result<(), String> {
        let to = self.to.as_mut().ok_or("the driver has ended")?;
        to.write_all(request).and_then(|()| to.flush()).map_err(|error| format!("to the driver: {error}"))
    }

    /// The words of the next line.
    fn line(&mut self) -> Result<Vec<String>, String> {
        let mut line = String::new();
        match self.from.read_line(&mut line) {
            Ok(0) => Err("the driver has ended".to_owned()),
            Ok(_) => Ok(line.split_whitespace().map(str::to_owned).collect()),
            Err(error) => Err(format!("from the driver: {error}")),
        }
    }

    fn text(&mut self) -> Result<String, String> {
        let length: usize = number(self.line()?.first())?;
        let mut bytes = vec![0; length + 1];
        self.from.read_exact(&mut bytes).map_err(|error| format!("from the driver: {error}"))?;
        bytes.pop();
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }

    fn step(&mut self, step: &Step, calls: &mut Calls) -> Result<Observation, String> {
        let (at, watched) = (step.at.as_nanos(), step.watch.len());
        let mut texts: Vec<&str> = Vec::new();
        let request = match &step.op {
            Op::Load { scope, rules } => {
                if let Scope::Resource(resource) = scope {
                    texts.push(resource);
                }
                texts.push(rules);
                format!("load {at} {} {watched}\n", scope_number(scope))
            }
            Op::Enter { id, resource } => {
                texts.push(resource);
                format!("enter {at} {} {watched}\n", calls.begin(id))
            }
            Op::Exit { id, error } => {
                let outcome = if *error { code::BAD } else { code::GOOD };
                format!("end {at} {} {outcome} {watched}\n", calls.number(id)?)
            }
            Op::Cancel { id } => format!("end {at} {} {} {watched}\n", calls.number(id)?, code::CANCELLED),
            Op::Ignore { id } => format!("end {at} {} {} {watched}\n", calls.number(id)?, code::IGNORED),
            Op::SetMode { resource, rule, mode } => {
                texts.push(resource);
                format!("mode {at} {rule} {} {watched}\n", *mode as i32)
            }
            Op::Reset { resource, rule } => {
                texts.push(resource);
                format!("reset {at} {rule} {watched}\n")
            }
            Op::Exclude { resource } | Op::Include { resource } => {
                texts.push(resource);
                format!("exclude {at} {} {watched}\n", i32::from(matches!(step.op, Op::Exclude { .. })))
            }
        };
        texts.extend(step.watch.iter().map(String::as_str));
        self.send(&with_texts(request, &texts))?;
        self.observation(step)
    }

    fn observation(&mut self, step: &Step) -> Result<Observation, String> {
        let status = number(self.line()?.get(1))?;
        let mut seen =
            Observation { answer: answer(&step.op, status)?, states: BTreeMap::new(), events: Vec::new() };
        let mut watched = step.watch.iter();
        loop {
            let line = self.line()?;
            match line.first().map(String::as_str) {
                Some("states") => {
                    let name = watched.next().ok_or("states that nobody asked for")?;
                    let states = line[1..].iter().map(|word| state(Some(word)));
                    seen.states.insert(name.clone(), states.collect::<Result<_, _>>()?);
                }
                Some("event") => {
                    let snapshot = match line.get(4).map(String::as_str) {
                        Some("-") => None,
                        _ => Some(number(line.get(4))?),
                    };
                    let (from, to) = (state(line.get(2))?, state(line.get(3))?);
                    let (rule, modes) = (number(line.get(1))?, [mode(line.get(5))?, mode(line.get(6))?]);
                    seen.events.push(Event { resource: self.text()?, rule, from, to, snapshot, modes });
                }
                Some("done") => return Ok(seen),
                _ => return Err(format!("the driver said {line:?}")),
            }
        }
    }
}

impl Runner for Driver {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, steps: &[Step]) -> Result<Vec<Observation>, String> {
        self.send(b"new\n")?;
        if self.line()? != ["done"] {
            return Err("the driver did not begin".to_owned());
        }
        let mut calls = Calls::default();
        steps.iter().map(|step| self.step(step, &mut calls)).collect()
    }

    fn read(&mut self, text: &str) -> Result<Reading, String> {
        self.send(&with_texts("read\n".to_owned(), &[text]))?;
        let mut reading = Reading::default();
        loop {
            let line = self.line()?;
            match line.first().map(String::as_str) {
                Some("rules") => {
                    reading.rules = serde_json::from_str(&self.text()?).map_err(|error| error.to_string())?;
                }
                Some("fault") => {
                    let index = match number::<i64>(line.get(1))? {
                        -1 => None,
                        index => Some(usize::try_from(index).map_err(|error| error.to_string())?),
                    };
                    let field = self.text()?;
                    let has_field = line.get(2).is_some_and(|word| word == "1");
                    reading.faults.push((index, has_field.then_some(field)));
                }
                Some("done") => return Ok(reading),
                _ => return Err(format!("the driver said {line:?}")),
            }
        }
    }
}

/// The numbers by which the driver knows a case's calls.
#[derive(Default)]
struct Calls {
    by_id: BTreeMap<String, usize>,
    begun: usize,
}

impl Calls {
    /// A number that no call has had: a rejected call's id may be used again.
    fn begin(&mut self, id: &str) -> usize {
        let number = self.begun;
        self.begun += 1;
        self.by_id.insert(id.to_owned(), number);
        number
    }

    fn number(&self, id: &str) -> Result<usize, String> {
        self.by_id.get(id).copied().ok_or_else(|| format!("no call {id:?}"))
    }
}

fn scope_number(scope: &Scope) -> u32 {
    match scope {
        Scope::Ordinary => 0,
        Scope::Defaults => 1,
        Scope::Resource(_) => 2,
        Scope::Legacy(Release::V1_6) => 16,
        Scope::Legacy(Release::V1_7) => 17,
    }
}

fn answer(op: &Op, status: i32) -> Result<Answer, String> {
    match (op, status) {
        (Op::Load { .. }, code::OK) => Ok(Answer::Loaded),
        (Op::Load { .. }, code::INVALID_RULES) => Ok(Answer::Refused),
        (Op::Enter { .. }, code::OK) => Ok(Answer::Pass),
        (Op::Enter { .. }, code::BLOCKED) => Ok(Answer::Block),
        (Op::Exit { .. } | Op::Cancel { .. } | Op::Ignore { .. }, code::OK) => Ok(Answer::Ended),
        (Op::Exit { .. } | Op::Cancel { .. } | Op::Ignore { .. }, code::ALREADY_ENDED) => {
            Ok(Answer::EndedBefore)
        }
        (_, code::OK) => Ok(Answer::Done),
        (Op::SetMode { .. } | Op::Reset { .. }, code::NOT_FOUND) => Ok(Answer::NoBreaker),
        _ => Err(format!("status {status} to {op:?}")),
    }
}

fn state(word: Option<&String>) -> Result<State, String> {
    match number::<i32>(word)? {
        0 => Ok(State::Closed),
        1 => Ok(State::Open),
        2 => Ok(State::HalfOpen),
        other => Err(format!("no state {other}")),
    }
}

/// In the order of the C ABI's numbers, which `set_mode` relies on, too.
fn mode(word: Option<&String>) -> Result<Mode, String> {
    const MODES: [Mode; 4] = [Mode::Normal, Mode::ForcedOpen, Mode::Disabled, Mode::ObserveOnly];
    let number: usize = number(word)?;
    MODES.get(number).copied().ok_or_else(|| format!("no mode {number}"))
}

fn number<T: std::str::FromStr>(word: Option<&String>) -> Result<T, String> {
    word.and_then(|word| word.parse().ok()).ok_or_else(|| format!("no number: {word:?}"))
}

fn with_texts(request: String, texts: &[&str]) -> Vec<u8> {
    let mut request = request.into_bytes();
    for text in texts {
        request.extend(format!("{}\n{text}\n", text.len()).into_bytes());
    }
    request
}
