"""A real HTTP server on this machine, which answers as it is told by the path."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """`/STATUS` answers with it; `/stream` in chunks; `/hang-up` breaks off at once.

    `/cut` breaks off in the body, and `/stall` stops there.
    """

    protocol_version = "HTTP/1.1"
    requests = 0

    def do_GET(self) -> None:
        type(self).requests += 1
        path = self.path.strip("/")
        if path == "hang-up":
            self.close_connection = True
            self.connection.close()
        elif path == "cut":
            self.send_response(200)
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b"only this")
            self.wfile.flush()
            self.close_connection = True
        elif path == "stream":
            self.send_response(200)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for _ in range(200):
                self.wfile.write(b"2000\r\n" + b"x" * 0x2000 + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")
        elif path == "stall":
            self.send_response(200)
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b"only this")
            self.wfile.flush()
            # Until the client is gone.
            self.rfile.read(1)
            self.close_connection = True
        elif path == "moved":
            self.answer(302, location="/200")
        else:
            self.answer(int(path))

    def answer(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", "4")
        self.end_headers()
        self.wfile.write(b"body")

    def log_message(self, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that close early are no news."""


@contextmanager
def running() -> Iterator[str]:
    """The server's address, as long as it runs."""
    Handler.requests = 0
    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
