"""State, statistics, manual control, observers, and the clock."""

from __future__ import annotations

import contextlib
import gc
import sys
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from conftest import R0, Boom, boom, counts, is_blocked, state, trip

import tripcoil
from tripcoil import (
    Cause,
    Change,
    CircuitOpenError,
    Guard,
    Mode,
    Registry,
    Resource,
    Rule,
    State,
    VirtualClock,
)


def test_opens_probes_and_closes(guard: Guard, stock: Resource, clock: VirtualClock) -> None:
    trip(guard)
    clock.advance(1.999)
    assert is_blocked(lambda: guard.call(boom))
    clock.advance(0.001)
    assert state(stock) is State.OPEN
    with guard.enter():
        assert state(stock) is State.HALF_OPEN
        assert is_blocked(lambda: guard.call(boom))
    assert state(stock) is State.CLOSED
    assert counts(stock) == {"bad": 4, "good": 1, "blocked": 2}


@pytest.mark.parametrize(("threshold", "errors"), [(0.3, 3), (0.1, 1), (0.7, 7)])
def test_ratios_that_floats_cannot_hold(threshold: float, errors: int, registry: Registry) -> None:
    guard = registry.breaker("stock", **{**R0, "threshold": threshold, "min_request_amount": 10})
    for failures, wanted in ((errors - 1, State.CLOSED), (errors, State.OPEN)):
        guard.resource.reset()
        for call in range(10):
            with contextlib.suppress(Boom):
                guard.call(boom if call < failures else int)
        assert state(guard.resource) is wanted


def test_a_snapshot_has_it_all(guard: Guard, stock: Resource, clock: VirtualClock) -> None:
    guard.call(int)
    with pytest.raises(Boom):
        guard.call(boom)
    (breaker,) = stock.breakers
    snapshot = breaker.snapshot()
    assert (snapshot.state, snapshot.mode, snapshot.good, snapshot.bad, snapshot.run) == (
        State.CLOSED,
        Mode.NORMAL,
        1,
        1,
        0,
    )
    assert snapshot.retry_after is None
    assert (snapshot.totals.passed, snapshot.totals.good, snapshot.totals.bad) == (2, 1, 1)
    assert snapshot == breaker.snapshot()
    assert breaker.last_trip is None
    stock.reset()
    trip(guard)
    clock.advance(0.5)
    snapshot = breaker.snapshot()
    assert (snapshot.state, snapshot.retry_after) == (State.OPEN, 1.5)
    assert breaker.last_trip is not None
    assert (breaker.rule, breaker.resource, breaker.is_removed) == (Rule("stock", **R0), "stock", False)
    for value in (snapshot, snapshot.totals, breaker, stock, breaker.last_trip, clock):
        assert type(value).__name__ in repr(value)


def test_reading_changes_nothing(
    guard: Guard, stock: Resource, registry: Registry, clock: VirtualClock
) -> None:
    trip(guard)
    clock.advance(5)
    told: list[Change] = []
    registry.observe(told.append)
    before = stock.breakers[0].snapshot()
    for _ in range(10_000):
        assert state(stock) is State.OPEN
    assert stock.breakers[0].snapshot() == before
    assert told == []


def test_modes(guard: Guard, stock: Resource) -> None:
    assert stock.set_mode(Mode.FORCED_OPEN) == 1
    assert is_blocked(lambda: guard.call(boom))
    assert stock.set_mode("disabled") == 1
    for _ in range(9):
        with pytest.raises(Boom):
            guard.call(boom)
    assert state(stock) is State.CLOSED
    (breaker,) = stock.breakers
    assert breaker.set_mode(Mode.OBSERVE_ONLY)
    trip(guard)
    with pytest.raises(Boom):
        guard.call(boom)
    assert (breaker.mode, breaker.snapshot().totals.observed) == (Mode.OBSERVE_ONLY, 1)
    assert breaker.reset()
    assert state(stock) is State.CLOSED
    with pytest.raises(ValueError, match=r"mode: 'on' is not allowed; it must be one of \"normal\""):
        stock.set_mode("on")


@pytest.mark.parametrize("limit", [True, 0, -1, 1.5, "5", 10**400])
def test_a_limit_that_is_none_is_refused(limit: Any) -> None:
    with pytest.raises(ValueError, match="max_resources: .* must be a whole number of at least 1"):
        Registry(max_resources=limit)


def test_a_clock_goes_no_further_than_it_can(clock: VirtualClock) -> None:
    for time in (1e18, timedelta.max):
        for move in (clock.set, clock.advance):
            with pytest.raises(ValueError, match="the clock goes to 18446744073 seconds"):
                move(time)
    clock.set(18446744073)
    with pytest.raises(ValueError, match="by: the clock goes to"):
        clock.advance(1)
    assert clock.time == 18446744073


