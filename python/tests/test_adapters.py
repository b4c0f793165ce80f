"""The adapters for HTTP clients, each with the real library and a real server."""

from __future__ import annotations

import asyncio
import gc
import pickle
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import aiohttp
import httpx
import pytest
import requests
import server
from conftest import counts, state

import tripcoil.aiohttp
import tripcoil.httpx
import tripcoil.requests
from tripcoil import CircuitOpenError, InvalidRuleError, Registry, Resource, State, VirtualClock

RULE: dict[str, Any] = {
    "strategy": "error_count",
    "threshold": 2,
    "min_request_amount": 1,
    "retry_timeout": 2,
    "stat_interval": 100,
}


class Httpx:
    """`httpx.Client`."""

    errors: ClassVar = httpx.TransportError
    timeouts: ClassVar = httpx.ReadTimeout

    def __init__(self, registry: Registry, **options: Any) -> None:
        transport = tripcoil.httpx.Transport(registry=registry, **options)
        self._client = httpx.Client(
            transport=transport, trust_env=False, follow_redirects=True, timeout=httpx.Timeout(60, read=0.3)
        )

    def get(self, url: str) -> int:
        return self._client.get(url).status_code

    def stream(self, url: str, during: Callable[[], object]) -> None:
        with self._client.stream("GET", url) as response:
            during()
            next(response.iter_bytes())
            during()

    def drop(self, url: str) -> None:
        self._client.send(self._client.build_request("GET", url), stream=True)

    def close(self) -> None:
        self._client.close()


class Awaiting:
    """What a client that awaits has besides: a request is cancelled while its body is read."""

    # Called last: who is refused has no loop that somebody would have to close.
    def __init__(self) -> None:
        self._runner = asyncio.new_event_loop()
        self.begun = False

    async def start(self, url: str) -> None:
        """Read a whole answer, and tell by `begun` that its body has begun."""
        raise NotImplementedError

    def cancel(self, url: str) -> None:
        async def main() -> None:
            task = asyncio.create_task(self.start(url))
            while not self.begun:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        self._runner.run_until_complete(main())


class HttpxAsync(Awaiting):
    """`httpx.AsyncClient`."""

    errors: ClassVar = httpx.TransportError
    timeouts: ClassVar = httpx.ReadTimeout

    def __init__(self, registry: Registry, **options: Any) -> None:
        transport = tripcoil.httpx.AsyncTransport(registry=registry, **options)
        self._client = httpx.AsyncClient(
            transport=transport, trust_env=False, follow_redirects=True, timeout=httpx.Timeout(60, read=0.3)
        )
        super().__init__()

    def get(self, url: str) -> int:
        return self._runner.run_until_complete(self._client.get(url)).status_code

    def stream(self, url: str, during: Callable[[], object]) -> None:
        async def main() -> None:
            async with self._client.stream("GET", url) as response:
                during()
                async for _ in response.aiter_bytes():
                    break
                during()

        self._runner.run_until_complete(main())

    async def start(self, url: str) -> None:
        request = self._client.build_request("GET", url)
        response = await self._client.send(request, stream=True)
        self.begun = True
        await response.aread()

    def drop(self, url: str) -> None:
        async def main() -> None:
            await self._client.send(self._client.build_request("GET", url), stream=True)

        self._runner.run_until_complete(main())

    def close(self) -> None:
        self._runner.run_until_complete(self._client.aclose())
        self._runner.run_until_complete(self._runner.shutdown_asyncgens())
        self._runner.close()


class Requests:
    """`requests.Session`."""

    errors: ClassVar = requests.RequestException
    timeouts: ClassVar = requests.ConnectionError

    def __init__(self, registry: Registry, **options: Any) -> None:
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.mount("http://", tripcoil.requests.Adapter(registry=registry, **options))

    def get(self, url: str) -> int:
        response = self._session.get(url, timeout=(60, 0.3))
        assert len(response.content) > 0
        return response.status_code

    def stream(self, url: str, during: Callable[[], object]) -> None:
        with self._session.get(url, stream=True) as response:
            during()
            next(response.iter_content(1000))
            during()

    def drop(self, url: str) -> None:
        self._session.get(url, stream=True)

    def close(self) -> None:
        self._session.close()


