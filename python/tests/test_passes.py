"""Guarded coroutine functions, whose healthy calls share what they begin and end with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from conftest import R0, Boom, boom, counts, make, state

import tripcoil
from tripcoil import CircuitOpenError, Guard, Registry, Resource, State, VirtualClock, _native

Fetch = Callable[[Awaitable[object]], Any]


@pytest.fixture
def fetch(guard: Guard) -> Fetch:
    @guard
    async def fetch(wait: Awaitable[object]) -> object:
        return await wait

    return fetch


def begun(call: Any) -> Any:
    call.send(None)
    return call


def end(call: Any) -> None:
    with pytest.raises(StopIteration):
        call.send(None)


async def fail() -> None:
    await asyncio.sleep(0)
    boom()


def test_a_call_that_began_before_the_trip_is_late(
    fetch: Fetch, stock: Resource, clock: VirtualClock
) -> None:
    early = begun(fetch(asyncio.sleep(0)))
    for call in [begun(fetch(fail())) for _ in range(4)]:
        with pytest.raises(Boom):
            call.send(None)
    assert state(stock) is State.OPEN
    with pytest.raises(CircuitOpenError):
        fetch(early).send(None)
    clock.advance(2)
    probe = begun(fetch(asyncio.sleep(0)))
    with pytest.raises(CircuitOpenError):
        fetch(early).send(None)
    end(early)
    assert state(stock) is State.HALF_OPEN, "the late one decides nothing"
    end(probe)
    assert state(stock) is State.CLOSED
    asyncio.run(fetch(asyncio.sleep(0)))
    assert counts(stock) == {"bad": 4, "blocked": 2, "late": 1, "good": 2}


@pytest.mark.parametrize("change", ["reset", "modes", "rules"])
def test_a_call_that_began_before_a_change_is_late(
    change: str, fetch: Fetch, stock: Resource, registry: Registry
) -> None:
    for _ in range(2):
        end(begun(fetch(asyncio.sleep(0))))
    early = begun(fetch(asyncio.sleep(0)))
    if change == "reset":
        stock.reset()
    elif change == "modes":
        stock.set_mode("forced-open")
        with pytest.raises(CircuitOpenError):
            fetch(early).send(None)
        stock.set_mode("normal")
    else:
        registry.load_rules([tripcoil.Rule("stock", **{**R0, "stat_interval": 5})])
    end(early)
    before = stock.breakers[0].snapshot().good
    end(begun(fetch(asyncio.sleep(0))))
    assert stock.breakers[0].snapshot().good == before + 1
    assert before == 0


def test_each_call_is_timed_by_itself(registry: Registry, clock: VirtualClock) -> None:
    rule = {
        **R0,
        "strategy": "slow_ratio",
        "max_allowed_rt": 1,
        "min_request_amount": 10,
        "stat_interval": 10,
    }
    guard = registry.breaker("slow", **rule)

    @guard
    async def fetch() -> None:
        await asyncio.sleep(0)

    calls = []
    for _ in range(4):
        calls.append(begun(fetch()))
        clock.advance(0.6)
    for call in reversed(calls):
        end(call)
    assert counts(guard.resource) == {"good": 1, "bad": 3}


def test_a_mark_from_before_the_call_is_not_its_own(guard: Guard, stock: Resource) -> None:
    @guard
    async def fetch(traces: bool) -> None:
        if traces:
            tripcoil.trace(Boom())

    async def main() -> None:
        for traces in (False, True, False):
            await fetch(traces)
            tripcoil.trace(Boom())

    asyncio.run(main())
    assert counts(stock) == {"good": 2, "bad": 1}


@pytest.mark.parametrize("option", ["ignore", "record"])
def test_a_predicate_that_raises_for_a_mark_makes_the_call_bad_once(option: str, registry: Registry) -> None:
    def predicate(error: BaseException) -> bool:
        raise KeyError from error

    guard, resource = make(registry, **{option: predicate})

    @guard
    async def fetch() -> None:
        tripcoil.trace(Boom())

    with pytest.raises(KeyError):
        asyncio.run(fetch())
    assert counts(resource) == {"bad": 1}


def test_the_functions_of_one_guard_have_their_own(guard: Guard, stock: Resource) -> None:
    @guard
    async def one(value: int, /, *, more: int = 2) -> int:
        return value + more

    @guard
    async def two() -> tuple[int, ...]:
        return ()

    async def main() -> None:
        for _ in range(3):
            assert await one(1) == 3
            assert await one(1, more=4) == 5
            assert await two() == ()

    asyncio.run(main())
    assert counts(stock) == {"good": 9}


def test_a_pass_is_of_a_guard_with_one_resource(registry: Registry, guard: Guard, stock: Resource) -> None:
    with pytest.raises(ValueError, match="a resource of its own"):
        _native.Pass(registry.breaker(resource=str), {})
    first = _native.Pass(guard, {})
    assert first["result"] == "result"
    assert first.raised(Boom())
    assert counts(stock) == {}, "it is for no call"
