//! The server: real HTTP/1.1 on a loopback port, as healthy or sick as the script says.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::script::{Answer, Caller, Phase, Script};
use crate::watch::Watch;

/// A listening server, one thread a connection.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: JoinHandle<()>,
}

struct Shared {
    script: Script,
    watch: Watch,
    sick: AtomicU64,
    stopping: AtomicBool,
}

impl Server {
    /// Listens on a free port of the loopback interface.
    pub(crate) fn start(script: Script, watch: Watch) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let (sick, stopping) = (AtomicU64::new(0), AtomicBool::new(false));
        let shared = Arc::new(Shared { script, watch, sick, stopping });
        let acceptor = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Ok(Self { address, shared, acceptor })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops once its clients have hung up, and says how many calls reached it while it was sick.
    pub(crate) fn stop(self) -> u64 {
        self.shared.stopping.store(true, Ordering::Release);
        // The acceptor waits for a connection: it gets one. Where even that fails it is left to
        // the end of the process.
        if TcpStream::connect(self.address).is_ok() {
            let _ = self.acceptor.join();
        }
        self.shared.sick.load(Ordering::Relaxed)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut connections = Vec::new();
    for stream in listener.incoming() {
        // Pairs with the Release in `stop`.
        if shared.stopping.load(Ordering::Acquire) {
            break;
        }
        // A connection that cannot be accepted is the client's failed call.
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        connections.push(thread::spawn(move || serve(stream, &shared)));
    }
    for connection in connections {
        let _ = connection.join();
    }
}

/// Answers requests until the client hangs up, or is hung up on. An I/O error means just that.
fn serve(mut stream: TcpStream, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    let mut requests = Requests { bytes: Vec::new() };
    while let Ok(Some(request)) = requests.next(&mut stream) {
        match answer(request, &mut stream, shared) {
            Ok(true) => {}
            Ok(false) | Err(_) => return,
        }
    }
}

/// Does with one request what the script says. True: the connection goes on.
fn answer(request: Option<Caller>, stream: &mut TcpStream, shared: &Shared) -> io::Result<bool> {
    let Some(caller) = request else {
        return respond(stream, "404 Not Found", "").map(|()| true);
    };
    let arrived = shared.watch.now();
    if Phase::at(arrived).is_sick() {
        // Relaxed: a count and no more; it is read after this thread has been joined.
        shared.sick.fetch_add(1, Ordering::Relaxed);
    }
    let act = shared.script.act(caller, arrived);
    shared.watch.sleep_until(arrived + act.after);
    match act.answer {
        Answer::Stock => respond(stream, "200 OK", r#"{"item":"coil","stock":42}"#)?,
        Answer::Unavailable => respond(stream, "503 Service Unavailable", "")?,
        Answer::Reset => {
            // Closing without lingering sends RST in place of FIN.
            socket2::SockRef::from(&*stream).set_linger(Some(Duration::ZERO))?;
            return Ok(false);
        }
    }
    Ok(true)
}

fn respond(stream: &mut TcpStream, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = "content-type: application/json";
    let text = format!("HTTP/1.1 {status}\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(text.as_bytes())
}

/// The requests on one connection; what has come of the next one is kept.
struct Requests {
    bytes: Vec<u8>,
}

impl Requests {
    /// The next request's caller (none: not one of the story's). None at the end of the stream.
    fn next(&mut self, stream: &mut impl Read) -> io::Result<Option<Option<Caller>>> {
        loop {
            if let Some((length, caller)) = parse(&self.bytes)? {
                self.bytes.drain(..length);
                return Ok(Some(caller));
            }
            if self.bytes.len() > MAX_HEAD {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let mut chunk = [0; 1024];
            match stream.read(&mut chunk)? {
                0 => return Ok(None),
                n => self.bytes.extend_from_slice(&chunk[..n]),
            }
        }
    }
}

/// A whole request head at the front of `bytes`: its length and caller. None: not all there yet.
fn parse(bytes: &[u8]) -> io::Result<Option<(usize, Option<Caller>)>> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => {
            let target = request.path.filter(|_| request.method == Some("GET"));
            Ok(Some((length, target.and_then(caller))))
        }
        Ok(httparse::Status::Partial) => Ok(None),
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}

/// Who asks, from `/stock?client=3&call=17`.
fn caller(target: &str) -> Option<Caller> {
    let (client, call) = target.strip_prefix("/stock?client=")?.split_once("&call=")?;
    Some(Caller { client: client.parse().ok()?, call: call.parse().ok()? })
}

/// A request head may have this many bytes.
const MAX_HEAD: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_apart_however_the_bytes_arrive() {
        let text = b"GET /stock?client=3&call=17 HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n";
        for cut in 0..text.len() {
            let (front, back) = text.split_at(cut);
            let mut stream = front.chain(back);
            let mut requests = Requests { bytes: Vec::new() };
            let first = requests.next(&mut stream).expect("reads");
            assert_eq!(first, Some(Some(Caller { client: 3, call: 17 })), "cut at {cut}");
            assert_eq!(requests.next(&mut stream).expect("reads"), Some(None), "cut at {cut}");
            assert_eq!(requests.next(&mut stream).expect("reads"), None, "cut at {cut}");
        }
    }

    #[test]
    fn an_endless_head_is_refused() {
        let mut stream = b"GET /".chain(io::repeat(b'a'));
        assert!(Requests { bytes: Vec::new() }.next(&mut stream).is_err());
    }
}
