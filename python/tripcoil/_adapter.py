"""What the adapters for HTTP clients share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import Guard, Registry

SERVER_ERRORS = 500


def guard(registry: Registry | None, name: Callable[..., str], options: dict[str, Any]) -> Guard:
    """The guard of an adapter's requests; by default in the default registry."""
    from . import default_registry

    made = (default_registry if registry is None else registry).breaker(resource=name, **options)
    # A request lasts while its body is read, by code which is of another call.
    made._ignore_marks()
    return made


def host_and_port(host: str | None, port: int | None) -> str:
    """How a server is called: by its host, and its port where that is not the scheme's own."""
    shown = f"[{host}]" if host and ":" in host else host or ""
    return shown if port is None else f"{shown}:{port}"
