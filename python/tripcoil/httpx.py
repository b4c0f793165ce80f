"""Guarded transports for httpx, sync and async. Needs the extra `tripcoil[httpx]`.

    transport = tripcoil.httpx.Transport(strategy="error_ratio", threshold=0.5, retry_timeout=10)
    client = httpx.Client(transport=transport)

Each host has a breaker of its own. Answers of 500 and above and transport errors are bad, other answers
good. A call lasts until its body has been read or closed, so a body that breaks off is bad.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

import httpx

from . import _adapter

if TYPE_CHECKING:
    from . import Entry, Guard, Registry

__all__ = ["AsyncTransport", "Transport", "host"]


def host(request: httpx.Request) -> str:
    """The name of a request's resource: its host, with the port if that is not the scheme's own."""
    return _adapter.host_and_port(request.url.host, request.url.port)


def _is_failure(response: httpx.Response) -> bool:
    return response.status_code >= _adapter.SERVER_ERRORS


def _guard(registry: Registry | None, name: Callable[[httpx.Request], str], options: dict[str, Any]) -> Guard:
    # These are the caller's own mistakes.
    ours = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
    return _adapter.guard(registry, name, {"ignore": ours, "is_failure": _is_failure, **options})


class Transport(httpx.BaseTransport):
    """Guards the requests of another transport, by default httpx's own.

    `name` gives a request's resource. Further options are those of `tripcoil.breaker`: a rule that each
    host gets, and what counts as a failure. A blocked request raises `CircuitOpenError`.
    """

    def __init__(
        self,
        transport: httpx.BaseTransport | None = None,
        *,
        registry: Registry | None = None,
        name: Callable[[httpx.Request], str] = host,
        **options: Any,
    ) -> None:
        self._guard = _guard(registry, name, options)
        self._transport = httpx.HTTPTransport() if transport is None else transport

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if not request.url.host:
            # It is no request, and the transport says so.
            return self._transport.handle_request(request)
        entry = self._guard.enter(request)
        try:
            response = self._transport.handle_request(request)
        except BaseException as error:
            entry.raised(error)
            raise
        response.stream = _Stream(cast("httpx.SyncByteStream", response.stream), response, entry)
        return response

    def __enter__(self) -> Transport:
        self._transport.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self._transport.__exit__(kind, error, traceback)

    def close(self) -> None:
        self._transport.close()


class AsyncTransport(httpx.AsyncBaseTransport):
    """As `Transport`, for `httpx.AsyncClient`."""

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        registry: Registry | None = None,
        name: Callable[[httpx.Request], str] = host,
        **options: Any,
    ) -> None:
        self._guard = _guard(registry, name, options)
        self._transport = httpx.AsyncHTTPTransport() if transport is None else transport

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if not request.url.host:
            return await self._transport.handle_async_request(request)
        entry = self._guard.enter(request)
        try:
            response = await self._transport.handle_async_request(request)
        except BaseException as error:
            entry.raised(error)
            raise
        response.stream = _AsyncStream(cast("httpx.AsyncByteStream", response.stream), response, entry)
        return response

    async def __aenter__(self) -> AsyncTransport:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self._transport.__aexit__(kind, error, traceback)

    async def aclose(self) -> None:
        await self._transport.aclose()


class _Stream(httpx.SyncByteStream):
    """A body that ends its entry when it is read or closed."""

    def __init__(self, stream: httpx.SyncByteStream, response: httpx.Response, entry: Entry) -> None:
        self._stream = stream
        self._response = response
        self._entry = entry

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._stream
        except GeneratorExit:
            # Nobody wants the rest; what it counts as is known when the body is closed.
            raise
        except BaseException as error:
            self._entry.raised(error)
            raise
        self._entry.returned(self._response)

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            self._entry.returned(self._response)


class _AsyncStream(httpx.AsyncByteStream):
    """As `_Stream`."""

    def __init__(self, stream: httpx.AsyncByteStream, response: httpx.Response, entry: Entry) -> None:
        self._stream = stream
        self._response = response
        self._entry = entry

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                yield chunk
        except GeneratorExit:
            raise
        except BaseException as error:
            self._entry.raised(error)
            raise
        self._entry.returned(self._response)

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            self._entry.returned(self._response)
