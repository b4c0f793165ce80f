"""The ASGI middleware, under a real server."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
import uvicorn
from conftest import boom, trip
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

import tripcoil.asgi
from tripcoil import CircuitOpenError, Guard, Mode, VirtualClock


def served(app: Any, use: Callable[[httpx.AsyncClient], Awaitable[None]]) -> None:
    """Run an application on a free port of this machine as long as it is used."""

    async def main() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none")
        running = uvicorn.Server(config)
        task = asyncio.create_task(running.serve([listener]))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
            await use(client)
        running.should_exit = True
        await task
        listener.close()

    asyncio.run(main())


@pytest.fixture
def app(guard: Guard) -> Starlette:
    async def stock(request: Request) -> PlainTextResponse:
        return PlainTextResponse(guard.call(str, 5))

    async def late(request: Request) -> StreamingResponse:
        async def body() -> Any:
            yield b"begun"
            guard.call(boom)

        return StreamingResponse(body())

    app = Starlette(routes=[Route("/stock", stock), Route("/late", late)])
    app.add_middleware(tripcoil.asgi.Middleware)
    return app


def test_a_blocked_request_is_answered_with_503(app: Starlette, guard: Guard, clock: VirtualClock) -> None:
    async def use(client: httpx.AsyncClient) -> None:
        response = await client.get("/stock")
        assert (response.status_code, response.text) == (200, "5")
        guard.resource.reset()
        trip(guard)
        clock.advance(0.7)
        response = await client.get("/stock")
        assert (response.status_code, response.headers["retry-after"]) == (503, "2")
        assert response.text == "Service Unavailable"
        guard.resource.set_mode(Mode.FORCED_OPEN)
        response = await client.get("/stock")
        assert response.status_code == 503
        assert "retry-after" not in response.headers

    served(app, use)


def test_a_response_that_has_begun_is_left_alone(app: Starlette, guard: Guard) -> None:
    trip(guard)

    async def use(client: httpx.AsyncClient) -> None:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get("/late")

    served(app, use)


def test_what_comes_before_a_response_does_not_begin_it(guard: Guard) -> None:
    trip(guard)
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.push", "path": "/style.css", "headers": []})
        guard.call(boom)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(tripcoil.asgi.Middleware(app)({"type": "http"}, boom, send))
    assert [message.get("status") for message in sent] == [None, 503, None]


if sys.version_info >= (3, 11):

    def test_a_group_of_rejections_is_answered_and_no_other() -> None:
        rejection = CircuitOpenError(tripcoil.Rejection("stock", retry_after=2))
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        def answer(error: Exception) -> None:
            async def app(scope: Any, receive: Any, send: Any) -> None:
                raise error

            asyncio.run(tripcoil.asgi.Middleware(app)({"type": "http"}, boom, send))

        group = ExceptionGroup("tasks", [rejection, ExceptionGroup("more", [rejection])])  # noqa: F821
        answer(group)
        assert [message.get("status") for message in sent] == [503, None]
        with pytest.raises(ExceptionGroup):  # noqa: F821
            answer(ExceptionGroup("tasks", [group, ValueError()]))  # noqa: F821
        assert len(sent) == 2


@pytest.mark.parametrize("kind", ["lifespan", "websocket"])
def test_other_scopes_pass(kind: str, guard: Guard) -> None:
    trip(guard)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        guard.call(boom)

    with pytest.raises(CircuitOpenError):
        asyncio.run(tripcoil.asgi.Middleware(app)({"type": kind}, boom, boom))
