//! A client: calls the server over a socket whenever the script has a call due.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use tripcoil::CallError;
use ureq::Agent;

use crate::guard::Guard;
use crate::script::{CALLS, Caller, SLOW, Script, TIME_OUT};
use crate::watch::Watch;

/// How a call went for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    Slow,
    Failed,
    Blocked,
}

/// One call, in story time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) outcome: Outcome,
    /// When the script wanted it made. A client that still waits for its last call makes it late.
    pub(crate) due: Duration,
    /// From then until the answer: what the caller spent waiting.
    pub(crate) waited: Duration,
}

/// Why a call over the socket failed. Only the library's classification asks.
#[derive(Debug)]
pub(crate) enum Failure {
    Status(u16),
    Transport(ureq::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "the server answered {status}"),
            Self::Transport(error) => write!(f, "no answer: {error}"),
        }
    }
}

impl std::error::Error for Failure {}

/// One of the callers, with a connection of its own.
pub(crate) struct Client {
    id: u32,
    agent: Agent,
    server: SocketAddr,
    script: Script,
    watch: Watch,
}

impl Client {
    pub(crate) fn new(id: u32, server: SocketAddr, script: Script, watch: Watch) -> Self {
        let time_out = Some(watch.real(TIME_OUT));
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(time_out)
            .timeout_recv_response(time_out)
            .timeout_recv_body(time_out)
            // A proxy of the environment would not know the way to our loopback port.
            .proxy(None)
            .build();
        Self { id, agent: config.into(), server, script, watch }
    }

    /// Makes every call of the script, one after the other, and reports each as it ends. Ends
    /// early where `report` says that nobody listens.
    pub(crate) fn run(&self, guard: &Guard, mut report: impl FnMut(Sample) -> bool) {
        for call in 0..CALLS {
            if !report(self.call(Caller { client: self.id, call }, guard)) {
                return;
            }
        }
    }

    fn call(&self, caller: Caller, guard: &Guard) -> Sample {
        let due = self.script.due(caller);
        self.watch.sleep_until(due);
        let begun = self.watch.now();
        let result = guard.call(|| self.request(caller));
        let ended = self.watch.now();
        let outcome = match result {
            Ok(()) if ended.saturating_sub(begun) > SLOW => Outcome::Slow,
            Ok(()) => Outcome::Ok,
            Err(CallError::Blocked(_)) => Outcome::Blocked,
            Err(_) => Outcome::Failed,
        };
        Sample { outcome, due, waited: ended.saturating_sub(due) }
    }

    fn request(&self, Caller { client, call }: Caller) -> Result<(), Failure> {
        let url = format!("http://{}/stock?client={client}&call={call}", self.server);
        let mut response = self.agent.get(url).call().map_err(Failure::Transport)?;
        // Read to its end, so that the connection can be used again.
        response.body_mut().read_to_vec().map_err(Failure::Transport)?;
        match response.status().as_u16() {
            200 => Ok(()),
            status => Err(Failure::Status(status)),
        }
    }
}
