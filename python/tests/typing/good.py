"""Uses that type checkers must accept, with the types that they must see."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import overload

from typing_extensions import assert_type

import tripcoil

guard = tripcoil.breaker(
    "stock",
    strategy=tripcoil.Strategy.ERROR_RATIO,
    threshold=0.5,
    retry_timeout=timedelta(seconds=10),
    stat_interval=10,
    record=(ConnectionError, lambda error: "busy" in str(error)),
    ignore=KeyError,
    is_failure=lambda result: result is None,
)
per_call = tripcoil.breaker(resource=lambda host, *rest: str(host))


@guard
def plain(sku: str, *, limit: int = 1) -> list[str]:
    return [sku] * limit


@guard
async def later(sku: str) -> bytes:
    return sku.encode()


@guard
def items(count: int) -> Iterator[int]:
    yield from range(count)


@guard
async def later_items(count: int) -> AsyncIterator[int]:
    for item in range(count):
        yield item


@overload
def either(value: int) -> int: ...
@overload
def either(value: str) -> str: ...
@guard
def either(value: int | str) -> int | str:
    return value


class Client:
    @guard
    def method(self, sku: str) -> int:
        return len(sku)

    @classmethod
    @guard
    def make(cls) -> Client:
        return cls()

    @staticmethod
    @guard
    def double(value: int) -> int:
        return 2 * value

    @property
    @guard
    def name(self) -> str:
        return "client"

    @functools.cached_property
    @guard
    def cached(self) -> float:
        return 1.0


async def uses() -> None:
    assert_type(plain("a", limit=2), list[str])
    assert_type(await later("a"), bytes)
    assert_type(list(items(3)), list[int])
    assert_type([item async for item in later_items(3)], list[int])
    assert_type(either("a"), str)
    assert_type(Client().method("a"), int)
    assert_type(Client.make(), Client)
    assert_type(Client.double(1), int)
    assert_type(Client().name, str)
    assert_type(Client().cached, float)
    assert_type(guard.call(plain, "a", limit=3), list[str])
    assert_type(await guard.call(later, "a"), bytes)

    with guard as entry:
        assert_type(entry, tripcoil.Entry)
    async with guard as entry:
        tripcoil.trace(ValueError())
    entry = tripcoil.resource("stock").enter()
    assert_type(entry.exit(ValueError(), response_time=0.5), bool)
    assert_type(entry.exit(tripcoil.Outcome.IGNORED), bool)
    assert_type(per_call.enter("host").resource, str)


async def tools() -> None:
    clock = tripcoil.VirtualClock()
    clock.advance(timedelta(seconds=1))
    registry = tripcoil.Registry(clock=clock, max_resources=10)
    registry.load_rules(Path("rules.json"))
    registry.load_rules([{"resource": "stock", "grade": 1, "count": 0.5, "timeWindow": 10}])
    rule = tripcoil.Rule("stock", strategy="error_count", threshold=3, retry_timeout=1.5)
    report = registry.load_rules([rule], lenient=True)
    assert_type(report.faults, tuple[tripcoil.Fault, ...])
    assert_type(registry.resource("stock").breakers[0].snapshot().totals.good, int)
    with registry.observe(lambda change: print(change.trip)) as observation:
        assert_type(observation.name, str)
    async with registry.transitions(maxsize=5) as transitions:
        async for change in transitions:
            assert_type(change.to_state, tripcoil.State)
    try:
        plain("a")
    except tripcoil.CircuitOpenError as error:
        assert_type(error.retry_after, float | None)
        assert_type(error.rule, tripcoil.Rule | None)
    except tripcoil.InvalidRuleError as error:
        assert_type(error.faults[0].field, str | None)