class Aiohttp(Awaiting):
    """`aiohttp.ClientSession`."""

    errors: ClassVar = aiohttp.ClientError
    timeouts: ClassVar = asyncio.TimeoutError

    def __init__(self, registry: Registry, **options: Any) -> None:
        self._middleware = tripcoil.aiohttp.middleware(registry=registry, **options)
        super().__init__()

    async def _get(self, url: str) -> int:
        timeout = aiohttp.ClientTimeout(total=0.3 if "stall" in url else 60)
        session = aiohttp.ClientSession(middlewares=[self._middleware], timeout=timeout)
        async with session, session.get(url) as response:
            await response.read()
            return response.status

    def get(self, url: str) -> int:
        return self._runner.run_until_complete(self._get(url))

    def stream(self, url: str, during: Callable[[], object]) -> None:
        async def main() -> None:
            session = aiohttp.ClientSession(middlewares=[self._middleware])
            async with session, session.get(url) as response:
                during()
                await response.content.readany()
                during()

        self._runner.run_until_complete(main())

    async def start(self, url: str) -> None:
        session = aiohttp.ClientSession(middlewares=[self._middleware])
        async with session, session.get(url) as response:
            self.begun = True
            await response.read()

    def drop(self, url: str) -> None:
        async def main() -> None:
            async with aiohttp.ClientSession(middlewares=[self._middleware]) as session:
                await session.get(url)

        self._runner.run_until_complete(main())

    def close(self) -> None:
        self._runner.run_until_complete(self._runner.shutdown_asyncgens())
        self._runner.close()


CLIENTS = [Httpx, HttpxAsync, Requests, Aiohttp]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with server.running() as address:
        yield address


@pytest.fixture
def resource(registry: Registry, address: str) -> Resource:
    return registry.resource(address)


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, registry: Registry) -> Iterator[Any]:
    client = request.param(registry, **RULE)
    yield client
    client.close()


def test_server_errors_are_bad_and_other_answers_good(client: Any, address: str, resource: Resource) -> None:
    for status in (200, 404, 500):
        assert client.get(f"http://{address}/{status}") == status
    assert counts(resource) == {"good": 2, "bad": 1}


def test_it_opens_and_recovers(client: Any, address: str, resource: Resource, clock: VirtualClock) -> None:
    for _ in range(2):
        client.get(f"http://{address}/503")
    assert state(resource) is State.OPEN
    before = server.Handler.requests
    with pytest.raises(CircuitOpenError) as blocked:
        client.get(f"http://{address}/200")
    assert blocked.value.resource == address
    assert server.Handler.requests == before
    clock.advance(2)
    assert client.get(f"http://{address}/200") == 200
    assert state(resource) is State.CLOSED


def test_transport_errors_are_bad(client: Any, address: str, registry: Registry, resource: Resource) -> None:
    before = server.Handler.requests
    with pytest.raises(client.errors):
        client.get(f"http://{address}/hang-up")
    # aiohttp tries a second time by itself.
    assert counts(resource) == {"bad": server.Handler.requests - before}
    # Nobody listens on port 9.
    with pytest.raises(client.errors):
        client.get("http://127.0.0.1:9/200")
    assert counts(registry.resource("127.0.0.1:9")) == {"bad": 1}


def test_a_body_that_breaks_off_is_bad(client: Any, address: str, resource: Resource) -> None:
    with pytest.raises(client.errors):
        client.get(f"http://{address}/cut")
    assert counts(resource) == {"bad": 1}


