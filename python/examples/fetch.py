"""Fetches URLs in tasks of asyncio, each host guarded by breakers of its own.

    python fetch.py RULES TIMEOUT_MS TASKS

RULES is a file of Sentinel JSON; a rule's resource is a host with its port, or a regex for it. Each line of
the input, `call ID URL`, is answered by a line `done ID ok`, `done ID failed` or `done ID blocked`; changes
of a breaker's state are told in between.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import tripcoil


def host_of(url: str, *_: object) -> str:
    """A URL's host and port, as in `example.org:80`: the resource of a call."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or 80}"


@tripcoil.breaker(resource=host_of, is_failure=lambda status: status >= 500)
async def get(url: str, timeout: float) -> int:
    """The status of the answer to a request, once all of the answer is here."""
    return await asyncio.wait_for(exchange(urlsplit(url)), timeout)


async def exchange(url: SplitResult) -> int:
    target = url._replace(scheme="", netloc="", path=url.path or "/").geturl()
    reader, writer = await asyncio.open_connection(url.hostname, url.port or 80)
    try:
        writer.write(f"GET {target} HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close\r\n\r\n".encode())
        status, _, fields = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")
        length = re.search(rb"(?im)^content-length: *(\d+)", fields)
        await (reader.readexactly(int(length[1])) if length else reader.read())
    finally:
        writer.close()
    return int(status.split()[1])


def tell(change: tripcoil.Change) -> None:
    why = "" if change.trip is None else str(change.trip)
    print(f"change {change.position} {change.from_state} {change.to_state} {why}", flush=True)


async def answer(line: str, timeout: float) -> None:
    _, number, url = line.split()
    try:
        outcome = "ok" if await get(url, timeout) < 500 else "failed"
    except tripcoil.CircuitOpenError:
        outcome = "blocked"
    except (OSError, EOFError, asyncio.TimeoutError):
        outcome = "failed"
    print(f"done {number} {outcome}", flush=True)


async def main(rules: str, timeout_ms: str, tasks: str) -> None:
    tripcoil.load_rules(Path(rules))
    tripcoil.observe(tell)
    print("ready", flush=True)
    free = asyncio.Semaphore(int(tasks))
    running: set[asyncio.Task[None]] = set()
    while line := await asyncio.to_thread(sys.stdin.readline):
        await free.acquire()
        task = asyncio.create_task(answer(line, int(timeout_ms) / 1000))
        running.add(task)
        task.add_done_callback(running.discard)
        task.add_done_callback(lambda _: free.release())
    await asyncio.gather(*running)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
