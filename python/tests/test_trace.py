"""`tripcoil.trace`: calls that handle an error and count as if they had raised it."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Iterator

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
