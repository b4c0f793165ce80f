"""What the tests share: a rule that trips at four errors, and ways to trip it."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tripcoil import CircuitOpenError, Guard, Registry, Resource, State, Totals, VirtualClock

pytest_plugins = ["pytester"]
collect_ignore = [] if "TRIPCOIL_CONFORMANCE" in os.environ else ["test_conformance.py"]

# `R0` of the acceptance list: trips at four errors, open for two seconds, one probe.
R0: dict[str, Any] = {
    "strategy": "error_ratio",
    "threshold": 0.5,
    "min_request_amount": 4,
    "stat_interval": 1,
    "stat_sliding_window_bucket_count": 10,
    "retry_timeout": 2,
}


class Boom(Exception):
    """A failure of the dependency."""


def boom(*_args: object, **_kwargs: object) -> Any:
    raise Boom


@pytest.fixture(autouse=True)
def _leaves_nothing_behind() -> Iterator[None]:
    """What a test leaves open is found by that test, and not by whichever meets the next collection."""
    yield
    gc.collect()


@pytest.fixture
def clock(tripcoil_clock: VirtualClock) -> VirtualClock:
    return tripcoil_clock


@pytest.fixture
def registry(tripcoil_registry: Registry) -> Registry:
    return tripcoil_registry


@pytest.fixture
def guard(registry: Registry) -> Guard:
    return registry.breaker("stock", **R0)


@pytest.fixture
def stock(guard: Guard) -> Resource:
    return guard.resource


def state(resource: Resource) -> State:
    return resource.breakers[0].state


def totals(resource: Resource) -> Totals:
    return resource.breakers[0].snapshot().totals


def counts(resource: Resource) -> dict[str, int]:
    """Those of the totals that are not 0, calls that passed aside."""
    taken = totals(resource)
    names = ("blocked", "good", "bad", "ignored", "cancelled", "late", "observed")
    return {name: number for name in names if (number := getattr(taken, name))}


def trip(guard: Guard) -> None:
    for _ in range(4):
        with pytest.raises(Boom):
            guard.call(boom)
    assert state(guard.resource) is State.OPEN


def is_blocked(call: Callable[[], object]) -> bool:
    try:
        call()
    except CircuitOpenError:
        return True
    return False


def raising(error: BaseException) -> Any:
    raise error


def make(registry: Registry, **options: Any) -> tuple[Guard, Resource]:
    guard = registry.breaker("made", **R0, **options)
    return guard, guard.resource