def test_a_streamed_body_ends_the_call_when_it_is_closed(
    client: Any, address: str, resource: Resource
) -> None:
    during: list[dict[str, int]] = []
    client.stream(f"http://{address}/stream", lambda: during.append(counts(resource)))
    assert during == [{}, {}], "the call goes on while the body is read"
    assert counts(resource) == {"good": 1}


def test_a_streamed_body_ends_the_call_when_it_is_read(client: Any, address: str, resource: Resource) -> None:
    assert client.get(f"http://{address}/stream") == 200
    assert counts(resource) == {"good": 1}


def test_a_body_that_does_not_come_in_time_is_bad(client: Any, address: str, resource: Resource) -> None:
    with pytest.raises(client.timeouts):
        client.get(f"http://{address}/stall")
    assert counts(resource) == {"bad": 1}


@pytest.mark.parametrize("client", [HttpxAsync, Aiohttp], indirect=True)
def test_a_cancelled_request_has_no_outcome(client: Any, address: str, resource: Resource) -> None:
    client.cancel(f"http://{address}/stall")
    assert counts(resource) == {"cancelled": 1}


def test_a_piece_of_a_body_that_does_not_come_in_time_is_bad(
    address: str, registry: Registry, resource: Resource
) -> None:
    async def main(path: str, timeout: float) -> None:
        middleware = tripcoil.aiohttp.middleware(registry=registry, **RULE)
        limit = aiohttp.ClientTimeout(total=timeout)
        async with (
            aiohttp.ClientSession(middlewares=[middleware], timeout=limit) as session,
            session.get(f"http://{address}/{path}") as response,
        ):
            async for _ in response.content.iter_any():
                waiting.set()

    async def cancel() -> None:
        task = asyncio.create_task(main("stall", 60))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def time_out() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await main("stall", 0.3)

    waiting = asyncio.Event()
    asyncio.run(time_out())
    assert counts(resource) == {"bad": 1}
    waiting = asyncio.Event()
    asyncio.run(cancel())
    assert counts(resource) == {"bad": 1, "cancelled": 1}


def test_a_block_that_ends_by_another_error_closes_the_body(
    address: str, registry: Registry, resource: Resource
) -> None:
    async def main() -> None:
        middleware = tripcoil.aiohttp.middleware(registry=registry, **RULE)
        async with (
            aiohttp.ClientSession(middlewares=[middleware]) as session,
            session.get(f"http://{address}/stall") as response,
        ):
            await response.content.readany()
            raise TimeoutError

    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert counts(resource) == {"good": 1}


@pytest.mark.filterwarnings("ignore:.*nclosed.*:ResourceWarning")
def test_a_server_error_that_a_hook_raises_for_is_bad(
    address: str, registry: Registry, resource: Resource
) -> None:
    session = requests.Session()
    session.trust_env = False
    session.mount("http://", tripcoil.requests.Adapter(registry=registry, **RULE))
    session.hooks["response"] = [lambda response, **_: response.raise_for_status()]
    for status in (404, 500, 500):
        with pytest.raises(requests.HTTPError):
            session.get(f"http://{address}/{status}")
        gc.collect()
    assert counts(resource) == {"bad": 2, "cancelled": 1}
    assert state(resource) is State.OPEN
    session.close()


def test_an_answer_may_be_judged_by_its_body(address: str, registry: Registry, resource: Resource) -> None:
    session = requests.Session()
    session.trust_env = False
    adapter = tripcoil.requests.Adapter(
        registry=registry, is_failure=lambda response: response.text == "body", **RULE
    )
    session.mount("http://", adapter)
    assert session.get(f"http://{address}/200").text == "body"
    assert session.get(f"http://{address}/stream").status_code == 200
    assert counts(resource) == {"bad": 1, "good": 1}
    session.close()


@pytest.mark.parametrize("client", [Httpx, HttpxAsync], indirect=True)
def test_a_url_without_a_host_is_refused_as_by_httpx(client: Any, registry: Registry) -> None:
    with pytest.raises(httpx.UnsupportedProtocol):
        client.get("/no-host")
    assert len(registry) == 0


