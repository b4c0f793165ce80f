//! A call over a socket, made in this process.

use std::fmt;
use std::net::SocketAddr;

use tripcoil::CallError;
use ureq::Agent;

use crate::client::Outcome;
use crate::guard::Guard;
use crate::script::{Caller, TIME_OUT};
use crate::watch::Watch;

/// Why a call over the socket failed. Only the library's classification asks.
#[derive(Debug)]
enum Failure {
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

/// A client's own connection.
pub(crate) struct Http {
    agent: Agent,
    server: SocketAddr,
}

impl Http {
    pub(crate) fn new(server: SocketAddr, watch: Watch) -> Self {
        let time_out = Some(watch.real(TIME_OUT));
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(time_out)
            .timeout_recv_response(time_out)
            .timeout_recv_body(time_out)
            // A proxy of the environment would not know the way to our loopback port.
            .proxy(None)
            .build();
        Self { agent: config.into(), server }
    }

    /// Makes one call, if the guard lets it.
    pub(crate) fn call(&self, caller: Caller, guard: &Guard) -> Outcome {
        match guard.call(|| self.request(caller)) {
            Ok(()) => Outcome::Ok,
            Err(CallError::Blocked(_)) => Outcome::Blocked,
            Err(_) => Outcome::Failed,
        }
    }

    fn request(&self, caller: Caller) -> Result<(), Failure> {
        let mut response = self.agent.get(caller.url(self.server)).call().map_err(Failure::Transport)?;
        // Read to its end, so that the connection can be used again.
        response.body_mut().read_to_vec().map_err(Failure::Transport)?;
        match response.status().as_u16() {
            200 => Ok(()),
            status => Err(Failure::Status(status)),
        }
    }
}
