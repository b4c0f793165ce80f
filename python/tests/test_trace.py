"""`tripcoil.trace`: calls that handle an error and count as if they had raised it."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any

import pytest
from conftest import Boom, boom, counts, make, state

import tripcoil
from tripcoil import Guard, Registry, Resource, State


class TestTrace:
    def test_a_traced_call_is_bad(self, guard: Guard, stock: Resource) -> None:
        @guard
        async def later() -> str:
            tripcoil.trace(Boom())
            return "well"

        @guard
        def items() -> Iterator[int]:
            tripcoil.trace(Boom())
            yield 1

        assert guard.call(lambda: tripcoil.trace(Boom())) is None
        assert asyncio.run(later()) == "well"
        assert list(items()) == [1]
        with guard:
            tripcoil.trace(Boom())
        assert counts(stock) == {"bad": 4}
        assert state(stock) is State.OPEN

    def test_it_is_judged_as_if_it_had_been_raised(self, registry: Registry) -> None:
        guard, resource = make(registry, ignore=KeyError)
        guard.call(lambda: tripcoil.trace(KeyError()))
        guard.call(lambda: tripcoil.trace(asyncio.CancelledError()))
        guard.call(lambda: tripcoil.trace(Boom()))
        assert counts(resource) == {"ignored": 1, "cancelled": 1, "bad": 1}

    def test_the_innermost_call_is_meant(self, guard: Guard, stock: Resource, registry: Registry) -> None:
        outer, outer_resource = make(registry)

        def traced() -> None:
            tripcoil.trace(Boom())

        def both() -> None:
            tripcoil.trace(Boom())
            guard.call(traced)

        outer.call(lambda: guard.call(traced))
        assert (counts(outer_resource), counts(stock)) == ({"good": 1}, {"bad": 1})
        outer.call(both)
        assert (counts(outer_resource), counts(stock)) == ({"good": 1, "bad": 1}, {"bad": 2})

    def test_outside_of_a_call_it_does_nothing(self, guard: Guard, stock: Resource) -> None:
        for _ in range(100):
            tripcoil.trace(Boom())
        guard.call(lambda: None)
        assert counts(stock) == {"good": 1}

    def test_a_mark_of_no_call_is_not_taken_for_one_of_the_next(self, guard: Guard, stock: Resource) -> None:
        def work() -> None:
            tripcoil.trace(Boom())

        for function in (work, guard(work), guard(work)):
            function()
        assert counts(stock) == {"bad": 2}

    def test_a_call_that_has_ended_takes_no_mark(
        self, guard: Guard, stock: Resource, registry: Registry
    ) -> None:
        outer, outer_resource = make(registry)
        with outer, guard as entry:
            entry.exit()
            tripcoil.trace(Boom())
        with outer:
            entry = guard.enter()
            entry.exit()
            tripcoil.trace(Boom())
            assert not entry.exit(tripcoil.Outcome.GOOD)
            entry.raised(Boom())
        assert (counts(outer_resource), counts(stock)) == ({"bad": 2}, {"good": 2})

    def test_an_outcome_that_is_told_takes_the_mark(
        self, guard: Guard, stock: Resource, registry: Registry
    ) -> None:
        outer, outer_resource = make(registry)
        with outer:
            entry = guard.enter()
            tripcoil.trace(Boom())
            entry.exit(tripcoil.Outcome.IGNORED)
        assert (counts(outer_resource), counts(stock)) == ({"good": 1}, {"ignored": 1})

    def test_a_consumers_marks_are_not_the_generators(
        self, guard: Guard, stock: Resource, registry: Registry
    ) -> None:
        outer, outer_resource = make(registry)

        @guard
        def items() -> Iterator[int]:
            yield 1
            yield 2

        @guard
        async def later() -> AsyncIterator[int]:
            yield 1
            yield 2

        third = registry.breaker("third")

        @guard
        def marking() -> Iterator[int]:
            yield 1
            third.call(int)
            tripcoil.trace(Boom())
            yield 2

        def consume(marking: Iterator[int]) -> None:
            for _ in marking:
                tripcoil.trace(Boom())

        async def consume_later() -> None:
            async for _ in later():
                tripcoil.trace(Boom())

        consume(items())
        outer.call(consume, items())
        asyncio.run(outer(consume_later)())
        assert (counts(stock), counts(outer_resource)) == ({"good": 3}, {"bad": 2})

        suspended = marking()
        outer.call(next, suspended)
        outer.call(next, suspended)
        assert counts(outer_resource) == {"good": 2, "bad": 2}, "the mark is the generator's"
        assert list(suspended) == []
        assert counts(stock) == {"good": 3, "bad": 1}

    def test_a_plain_function_may_mark_before_it_returns_a_coroutine(
        self, guard: Guard, stock: Resource
    ) -> None:
        async def later() -> None:
            pass

        @guard
        def call() -> Coroutine[Any, Any, None]:
            tripcoil.trace(Boom())
            return later()

        async def main() -> None:
            await call()

        asyncio.run(main())
        asyncio.run(guard(main)())
        assert counts(stock) == {"bad": 2, "good": 1}

    def test_many_inner_marks_do_not_push_an_outer_one_out(
        self, guard: Guard, stock: Resource, registry: Registry
    ) -> None:
        outer, outer_resource = make(registry)

        def inner() -> None:
            for _ in range(1000):
                tripcoil.trace(Boom())

        def both() -> None:
            tripcoil.trace(Boom())
            guard.call(inner)

        outer.call(both)
        assert (counts(outer_resource), counts(stock)) == ({"bad": 1}, {"bad": 1})

    def test_what_is_no_exception_is_refused(self) -> None:
        with pytest.raises(TypeError, match="error must be an exception, not 'x'"):
            tripcoil.trace("x")  # type: ignore[arg-type]

    def test_a_failed_call_takes_its_marks_with_it(
        self, registry: Registry, guard: Guard, stock: Resource
    ) -> None:
        def fail() -> None:
            tripcoil.trace(Boom())
            boom()

        def survive() -> None:
            with pytest.raises(Boom):
                guard.call(fail)

        outer, outer_resource = make(registry)
        outer.call(survive)
        assert (counts(outer_resource), counts(stock)) == ({"good": 1}, {"bad": 1})

    def test_tasks_and_threads_do_not_mark_each_other(self, guard: Guard, stock: Resource) -> None:
        @guard
        async def call(traced: bool, begun: asyncio.Event, go_on: asyncio.Event) -> None:
            begun.set()
            await go_on.wait()
            if traced:
                tripcoil.trace(Boom())

        async def main() -> None:
            events = [asyncio.Event() for _ in range(4)]
            one = asyncio.create_task(call(True, events[0], events[1]))
            two = asyncio.create_task(call(False, events[2], events[3]))
            await events[0].wait()
            await events[2].wait()
            events[1].set()
            await one
            events[3].set()
            await two

        asyncio.run(main())

        def wait_for_thread() -> None:
            pool.submit(guard.call, tripcoil.trace, Boom()).result()

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            guard.call(wait_for_thread)
        assert counts(stock) == {"good": 2, "bad": 2}
