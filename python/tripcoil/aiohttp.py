"""Guarded requests for aiohttp's client. Needs the extra `tripcoil[aiohttp]`.

    guard = tripcoil.aiohttp.middleware(strategy="error_ratio", threshold=0.5, retry_timeout=10)
    session = aiohttp.ClientSession(middlewares=[guard])

Each host has a breaker of its own. Answers of 500 and above and transport errors are bad, other answers
good. A call lasts until its body has been read or closed, so a body that breaks off is bad.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import aiohttp

from . import _adapter

if TYPE_CHECKING:
    from . import Entry, Registry

__all__ = ["host", "middleware"]


def host(request: aiohttp.ClientRequest) -> str:
    """The name of a request's resource: its host, with the port if that is not the scheme's own."""
    url = request.url
    return _adapter.host_and_port(url.host, None if url.is_default_port() else url.port)


def _is_failure(response: aiohttp.ClientResponse) -> bool:
    return response.status >= _adapter.SERVER_ERRORS


def middleware(
    *,
    registry: Registry | None = None,
    name: Callable[[aiohttp.ClientRequest], str] = host,
    **options: Any,
) -> aiohttp.ClientMiddlewareType:
    """Make a client middleware that guards requests.

    `name` gives a request's resource. Further options are those of `tripcoil.breaker`: a rule that each
    host gets, and what counts as a failure. A blocked request raises `CircuitOpenError`.
    """
    guard = _adapter.guard(registry, name, {"is_failure": _is_failure, **options})

    async def guarded(
        request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        entry = guard.enter(request)
        try:
            response = await handler(request)
        except BaseException as error:
            entry.raised(error)
            raise
        _end_with_body(entry, response)
        return response

    return guarded


def _end_with_body(entry: Entry, response: aiohttp.ClientResponse) -> None:
    """End an entry when the body has come, or the response is closed or released before.

    aiohttp tells nobody of the latter, so that methods of the response are replaced. Nothing here may keep
    it: one that nobody closes is closed when it is no longer referred to, and its call has no outcome.
    """
    weak = weakref.ref(response)
    kind = type(response)
    reading = False

    def ended() -> None:
        response = weak()
        # What is closed while `read()` is under way has failed in a way that only `read()` knows.
        if response is None or reading:
            return
        error = response.content.exception() or _leaving(response.content)
        if error is None:
            entry.returned(response)
        else:
            entry.raised(error)

    def ending(method: Callable[[aiohttp.ClientResponse], Any]) -> Callable[[], Any]:
        def end() -> Any:
            ended()
            # It is called as the response's own.
            return method(cast("aiohttp.ClientResponse", weak()))

        return end

    async def read() -> bytes:
        nonlocal reading
        reading = True
        try:
            data = await kind.read(cast("aiohttp.ClientResponse", weak()))
        except BaseException as error:
            entry.raised(error)
            raise
        finally:
            reading = False
        ended()
        return data

    response.content.on_eof(ended)
    setattr(response, "read", read)
    setattr(response, "close", ending(kind.close))
    setattr(response, "release", ending(kind.release))


def _leaving(content: aiohttp.StreamReader) -> BaseException | None:
    """The error by which a read of the body ended, where the response is closed because of it.

    Of a cancellation, and of the time-out of the whole request, the body is not told.
    """
    error = sys.exc_info()[1]
    traceback = None if error is None else error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_locals.get("self") is content:
            return error
        traceback = traceback.tb_next
    return None
