"""Changes as an async iterator, under asyncio and trio."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
import weakref
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Change, Registry


class Transitions:
    """An async iterator of changes. Made by `Registry.transitions`; one task at a time takes from it.

    Closed by `close()`, as a context manager (`with` and `async with`), or when it is no longer referred to.
    """

    def __init__(self, registry: Registry, maxsize: int) -> None:
        if isinstance(maxsize, bool) or not isinstance(maxsize, int) or maxsize < 1:
            raise ValueError(
                f"maxsize: {maxsize!r:.60} is not allowed; it must be a whole number of at least 1"
            )
        self._queue = _Queue(maxsize)
        name = f"transitions {next(_numbers)}"
        registry._observe(name, self._queue.put)
        self._close = weakref.finalize(self, _close, weakref.ref(registry), name, self._queue)

    @property
    def dropped(self) -> int:
        """How many changes were dropped because nobody took them in time."""
        return self._queue.dropped

    def close(self) -> None:
        """Stop: what is waiting can still be taken, then the iteration ends."""
        self._close()

    def __aiter__(self) -> Transitions:
        return self

    async def __anext__(self) -> Change:
        return await self._queue.take()

    def __enter__(self) -> Transitions:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Transitions:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class _Queue:
    """Filled on any thread, emptied in one task. A deque's own operations need no lock."""

    def __init__(self, maxsize: int) -> None:
        self._changes: deque[Change] = deque()
        self._maxsize = maxsize
        self._wake: Callable[[], object] | None = None
        self._closed = False
        self.dropped = 0

    def put(self, change: Change) -> None:
        self._changes.append(change)
        while len(self._changes) > self._maxsize:
            try:
                self._changes.popleft()
            except IndexError:
                break
            self.dropped += 1
        self._notify()

    def close(self) -> None:
        self._closed = True
        self._notify()

    def _notify(self) -> None:
        wake = self._wake
        if wake is not None:
            wake()

    async def take(self) -> Change:
        if self._wake is not None:
            raise RuntimeError("another task is waiting for the next transition")
        while True:
            event, self._wake = _event()
            try:
                # Looked at after the wake-up is in place, so that none is missed.
                if self._changes:
                    return self._changes.popleft()
                if self._closed:
                    raise StopAsyncIteration
                await event.wait()
            finally:
                self._wake = None


def _event() -> tuple[Any, Callable[[], object]]:
    """An event of the running async library, and a function that sets it from any thread."""
    trio: Any = sys.modules.get("trio")
    if trio is not None:
        try:
            token = trio.lowlevel.current_trio_token()
        except RuntimeError:
            pass
        else:
            event = trio.Event()
            return event, lambda: _in_loop(token.run_sync_soon, event.set, trio.RunFinishedError)
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    return event, lambda: _in_loop(loop.call_soon_threadsafe, event.set, RuntimeError)


def _in_loop(
    soon: Callable[[Callable[[], object]], object], function: Callable[[], object], gone: type[Exception]
) -> None:
    """Call a function in the loop, which may have ended."""
    with contextlib.suppress(gone):
        soon(function)


def _close(registry: weakref.ref[Registry], name: str, queue: _Queue) -> None:
    observed = registry()
    if observed is not None:
        observed.unobserve(name)
    queue.close()


_numbers = itertools.count(1)
