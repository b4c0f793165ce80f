"""asyncio, trio and anyio; and changes as an async iterator."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
import trio
from conftest import R0, Boom, boom, counts, state, totals, trip

import tripcoil
from tripcoil import Change, CircuitOpenError, Guard, Registry, Resource, State, VirtualClock

RUNNERS: dict[str, Callable[[Callable[[], Awaitable[Any]]], Any]] = {
    "asyncio": lambda main: anyio.run(main, backend="asyncio"),
    "trio": lambda main: anyio.run(main, backend="trio"),
    "trio alone": trio.run,
}
runs_everywhere = pytest.mark.parametrize("run", RUNNERS.values(), ids=RUNNERS.keys())
Run = Callable[[Callable[[], Awaitable[Any]]], Any]


@runs_everywhere
def test_calls_work_under_every_library(run: Run, guard: Guard, stock: Resource, clock: VirtualClock) -> None:
    @guard
    async def fetch(fails: bool) -> str:
        await anyio.sleep(0)
        if fails:
            boom()
        return "well"

    async def main() -> None:
        for _ in range(4):
            with pytest.raises(Boom):
                await fetch(True)
        with pytest.raises(CircuitOpenError):
            await fetch(False)
        clock.advance(2)
        async with guard:
            assert state(stock) is State.HALF_OPEN
            with pytest.raises(CircuitOpenError):
                await fetch(False)
        assert await fetch(False) == "well"

    run(main)
    assert counts(stock) == {"bad": 4, "good": 2, "blocked": 2}


@runs_everywhere
def test_a_cancelled_call_is_no_outcome(run: Run, guard: Guard, stock: Resource, clock: VirtualClock) -> None:
    @guard
    async def hang() -> None:
        await anyio.sleep_forever()

    async def hang_in_block() -> None:
        async with guard:
            await anyio.sleep_forever()

    async def main() -> None:
        for call in (hang, hang_in_block) * 10:
            async with anyio.create_task_group() as group:
                group.start_soon(call)
                await anyio.wait_all_tasks_blocked()
                group.cancel_scope.cancel()

    trip(guard)
    clock.advance(2)
    run(main)
    assert counts(stock) == {"bad": 4, "cancelled": 20}
    assert guard.call(lambda: 1) == 1
    assert state(stock) is State.CLOSED


def test_two_runs_one_after_the_other(guard: Guard, stock: Resource) -> None:
    @guard
    async def call() -> None:
        await asyncio.sleep(0)

    async def main() -> None:
        await asyncio.gather(*(call() for _ in range(100)))

    asyncio.run(main())
    asyncio.run(main())
    assert counts(stock) == {"good": 200}


def test_two_loops_in_two_threads_count_exactly(guard: Guard, stock: Resource) -> None:
    @guard
    async def call(number: int) -> None:
        await asyncio.sleep(0)
        if number % 10 == 0:
            raise asyncio.CancelledError

    async def main() -> None:
        for _ in range(10):
            await asyncio.gather(*(call(number) for number in range(100)), return_exceptions=True)

    threads = [threading.Thread(target=lambda: asyncio.run(main())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts(stock) == {"good": 1800, "cancelled": 200}
    assert totals(stock).passed == 2000


@runs_everywhere
def test_transitions_are_iterated_over(
    run: Run, registry: Registry, guard: Guard, clock: VirtualClock
) -> None:
    async def main() -> list[State]:
        seen: list[State] = []
        async with registry.transitions() as transitions, anyio.create_task_group() as group:

            async def take() -> None:
                async for change in transitions:
                    seen.append(change.to_state)

            group.start_soon(take)
            await anyio.wait_all_tasks_blocked()
            trip(guard)
            await anyio.wait_all_tasks_blocked()
            assert seen == [State.OPEN]
            await anyio.to_thread.run_sync(clock.advance, 2)
            await anyio.to_thread.run_sync(guard.call, int)
            transitions.close()
        return seen

    assert run(main) == [State.OPEN, State.HALF_OPEN, State.CLOSED]


def test_transitions_from_another_thread_wake_the_task(registry: Registry, guard: Guard) -> None:
    async def main() -> Change:
        async with registry.transitions() as transitions:
            waiting = asyncio.ensure_future(anext(transitions))
            await asyncio.sleep(0)
            thread = threading.Thread(target=trip, args=(guard,))
            thread.start()
            change = await asyncio.wait_for(waiting, 30)
            thread.join()
            return change

    assert asyncio.run(main()).to_state is State.OPEN


def test_calls_at_once_end_each_with_its_own_outcome(guard: Guard, stock: Resource) -> None:
    @guard
    async def fetch(wait: Awaitable[object], *, traces: bool = False) -> None:
        if traces:
            tripcoil.trace(Boom())
        await wait

    async def main() -> None:
        loop = asyncio.get_running_loop()
        waits = [loop.create_future() for _ in range(10)]
        tasks = [asyncio.create_task(fetch(wait, traces=place == 0)) for place, wait in enumerate(waits)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        for place in (0, 2, 3):
            waits[place].set_result(None)
        await asyncio.sleep(0)
        assert counts(stock) == {"good": 2, "bad": 1, "cancelled": 1}
        waits[4].set_exception(Boom())
        await asyncio.sleep(0)
        assert state(stock) is State.OPEN
        stock.reset()
        await fetch(asyncio.sleep(0))
        for wait in waits[5:]:
            wait.set_result(None)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert counts(stock) == {"good": 3, "bad": 2, "cancelled": 1, "late": 5}

    asyncio.run(main())


def test_a_call_that_is_dropped_is_cancelled(guard: Guard, stock: Resource) -> None:
    @guard
    async def fetch() -> None:
        await asyncio.sleep(0)

    for _ in range(2):
        call = fetch()
        call.send(None)
        del call
        gc.collect()
    assert counts(stock) == {"cancelled": 2}


def test_a_guard_whose_calls_have_ended_is_collected(registry: Registry) -> None:
    def make() -> weakref.ref[Guard]:
        guard = registry.breaker("stock", **R0)

        @guard
        async def fetch() -> None: ...

        asyncio.run(fetch())
        return weakref.ref(guard)

    made = make()
    gc.collect()
    assert made() is None


def test_transitions_are_bounded_and_count_what_they_drop(registry: Registry, stock: Resource) -> None:
    async def main() -> list[int]:
        with registry.transitions(maxsize=3) as transitions:
            for _ in range(10):
                stock.reset()
            transitions.close()
            assert transitions.dropped == 7
            return [change.sequence async for change in transitions]

    assert asyncio.run(main()) == [8, 9, 10]


def test_transitions_end_when_nobody_refers_to_them(registry: Registry, stock: Resource) -> None:
    transitions = registry.transitions()
    queue = transitions._queue
    del transitions
    gc.collect()
    stock.reset()
    assert len(queue._changes) == 0


def test_a_second_task_is_refused(registry: Registry) -> None:
    async def main() -> None:
        with registry.transitions() as transitions:
            waiting = asyncio.ensure_future(anext(transitions))
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match="another task is waiting"):
                await anext(transitions)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(main())


def test_a_loop_that_has_ended_is_no_harm(registry: Registry, stock: Resource) -> None:
    transitions = registry.transitions()

    async def main() -> None:
        waiting = anext(transitions).__await__()
        next(waiting)
        kept.append(waiting)

    kept: list[Any] = []
    asyncio.run(main())
    stock.reset()
    kept.pop().close()
    transitions.close()


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "1", None])
def test_maxsize_must_be_a_whole_number(wrong: Any, registry: Registry) -> None:
    with pytest.raises(ValueError, match="maxsize: .* is not allowed"):
        registry.transitions(maxsize=wrong)
