"""Guarded requests for aiohttp's client. Needs the extra `tripcoil[aiohttp]`.

    guard = tripcoil.aiohttp.middleware(strategy="error_ratio", threshold=0.5, retry_timeout=10)
    session = aiohttp.ClientSession(middlewares=[guard])

Each host has a breaker of its own. Answers of 500 and above and transport errors are bad, other answers
good. A call lasts until its body has been read or closed, so a body that breaks off is bad.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
    """End an entry when the body has come, or the response is closed or released before."""

    def ended() -> None:
        error = response.content.exception()
        if error is None:
            entry.returned(response)
        else:
            entry.raised(error)

    def before(method: Callable[[], Any]) -> Callable[[], Any]:
        def ending() -> Any:
            ended()
            return method()

        return ending

    response.content.on_eof(ended)
    # aiohttp tells nobody that a response is closed.
    setattr(response, "close", before(response.close))
    setattr(response, "release", before(response.release))
