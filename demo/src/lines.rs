//! What a program in another language says, line by line. `demo/clients/README.md` describes it.

use std::io::BufRead;
use std::sync::mpsc::Sender;

use tripcoil::State;

use crate::client::Outcome;
use crate::script::Caller;

/// One line that a program says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Done(Caller, Outcome),
    Change(Change<'a>),
}

/// A breaker's change of state.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Change<'a> {
    /// The breaker's place among its resource's.
    pub(crate) position: usize,
    pub(crate) from: State,
    pub(crate) to: State,
    /// Empty where there is nothing to explain.
    pub(crate) why: &'a str,
}

/// How a call ended, and which.
pub(crate) type Answer = (Caller, Outcome);

impl<'a> Line<'a> {
    /// None: not a line of the protocol.
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let (verb, rest) = line.split_once(' ')?;
        match verb {
            "done" => {
                let (id, outcome) = rest.split_once(' ')?;
                let (client, call) = id.split_once('.')?;
                let caller = Caller { client: client.parse().ok()?, call: call.parse().ok()? };
                Some(Self::Done(caller, parse_outcome(outcome)?))
            }
            "change" => {
                let mut words = rest.splitn(4, ' ');
                Some(Self::Change(Change {
                    position: words.next()?.parse().ok()?,
                    from: parse_state(words.next()?)?,
                    to: parse_state(words.next()?)?,
                    why: words.next().unwrap_or_default(),
                }))
            }
            _ => None,
        }
    }
}

fn parse_outcome(word: &str) -> Option<Outcome> {
    match word {
        "ok" => Some(Outcome::Ok),
        "failed" => Some(Outcome::Failed),
        "blocked" => Some(Outcome::Blocked),
        _ => None,
    }
}

fn parse_state(word: &str) -> Option<State> {
    match word {
        "closed" => Some(State::Closed),
        "open" => Some(State::Open),
        "half-open" => Some(State::HalfOpen),
        _ => None,
    }
}

/// Hears a program out: outcomes go to the clients that wait for them, changes to `changed`. Fails on
/// a line that is not of the protocol, or an outcome that nobody waits for.
pub(crate) fn listen(
    output: impl BufRead,
    clients: &[Sender<Answer>],
    mut changed: impl FnMut(Change) -> bool,
) -> Result<(), String> {
    for line in output.lines() {
        let line = line.map_err(|error| error.to_string())?;
        let understood = match Line::parse(&line) {
            Some(Line::Done(caller, outcome)) => clients
                .get(caller.client as usize)
                // One that waits no longer has reported that already.
                .is_some_and(|client| client.send((caller, outcome)).is_ok()),
            Some(Line::Change(change)) => changed(change),
            None => false,
        };
        if !understood {
            return Err(format!("said {line:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const CALLER: Caller = Caller { client: 3, call: 17 };

    #[test]
    fn lines_are_read_as_the_page_describes_them() {
        assert_eq!(Line::parse("done 3.17 blocked"), Some(Line::Done(CALLER, Outcome::Blocked)));
        let change =
            Line::Change(Change { position: 1, from: State::Closed, to: State::Open, why: "9 of 10 failed" });
        assert_eq!(Line::parse("change 1 closed open 9 of 10 failed"), Some(change));
        let change = Line::Change(Change { position: 0, from: State::Open, to: State::HalfOpen, why: "" });
        assert_eq!(Line::parse("change 0 open half-open"), Some(change));
        for wrong in [
            "",
            "ready",
            "done",
            "done 3.17",
            "done 317 ok",
            "done 3.x ok",
            "done 3.17 slow",
            "change 0 open",
            "change x open closed",
            "change 0 open shut",
            "Done 3.17 ok",
        ] {
            assert_eq!(Line::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn what_nobody_waits_for_is_refused() {
        let listen = |said: &str, clients: &[Sender<Answer>]| listen(said.as_bytes(), clients, |_| true);
        let (sender, answers) = mpsc::channel();
        let clients = [sender.clone(), sender.clone(), sender.clone(), sender];
        assert_eq!(listen("done 3.17 ok\n", &clients), Ok(()));
        assert_eq!(answers.recv(), Ok((CALLER, Outcome::Ok)));
        assert!(listen("done 4.0 ok\n", &clients).is_err(), "no such client");
        assert!(listen("hello\n", &clients).is_err(), "no such line");
        drop(answers);
        assert!(listen("done 3.17 ok\n", &clients).is_err(), "a client that has left");
    }
}