def test_an_observer_may_refer_to_its_registry() -> None:
    class Held:
        pass

    def observed(with_clock: bool) -> list[weakref.ref[Any]]:
        registry = Registry(clock=VirtualClock()) if with_clock else Registry()
        held = Held()
        registry.observe(lambda change: (registry, held))
        registry.observe(lambda change: (registry, held), name="named")
        registry.observe(lambda change: (registry, held), name="named")
        registry.changes = registry.transitions()  # type: ignore[attr-defined]
        registry.resource("stock")
        return [weakref.ref(held), weakref.ref(registry)]

    references = observed(True) + observed(False)
    gc.collect()
    assert [reference() for reference in references] == [None] * 4


def test_a_removed_breaker_says_so(registry: Registry) -> None:
    registry.load_rules(Rule("stock", **R0))
    stock = registry.resource("stock")
    (breaker,) = stock.breakers
    registry.load_rules([])
    assert breaker.is_removed
    assert not breaker.set_mode(Mode.DISABLED)
    assert not breaker.reset()
    assert stock.reset() == 0


def test_a_bounded_registry_forgets_nothing_that_counts(clock: VirtualClock) -> None:
    registry = Registry(clock=clock, max_resources=2)
    registry.load_default_rules(Rule("*", **R0))
    guard = registry.breaker(resource=lambda name: name)
    call = guard(boom)
    for _ in range(3):
        with pytest.raises(Boom):
            call("a")
    for number in range(1000):
        guard.enter(f"name {number}").exit()
    with pytest.raises(Boom):
        call("a")
    assert is_blocked(lambda: call("a"))
    assert len(registry) == 2
    assert registry.unguarded_calls > 0
    assert {resource.name for resource in registry.resources} >= {"a"}


class TestClock:
    def test_it_goes_where_it_is_told(self, clock: VirtualClock, registry: Registry) -> None:
        clock.set(5)
        clock.advance(0.25)
        assert clock.time == registry.now() == 5.25

    @pytest.mark.parametrize("wrong", [-1, True, float("nan"), float("inf"), 10**400, "1", None])
    def test_a_time_that_is_none_is_refused(self, wrong: Any, clock: VirtualClock) -> None:
        with pytest.raises(ValueError, match="by: .* is not allowed; it must be a number of seconds"):
            clock.advance(wrong)
        with pytest.raises(ValueError, match="time: .* is not allowed"):
            clock.set(wrong)
        assert clock.time == 0

    def test_a_step_back_never_leaves_more_than_the_wait(
        self, guard: Guard, stock: Resource, clock: VirtualClock
    ) -> None:
        clock.set(10)
        trip(guard)
        clock.set(3)
        with pytest.raises(CircuitOpenError) as blocked:
            guard.call(boom)
        assert blocked.value.retry_after == 2
        clock.advance(2)
        assert guard.call(lambda: 1) == 1

    @pytest.mark.parametrize("start", [3600, 2**64 / 1e9 - 3601])
    def test_far_times_are_survived(
        self, start: float, guard: Guard, stock: Resource, clock: VirtualClock
    ) -> None:
        clock.set(start)
        trip(guard)
        clock.advance(3600)
        clock.set(0)
        clock.set(start)
        clock.set(18446744073)
        with pytest.raises((Boom, CircuitOpenError)):
            guard.call(boom)

    def test_the_wall_clock_has_no_effect(self, monkeypatch: pytest.MonkeyPatch) -> None:
        registry = Registry()
        guard = registry.breaker("stock", **{**R0, "retry_timeout": 3600})
        before = registry.now()
        for step in (3600, -3600):
            monkeypatch.setattr("time.time", lambda step=step: 1e9 + step)
            trip(guard)
            assert is_blocked(lambda: guard.call(boom))
            guard.resource.reset()
        assert 0 <= registry.now() - before < 600


