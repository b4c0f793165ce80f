"""Names that each call has, and the rules of a breaker's options beside loaded ones."""

from __future__ import annotations

import asyncio

import pytest
from conftest import R0, Boom, boom, state

import tripcoil
from tripcoil import CircuitOpenError, Registry, State, VirtualClock


def test_per_call_names_give_each_host_a_breaker(registry: Registry) -> None:
    guard = registry.breaker(resource=lambda host, *rest: host, **R0)

    @guard
    def fetch(host: str, path: str) -> str:
        if host == "bad":
            boom()
        return path

    @guard
    async def later(host: str, path: str) -> str:
        return fetch.__wrapped__(host, path)  # type: ignore[attr-defined,no-any-return]

    for _ in range(2):
        assert fetch("good", "/") == "/"
        assert asyncio.run(later("good", "/")) == "/"
        with pytest.raises(Boom):
            fetch("bad", "/")
        with pytest.raises(Boom):
            asyncio.run(later("bad", path="/"))
    assert state(registry.resource("bad")) is State.OPEN
    assert state(registry.resource("good")) is State.CLOSED
    with pytest.raises(CircuitOpenError) as blocked:
        asyncio.run(later("bad", "/"))
    assert blocked.value.resource == "bad"
    assert guard.enter("good").resource == "good"
    with pytest.raises(ValueError, match="resource of its own"):
        _ = guard.resource


def test_a_name_that_is_no_name_fails_the_call(registry: Registry) -> None:
    guard = registry.breaker(resource=lambda name: name)
    call = guard(lambda name: name)
    with pytest.raises(TypeError, match="resource must be a str"):
        call(5)
    with pytest.raises(tripcoil.InvalidNameError):
        call("")


def thresholds(registry: Registry, name: str) -> list[float]:
    return [breaker.rule.threshold for breaker in registry.resource(name).breakers]


def test_the_rule_of_options_gives_way_to_a_loaded_one_and_stays_beside_others(registry: Registry) -> None:
    loaded = tripcoil.Rule("stock", **{**R0, "threshold": 0.2})
    registry.load_rules([loaded])
    guard = registry.breaker("stock", **R0)
    assert thresholds(registry, "stock") == [0.2], "loaded before"
    registry.load_rules([tripcoil.Rule("other", **R0)])
    assert thresholds(registry, "stock") == [0.5], "a load of others leaves it"
    with pytest.raises(Boom):
        guard.call(boom)
    registry.load_rules([])
    assert guard.resource.breakers[0].snapshot().bad == 1, "and its breaker"
    registry.load_rules([loaded])
    assert thresholds(registry, "stock") == [0.2], "loaded later"
    registry.load_resource_rules("stock", [])
    assert thresholds(registry, "stock") == [0.5]
    registry.load_default_rules(tripcoil.Rule("*", **{**R0, "threshold": 0.9}))
    assert thresholds(registry, "stock") == [0.5]
    assert [rule.threshold for rule in registry.rules] == [0.5, 0.9]
    registry.breaker("stock", **{**R0, "threshold": 0.7})
    assert thresholds(registry, "stock") == [0.7], "what was said last"


def test_a_loaded_rule_comes_before_that_of_a_per_call_name(registry: Registry) -> None:
    call = registry.breaker(resource=lambda host: host, **R0)(lambda host: host)
    registry.load_rules([tripcoil.Rule("a", **{**R0, "threshold": 0.2})])
    for _ in range(2):
        call("a")
        call("b")
    assert (thresholds(registry, "a"), thresholds(registry, "b")) == ([0.2], [0.5])
    registry.load_rules([])
    assert thresholds(registry, "a") == thresholds(registry, "b") == [0.5]


def test_per_call_names_with_options_take_no_more_than_the_registry(clock: VirtualClock) -> None:
    registry = Registry(max_resources=10, clock=clock)
    call = registry.breaker(resource=lambda host: host, **R0)(lambda host: host)
    for number in range(1000):
        call(f"host {number}")
    assert len(registry.rules) == len(registry) == 10
    assert registry.unguarded_calls == 990, "those of names that had no place"
