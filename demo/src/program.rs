//! The life of a program in another language that makes the calls, and what it is told to do.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::client::Outcome;
use crate::lines::Answer;
use crate::script::Caller;

/// A program that has said that it is ready.
pub(crate) struct Program {
    child: Mutex<Child>,
    /// None once there is nothing more to do.
    input: Mutex<Option<ChildStdin>>,
}

/// What a program says.
pub(crate) type Output = BufReader<ChildStdout>;

impl Program {
    /// Starts `command`, and waits until it is ready.
    pub(crate) fn start(mut command: Command) -> Result<(Self, Output), Box<dyn Error>> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = Mutex::new(child.stdin.take());
        let mut output = BufReader::new(child.stdout.take().ok_or("has no output")?);
        let (sender, ready) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = output.read_line(&mut line);
            // Nobody listens after the patience has run out.
            let _ = sender.send((read.map(|_| line), output));
        });
        let program = Self { child: Mutex::new(child), input };
        match ready.recv_timeout(PATIENCE) {
            Ok((Ok(line), output)) if line.trim_end() == "ready" => Ok((program, output)),
            Ok((Ok(line), _)) => Err(program.given_up(&format!("said {line:?} in the place of \"ready\""))),
            Ok((Err(error), _)) => Err(program.given_up(&error.to_string())),
            Err(_) => Err(program.given_up("was not ready in time")),
        }
    }

    /// Has one call made, and waits for its outcome. None: no more calls can be made.
    pub(crate) fn call(&self, caller: Caller, url: &str, answers: &Receiver<Answer>) -> Option<Outcome> {
        self.ask(caller, url).ok()?;
        let (answered, outcome) = answers.recv_timeout(PATIENCE).ok()?;
        (answered == caller).then_some(outcome)
    }

    fn ask(&self, Caller { client, call }: Caller, url: &str) -> io::Result<()> {
        let mut input = lock(&self.input);
        let input = input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        // One write, so that the program never waits for the rest of a line.
        input.write_all(format!("call {client}.{call} {url}\n").as_bytes())
    }

    /// Lets the program end. `heard` is disconnected when it has closed its output.
    pub(crate) fn end(&self, heard: &Receiver<()>) -> Result<(), Box<dyn Error>> {
        drop(lock(&self.input).take());
        if heard.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            return Err(self.given_up("did not end with its input"));
        }
        let status = lock(&self.child).wait()?;
        if status.success() { Ok(()) } else { Err(format!("ended with {status}").into()) }
    }

    fn given_up(&self, why: &str) -> Box<dyn Error> {
        // It may have ended by itself; that it is gone is all that matters.
        let mut child = lock(&self.child);
        let _ = child.kill();
        let _ = child.wait();
        why.into()
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // Neither a pipe nor a child is left half done by a panic.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long a program may take to start, to answer, or to end.
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::lines::listen;

    fn program(shell: &str) -> Result<(Program, Output), String> {
        let mut command = Command::new("sh");
        command.args(["-c", shell]);
        Program::start(command).map_err(|error| error.to_string())
    }

    /// What came of one call of the program's, and of its end.
    fn played(shell: &str) -> (Option<Outcome>, Result<(), String>, Result<(), String>) {
        let (program, output) = program(shell).expect("starts");
        let (sender, answers) = mpsc::channel();
        let (heard, hearing) = mpsc::channel();
        thread::scope(|scope| {
            let listener = scope.spawn(move || {
                let said = listen(output, &[sender], |_| true);
                drop(heard);
                said
            });
            let outcome = program.call(Caller { client: 0, call: 7 }, "http://localhost/", &answers);
            let ended = program.end(&hearing).map_err(|error| error.to_string());
            (outcome, listener.join().expect("no panic"), ended)
        })
    }

    #[test]
    fn a_program_answers_and_ends_with_its_input() {
        let echo = r#"echo ready; while read -r call id url; do echo "done $id blocked"; done"#;
        assert_eq!(played(echo), (Some(Outcome::Blocked), Ok(()), Ok(())));
    }

    #[test]
    fn a_program_that_fails_ends_the_call_and_is_named() {
        let (outcome, said, ended) = played("echo ready; read -r line; exit 7");
        assert_eq!((outcome, said), (None, Ok(())));
        assert!(ended.is_err_and(|error| error.contains('7')));
        let (outcome, said, _) = played("echo ready; read -r line; echo what");
        assert_eq!((outcome, said), (None, Err(r#"said "what""#.to_owned())));
        let (outcome, _, ended) = played("echo ready; read -r line; echo 'done 0.8 ok'");
        assert_eq!((outcome, ended), (None, Ok(())), "the outcome of another call");
    }

    #[test]
    fn a_program_that_is_not_ready_is_none() {
        let said = program("echo hello").err().expect("not ready");
        assert_eq!(said, r#"said "hello\n" in the place of "ready""#);
        assert!(program("exit 1").is_err());
    }
}
