"""A guarded adapter for requests. Needs the extra `tripcoil[requests]`.

    session = requests.Session()
    adapter = tripcoil.requests.Adapter(strategy="error_ratio", threshold=0.5, retry_timeout=10)
    session.mount("https://", adapter)

Each host has a breaker of its own. Answers of 500 and above and transport errors are bad, other answers
good. A call lasts until its body has been read or closed, so a body that breaks off is bad.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

import requests
import requests.adapters
import requests.exceptions

from . import _adapter, _options
from ._enums import Outcome

if TYPE_CHECKING:
    from . import Entry, Registry

__all__ = ["Adapter", "host"]


def host(request: requests.PreparedRequest) -> str:
    """The name of a request's resource: its host, with the port if that is not the scheme's own."""
    url = urlsplit(str(request.url))
    default = {"http": 80, "https": 443}.get(url.scheme)
    return _adapter.host_and_port(url.hostname, None if url.port == default else url.port)


def _is_failure(response: requests.Response) -> bool:
    return response.status_code >= _adapter.SERVER_ERRORS


class Adapter(requests.adapters.HTTPAdapter):
    """Guards the requests of a session that it is mounted on.

    The first four options are those of `requests.adapters.HTTPAdapter`; `name` gives a request's resource.
    Further ones are those of `tripcoil.breaker`: a rule that each host gets, and what counts as a failure. A
    blocked request raises `CircuitOpenError`.
    """

    def __init__(
        self,
        pool_connections: int = requests.adapters.DEFAULT_POOLSIZE,
        pool_maxsize: int = requests.adapters.DEFAULT_POOLSIZE,
        max_retries: Any = requests.adapters.DEFAULT_RETRIES,
        pool_block: bool = requests.adapters.DEFAULT_POOLBLOCK,
        *,
        registry: Registry | None = None,
        name: Callable[[requests.PreparedRequest], str] = host,
        **options: Any,
    ) -> None:
        # These are the caller's own mistakes.
        ours = (requests.exceptions.InvalidURL, requests.exceptions.InvalidHeader)
        options = {"ignore": ours, "is_failure": _is_failure, **options}
        self._is_failure = _options.predicate("is_failure", options.pop("is_failure"))
        self._guard = _adapter.guard(registry, name, options)
        super().__init__(pool_connections, pool_maxsize, max_retries, pool_block)

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        entry = self._guard.enter(request)
        try:
            response = super().send(request, *args, **kwargs)
        except BaseException as error:
            entry.raised(error)
            raise
        try:
            # Now, as it may be dropped unread: by a hook that raises, for example.
            failed = self._is_failure is not None and self._is_failure(response)
        except BaseException:
            entry.exit(Outcome.BAD)
            raise
        body = response.raw = _Body(response.raw, entry, Outcome.BAD if failed else Outcome.GOOD)
        if body.closed:
            body._end()
        return response

    def __reduce__(self) -> NoReturn:
        raise TypeError("a guarded adapter cannot be pickled: its breakers are this process's")


class _Body:
    """The raw body of a response, which ends its entry when it is read or closed.

    One that is dropped has no outcome, unless the answer was a failure, whatever its body.
    """

    _raw: Any
    _entry: Entry
    _outcome: Outcome

    def __init__(self, raw: Any, entry: Entry, outcome: Outcome) -> None:
        self.__dict__.update(_raw=raw, _entry=entry, _outcome=outcome)

    def __del__(self) -> None:
        if self._outcome is Outcome.BAD:
            self._end()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def __setattr__(self, name: str, value: object) -> None:
        # `decode_content`, for example.
        setattr(self._raw, name, value)

    def __enter__(self) -> _Body:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        return self._guarded(iter(self._raw))

    def __next__(self) -> bytes:
        return bytes(self._read(next, self._raw))

    def stream(self, *args: Any, **kwargs: Any) -> Iterator[bytes]:
        return self._guarded(self._raw.stream(*args, **kwargs))

    def read(self, amt: int | None = None, *args: Any, **kwargs: Any) -> bytes:
        data: bytes = self._read(self._raw.read, amt, *args, **kwargs)
        if amt is None or amt < 0 or (amt > 0 and not data):
            self._end()
        return data

    def read1(self, amt: int | None = None, *args: Any, **kwargs: Any) -> bytes:
        data: bytes = self._read(self._raw.read1, amt, *args, **kwargs)
        if amt != 0 and not data:
            self._end()
        return data

    def readinto(self, buffer: Any) -> int:
        count: int = self._read(self._raw.readinto, buffer)
        if len(buffer) and not count:
            self._end()
        return count

    def close(self) -> None:
        try:
            self._raw.close()
        finally:
            self._end()

    def release_conn(self) -> None:
        try:
            self._raw.release_conn()
        finally:
            self._end()

    def _end(self) -> None:
        self._entry.exit(self._outcome)

    def _read(self, read: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            return read(*args, **kwargs)
        except StopIteration:
            self._end()
            raise
        except BaseException as error:
            self._entry.raised(error)
            raise

    def _guarded(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from chunks
        except GeneratorExit:
            # Nobody wants the rest; what it counts as is known when the body is closed.
            raise
        except BaseException as error:
            self._entry.raised(error)
            raise
        self._end()