class TestObservers:
    def test_a_change_tells_all(self, registry: Registry, guard: Guard, clock: VirtualClock) -> None:
        told: list[Change] = []
        observation = registry.observe(told.append)
        clock.set(7)
        trip(guard)
        clock.advance(2)
        assert guard.call(lambda: 1) == 1
        opened, probing, closed = told
        assert [change.sequence for change in told] == [1, 2, 3]
        assert (opened.resource, opened.rule, opened.position) == ("stock", Rule("stock", **R0), 0)
        assert (opened.from_state, opened.to_state, probing.to_state) == (
            State.CLOSED,
            State.OPEN,
            State.HALF_OPEN,
        )
        assert (opened.from_mode, opened.to_mode) == (Mode.NORMAL, Mode.NORMAL)
        assert (opened.snapshot, probing.snapshot) == (1.0, None)
        assert (opened.at, closed.at) == (7, 9)
        assert opened.generation < probing.generation < closed.generation
        trip_ = opened.trip
        assert trip_ is not None
        assert (trip_.cause, trip_.value, trip_.threshold, trip_.good, trip_.bad) == (
            Cause.CONDITION,
            1,
            0.5,
            0,
            4,
        )
        assert (trip_.window, trip_.at, trip_.open_until, trip_.resource) == (1, 7, 9, "stock")
        assert (trip_.rule, trip_.generation) == (opened.rule, opened.generation)
        assert "4 of 4 calls in 1s failed" in str(trip_)
        assert probing.trip is None
        assert observation.close()
        assert not observation.close()
        guard.resource.reset()
        assert len(told) == 3

    def test_a_name_is_one_observer(self, registry: Registry, stock: Resource) -> None:
        one: list[Change] = []
        two: list[Change] = []
        registry.observe(one.append, name="log")
        with registry.observe(two.append, name="log") as observation:
            assert observation.name == "log"
            stock.reset()
        stock.reset()
        assert (len(one), len(two)) == (0, 1)

    @pytest.fixture
    def unraisable(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
        caught: list[Any] = []
        monkeypatch.setattr(sys, "unraisablehook", caught.append)
        yield caught

    @pytest.mark.parametrize("error", [Boom, KeyboardInterrupt, SystemExit, GeneratorExit])
    def test_what_an_observer_raises_never_reaches_the_call(
        self,
        error: type[BaseException],
        registry: Registry,
        guard: Guard,
        unraisable: list[Any],
        clock: VirtualClock,
    ) -> None:
        def fail(change: Change) -> None:
            raise error

        told: list[Change] = []
        registry.observe(fail)
        registry.observe(told.append)
        trip(guard)
        clock.advance(2)
        assert guard.call(lambda: "well") == "well"
        assert [caught.exc_type for caught in unraisable] == [error] * 3
        assert unraisable[0].object is fail
        assert len(told) == 3

    def test_an_observer_may_use_the_library(self, registry: Registry, guard: Guard, stock: Resource) -> None:
        seen: list[Any] = []

        def busy(change: Change) -> None:
            seen.append((change.to_state, state(stock), is_blocked(lambda: guard.call(lambda: None))))
            if len(seen) == 1:
                registry.observe(seen.append, name="another")
                stock.reset()
                registry.load_rules([*registry.rules, Rule("price", **R0)])
                observation.close()

        observation = registry.observe(busy)
        with pytest.raises(Boom):
            trip_without_look(guard)
        assert seen[0] == (State.OPEN, State.OPEN, True)
        assert [change.to_state for change in seen[1:]] == [State.CLOSED]
        assert len(registry.rules) == 2

    def test_an_entry_dropped_while_an_error_is_on_its_way(
        self, registry: Registry, guard: Guard, stock: Resource, clock: VirtualClock
    ) -> None:
        told: list[State] = []

        def note(change: Change) -> None:
            try:
                boom()
            except Boom:
                told.append(change.to_state)

        def fail() -> None:
            entry = guard.enter()
            assert entry.resource == "stock"
            boom()

        trip(guard)
        clock.advance(2)
        registry.observe(note)
        try:
            fail()
        except Boom as error:
            error.__traceback__ = None
        gc.collect()
        assert told == [State.HALF_OPEN, State.OPEN]

    def test_a_hundred_thousand_observers_leave_memory_flat(self, registry: Registry) -> None:
        def register(times: int) -> None:
            for _ in range(times):
                registry.observe(print).close()

        register(1000)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        register(100_000)
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert after - before < 100_000

    def test_an_observer_must_be_called(self, registry: Registry) -> None:
        with pytest.raises(TypeError, match="observer must be a function of a Change, not 5"):
            registry.observe(5)  # type: ignore[arg-type]


def trip_without_look(guard: Guard) -> None:
    for _ in range(4):
        guard.resource.enter().exit(Boom())
    boom()


def test_blocked_calls_leave_no_garbage(guard: Guard) -> None:
    guard.resource.set_mode(Mode.FORCED_OPEN)

    def block(times: int) -> None:
        for _ in range(times):
            assert is_blocked(lambda: guard.call(boom))

    block(100)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    block(20_000)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 50_000


def test_the_module_s_functions_are_the_default_registry_s() -> None:
    functions: list[Callable[..., Any]] = [
        tripcoil.breaker,
        tripcoil.load_rules,
        tripcoil.load_resource_rules,
        tripcoil.load_default_rules,
        tripcoil.observe,
        tripcoil.resource,
        tripcoil.transitions,
    ]
    for function in functions:
        assert getattr(function, "__self__", None) is tripcoil.default_registry
    assert set(tripcoil.__all__) <= set(dir(tripcoil))
    for name in tripcoil.__all__:
        value = getattr(tripcoil, name)
        if isinstance(value, type):
            assert value.__module__ == "tripcoil"
            assert value.__doc__