@pytest.mark.filterwarnings("ignore:.*nclosed.*:ResourceWarning")
def test_a_response_that_is_dropped_has_no_outcome(client: Any, address: str, resource: Resource) -> None:
    client.drop(f"http://{address}/stall")
    gc.collect()
    assert counts(resource) == {"cancelled": 1}


@pytest.mark.parametrize("make", CLIENTS)
def test_an_answer_is_judged_once(make: Any, address: str, registry: Registry) -> None:
    judged: list[object] = []
    client = make(registry, is_failure=judged.append, **RULE)
    client.get(f"http://{address}/stream")
    client.stream(f"http://{address}/stream", lambda: None)
    assert len(judged) == 2
    client.close()


def test_the_raw_body_is_used_as_urllib3_s(address: str, registry: Registry, resource: Resource) -> None:
    session = requests.Session()
    session.trust_env = False
    session.mount("http://", tripcoil.requests.Adapter(registry=registry, **RULE))

    response = session.get(f"http://{address}/200", stream=True)
    response.raw.decode_content = True
    assert response.raw._raw.decode_content is True
    assert response.raw.read(2) + response.raw.read(9) + response.raw.read(9) == b"body"
    assert counts(resource) == {"good": 1}
    response = session.get(f"http://{address}/200", stream=True)
    buffer = bytearray(9)
    with response.raw as body:
        assert body.readinto(buffer) == 4
        assert counts(resource) == {"good": 1}
    assert counts(resource) == {"good": 2}
    response = session.get(f"http://{address}/200", stream=True)
    assert next(response.raw) == b"body"
    with pytest.raises(StopIteration):
        next(response.raw)
    assert counts(resource) == {"good": 3}
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(session)
    session.close()


def test_each_step_of_a_redirection_is_a_call(client: Any, address: str, resource: Resource) -> None:
    assert client.get(f"http://{address}/moved") == 200
    assert counts(resource) == {"good": 2}


@pytest.mark.parametrize("make", CLIENTS)
def test_names_and_judgement_can_be_the_user_s(make: Any, address: str, registry: Registry) -> None:
    def is_failure(response: Any) -> bool:
        return getattr(response, "status_code", None) == 404 or getattr(response, "status", None) == 404

    client = make(registry, name=lambda request: "api", is_failure=is_failure, **RULE)
    for status in (404, 500):
        assert client.get(f"http://{address}/{status}") == status
    assert counts(registry.resource("api")) == {"bad": 1, "good": 1}
    client.close()


@pytest.mark.parametrize("make", CLIENTS)
def test_rules_can_be_loaded_elsewhere(make: Any, address: str, registry: Registry) -> None:
    registry.load_default_rules(tripcoil.Rule("*", **RULE))
    client = make(registry)
    client.get(f"http://{address}/500")
    assert counts(registry.resource(address)) == {"bad": 1}
    client.close()


@pytest.mark.parametrize("make", CLIENTS)
def test_wrong_options_are_refused_at_once(make: Any, registry: Registry) -> None:
    with pytest.raises(TypeError, match="unknown option 'treshold'"):
        make(registry, treshold=1)
    with pytest.raises(InvalidRuleError, match="threshold"):
        make(registry, **{**RULE, "threshold": -1})


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://example.com/a", "example.com"),
        ("https://EXAMPLE.com:443/a", "example.com"),
        ("https://example.com:8443/a?b", "example.com:8443"),
        ("http://[::1]:8080/", "[::1]:8080"),
    ],
)
def test_hosts_are_named_alike(url: str, name: str) -> None:
    assert tripcoil.httpx.host(httpx.Request("GET", url)) == name
    prepared = requests.Request("GET", url).prepare()
    assert tripcoil.requests.host(prepared) == name
