"""Whatever of a user's code raises, wherever the library calls it: nothing is lost, stuck or torn.

A scenario passes every place where foreign code is called, and is played once for each of these calls, with
that one raising. In half of it the calls are probes whose lease never ends: a place that got lost would leave
its breaker half-open for ever.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import tripcoil
from tripcoil import Change, CircuitOpenError, Outcome, Registry, Rule, State, VirtualClock

RULE: dict[str, Any] = {
    "strategy": "error_count",
    "threshold": 3,
    "min_request_amount": 1,
    "retry_timeout": 1,
    "probe_timeout": 0,
}


class Boom(Exception):
    """A failure of the dependency."""


class World:
    def __init__(self, blows_at: int, error: type[BaseException]) -> None:
        self.burned = 0
        self.blows_at = blows_at
        self.error = error
        self.clock = VirtualClock()
        self.registry = Registry(clock=self.clock)
        self.begun = 0
        self.guard = self.registry.breaker("stock", **RULE)

    def burn(self, value: Any = None) -> Any:
        """Be foreign code."""
        self.burned += 1
        if self.burned == self.blows_at:
            raise self.error
        return value

    def begin(self, *_args: object) -> Any:
        self.begun += 1
        return self.burn()

    def fail(self) -> None:
        self.begin()
        raise Boom

    def guarded(self, function: Callable[[], Any], **options: Any) -> Any:
        return self.registry.breaker("stock", **options)(function)()

    def observer(self, _change: Change) -> None:
        self.burn()

    @contextlib.contextmanager
    def safely(self) -> Iterator[None]:
        burned, self.blows_at, blows_at = self.burned, 0, self.blows_at
        yield
        self.burned, self.blows_at = burned, blows_at


def drive(coroutine: Any) -> None:
    """Run a coroutine that waits once."""
    with contextlib.closing(coroutine), contextlib.suppress(StopIteration):
        coroutine.send(None)
        coroutine.send(None)


class Pause:
    def __await__(self) -> Iterator[None]:
        yield


class Truth:
    """What is asked by its truth."""

    def __init__(self, world: World) -> None:
        self.world = world

    def __bool__(self) -> bool:
        return bool(self.world.burn(True))


def abstract(world: World) -> type[Exception]:
    class Meta(type(Exception)):  # type: ignore[misc]
        def __instancecheck__(cls, _error: object) -> bool:
            return bool(world.burn(True))

    return Meta("Abstract", (Exception,), {})


def a_function(w: World) -> None:
    w.guarded(w.begin)


def a_call(w: World) -> None:
    w.guard.call(w.begin, 1)


def a_block(w: World) -> None:
    with w.guard:
        w.begin()


def an_entry(w: World) -> None:
    with w.guard.enter() as entry:
        w.begin()
        entry.exit(w.burn(Outcome.IGNORED))


def what_was_returned(w: World) -> None:
    guard = w.registry.breaker("stock", is_failure=w.burn)
    entry = guard.enter()
    w.begun += 1
    entry.returned(1)


def what_was_raised(w: World) -> None:
    entry = w.registry.breaker("stock", record=w.burn, ignore=w.burn).enter()
    w.begun += 1
    entry.raised(Boom())


def classified(w: World) -> None:
    w.guarded(w.begin, is_failure=w.burn)


def asked_for_its_truth(w: World) -> None:
    w.guarded(w.begin, is_failure=lambda _: Truth(w))


def recorded(w: World) -> None:
    w.guarded(w.fail, record=w.burn)


def ignored(w: World) -> None:
    w.guarded(w.fail, ignore=[abstract(w), w.burn])


def fallen_back(w: World) -> None:
    w.guarded(w.fail, fallback=w.burn)


def blocked(w: World) -> None:
    w.guard.resource.set_mode("forced-open")
    w.guarded(w.begin, on_blocked=w.burn)
    w.guarded(w.begin, fallback=w.burn)


def named_by_the_call(w: World) -> None:
    w.registry.breaker(resource=lambda: w.burn("stock"))(w.begin)()


def traced(w: World) -> None:
    def work() -> None:
        w.begin()
        tripcoil.trace(Boom())
        w.burn()

    w.guarded(work, ignore=w.burn)


def iterated(w: World) -> None:
    def items() -> Iterator[int]:
        w.begin()
        try:
            yield 1
            w.burn()
            yield 2
        finally:
            w.burn()

    assert list(w.guarded(items, is_failure=w.burn)) == [1, 2]
    with contextlib.closing(w.guarded(items)) as left:
        next(left)


def awaited(w: World) -> None:
    async def work() -> None:
        w.begin()
        try:
            await Pause()
            w.burn()
        finally:
            w.burn()

    drive(w.guarded(work, is_failure=w.burn))
    drive(w.guarded(lambda: work(), fallback=w.burn))
    with contextlib.closing(w.guarded(work)) as left:
        left.send(None)


def iterated_later(w: World) -> None:
    async def items() -> AsyncIterator[int]:
        w.begin()
        try:
            yield 1
            await Pause()
            w.burn()
        finally:
            w.burn()

    async def read() -> None:
        async for _ in w.guarded(items):
            w.burn()

    drive(read())
    left = w.guarded(items)
    with contextlib.suppress(StopIteration):
        left.__anext__().send(None)
    with contextlib.suppress(StopIteration):
        left.aclose().send(None)


def observed(w: World) -> None:
    with w.registry.observe(w.observer), w.registry.observe(w.observer):
        w.guard.resource.reset()
        w.guard.call(w.begin)


def loaded(w: World) -> None:
    rules = [Rule("other", **RULE)]
    w.registry.load_rules(w.burn(rule) for rule in rules)
    w.registry.load_rules([{"resource": "other", "count": 1, "timeWindow": 1}, w.burn({})][:1])


STEPS = [
    a_function,
    a_call,
    a_block,
    an_entry,
    what_was_returned,
    what_was_raised,
    classified,
    asked_for_its_truth,
    recorded,
    ignored,
    fallen_back,
    blocked,
    named_by_the_call,
    traced,
    iterated,
    awaited,
    iterated_later,
    observed,
    loaded,
]


def trip(w: World) -> None:
    for _ in range(3):
        entry = w.guard.enter()
        w.begun += 1
        entry.exit(Boom())
    w.clock.advance(1)


def play(w: World) -> None:
    (breaker,) = w.guard.resource.breakers
    for step in STEPS:
        for probing in (False, True):
            with w.safely():
                w.guard.resource.set_mode("normal")
                if probing:
                    trip(w)
            with contextlib.suppress(w.error, Boom, CircuitOpenError):
                step(w)
            with w.safely():
                assert breaker.state is not State.HALF_OPEN, (step, probing, w.blows_at)
                totals = breaker.snapshot().totals
                assert totals.passed == w.begun, (step, probing, w.blows_at, totals)
    w.blows_at = 0
    totals = breaker.snapshot().totals
    assert totals.passed == totals.good + totals.bad + totals.ignored + totals.cancelled + totals.late
    w.guard.resource.set_mode("normal")
    trip(w)
    w.guard.call(int)
    assert breaker.state is State.CLOSED


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_in_any_call_of_foreign_code_loses_nothing(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What observers raise goes there.
    monkeypatch.setattr(sys, "unraisablehook", lambda _unraisable: None)
    whole = World(0, error)
    play(whole)
    assert whole.burned > 90
    for blows_at in range(1, whole.burned + 1):
        play(World(blows_at, error))
