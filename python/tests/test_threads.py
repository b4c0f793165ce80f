"""Many threads on one breaker."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import R0, Boom, counts, is_blocked, state, totals, trip

from tripcoil import Change, Guard, Registry, Resource, Rule, State, VirtualClock


@pytest.fixture
def often() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def together(threads: int, work: Callable[[int], object]) -> None:
    barrier = threading.Barrier(threads)

    def run(number: int) -> None:
        barrier.wait()
        work(number)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, range(threads)))


def test_threads_do_not_wait_for_each_other(guard: Guard, stock: Resource) -> None:
    """Eight calls are in flight at once: each waits within the guard for all the others."""
    barrier = threading.Barrier(8)

    @guard
    def call() -> None:
        barrier.wait(30)

    together(8, lambda _: call())
    assert counts(stock) == {"good": 8}


@pytest.mark.usefixtures("often")
def test_totals_add_up_while_rules_are_reloaded(registry: Registry) -> None:
    rule = Rule("stock", **{**R0, "min_request_amount": 1_000_000}, id="it")
    registry.load_rules(rule)
    guard = registry.breaker("stock", ignore=KeyError)
    stop = threading.Event()

    @guard
    def call(number: int) -> None:
        if number % 4 == 1:
            raise Boom
        if number % 4 == 2:
            raise KeyError
        if number % 4 == 3:
            raise KeyboardInterrupt

    def work(_: int) -> None:
        for number in range(2000):
            with contextlib.suppress(Boom, KeyError, KeyboardInterrupt):
                call(number)

    def reload() -> None:
        while not stop.is_set():
            registry.load_rules([rule])
            registry.load_rules([rule, Rule("other", **R0)])

    reloader = threading.Thread(target=reload)
    reloader.start()
    together(8, work)
    stop.set()
    reloader.join()
    each = 8 * 2000 // 4
    assert counts(guard.resource) == {"good": each, "bad": each, "ignored": each, "cancelled": each}


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("probes", [1, 3])
def test_never_more_probes_than_the_rule_says(probes: int, registry: Registry, clock: VirtualClock) -> None:
    guard = registry.breaker("stock", **{**R0, "probe_num": probes})
    for _ in range(50):
        trip(guard)
        clock.advance(2)
        admitted = []
        together(16, lambda _, admitted=admitted: is_blocked(lambda: admitted.append(guard.enter())))
        assert len(admitted) == probes
        assert state(guard.resource) is State.HALF_OPEN
        for entry in admitted:
            entry.exit()
        assert state(guard.resource) is State.CLOSED


@pytest.mark.usefixtures("often")
def test_one_trip_is_one_change(registry: Registry, guard: Guard, stock: Resource) -> None:
    for _ in range(50):
        told: list[Change] = []
        with registry.observe(told.append):
            entries = [stock.enter() for _ in range(16)]
            together(16, lambda number, entries=entries: entries[number].exit(Boom()))
        assert [change.to_state for change in told] == [State.OPEN]
        stock.reset()


def test_entries_of_threads_and_tasks_end_anywhere(guard: Guard, stock: Resource) -> None:
    with ThreadPoolExecutor(4) as pool:
        entries = list(pool.map(lambda _: guard.enter(), range(100)))

    async def main() -> None:
        await asyncio.gather(*(asyncio.to_thread(entry.exit) for entry in entries))

    asyncio.run(main())
    assert totals(stock).good == 100


def test_an_observer_that_waits_delays_its_own_thread_s_call_only(
    registry: Registry, guard: Guard, stock: Resource
) -> None:
    waiting, go_on = threading.Event(), threading.Event()
    told: list[State] = []

    def wait(change: Change) -> None:
        told.append(change.to_state)
        waiting.set()
        go_on.wait(30)

    registry.observe(wait)
    with ThreadPoolExecutor(1) as pool:
        tripping = pool.submit(trip, guard)
        assert waiting.wait(30)
        assert is_blocked(lambda: guard.call(int))
        stock.reset()
        assert guard.call(int) == 0
        assert not tripping.done()
        assert told == [State.OPEN], "the next change waits for its turn"
        go_on.set()
        with contextlib.suppress(AssertionError):
            tripping.result()
    assert told == [State.OPEN, State.CLOSED]
