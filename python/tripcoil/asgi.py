"""ASGI middleware: a request that fails because a breaker is open is answered with 503 and Retry-After.

app = tripcoil.asgi.Middleware(app)                 # or app.add_middleware(tripcoil.asgi.Middleware)
"""

from __future__ import annotations

import math
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ._errors import CircuitOpenError

__all__ = ["Middleware"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


class Middleware:
    """Answers HTTP requests for an application that raises `CircuitOpenError`, or a group of nothing else.

    `Retry-After` has the whole seconds until the breaker's next probe, at least 1; without a limit there is
    none. A response that has begun cannot be changed any more: then the error goes on.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            rejection = _rejection(error)
            if begun or rejection is None:
                raise
            await _answer(rejection, send)


def _rejection(error: Exception) -> CircuitOpenError | None:
    """The rejection that an error is; of a group of nothing else, the first."""
    if isinstance(error, CircuitOpenError):
        return error
    if sys.version_info >= (3, 11) and isinstance(error, ExceptionGroup):  # noqa: F821
        rejections = [_rejection(member) for member in error.exceptions]
        return None if None in rejections else rejections[0]
    return None


async def _answer(error: CircuitOpenError, send: Send) -> None:
    body = b"Service Unavailable"
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
    if error.retry_after is not None:
        headers.append((b"retry-after", b"%d" % max(1, math.ceil(error.retry_after))))
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})
