"""Entries that are ended by hand, and blocks."""

from __future__ import annotations

import concurrent.futures
import contextlib
import contextvars
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from conftest import R0, Boom, counts, make, state, trip

import tripcoil
from tripcoil import CircuitOpenError, Guard, Outcome, Registry, Resource, State, VirtualClock, _guard


class TestEntry:
    """The two-step way."""

    def test_an_entry_ends_once_and_says_so(self, stock: Resource) -> None:
        entry = stock.enter()
        assert (entry.resource, entry.has_ended) == ("stock", False)
        assert entry.exit()
        assert entry.has_ended
        assert not entry.exit(Boom())
        assert not entry.exit(Outcome.BAD)
        assert counts(stock) == {"good": 1}

    def test_an_end_counts_once_whatever_threads_try(self, stock: Resource) -> None:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for _ in range(100):
                entry = stock.enter()
                assert sum(pool.map(lambda _, entry=entry: entry.exit(), range(8))) == 1
        assert counts(stock) == {"good": 100}

    @pytest.mark.parametrize(
        ("given", "name"),
        [
            (None, "good"),
            (Boom(), "bad"),
            (KeyboardInterrupt(), "cancelled"),
            (Outcome.GOOD, "good"),
            (Outcome.BAD, "bad"),
            (Outcome.IGNORED, "ignored"),
            (Outcome.CANCELLED, "cancelled"),
            ("bad", "bad"),
        ],
    )
    def test_what_it_ends_by(self, given: Any, name: str, stock: Resource) -> None:
        assert stock.enter().exit(given)
        assert counts(stock) == {name: 1}

    def test_bad_arguments_do_not_end_it(self, stock: Resource) -> None:
        entry = stock.enter()
        with pytest.raises(TypeError, match="error must be an exception or an Outcome, not 5"):
            entry.exit(5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="error: 'worse' is not allowed; it must be one of"):
            entry.exit("worse")
        for wrong in (-1, True, float("nan"), 10**400, "1"):
            with pytest.raises(ValueError, match="response_time: .* is not allowed"):
                entry.exit(response_time=wrong)  # type: ignore[arg-type]
        assert not entry.has_ended
        assert entry.exit()

    def test_a_response_time_of_the_callers(self, registry: Registry) -> None:
        registry.load_rules(
            tripcoil.Rule(
                "slow",
                strategy="slow_ratio",
                threshold=1,
                max_allowed_rt=0.05,
                retry_timeout=1,
                min_request_amount=1,
            )
        )
        slow = registry.resource("slow")
        assert slow.enter().exit(response_time=0.05)
        assert slow.enter().exit(response_time=0.0500001)
        assert counts(slow) == {"good": 1, "bad": 1}

    def test_blocks_of_one_guard_nest_and_mix(
        self, guard: Guard, stock: Resource, registry: Registry
    ) -> None:
        other, other_resource = make(registry)
        with guard, other, guard:
            pass
        assert (counts(stock), counts(other_resource)) == ({"good": 2}, {"good": 1})
        guard.__enter__()
        other.__enter__()
        guard.__exit__(None, None, None)
        other.__exit__(Boom, Boom(), None)
        assert (counts(stock), counts(other_resource)) == ({"good": 3}, {"good": 1, "bad": 1})

    def test_a_block_that_ends_elsewhere_is_told(self, guard: Guard) -> None:
        with pytest.raises(RuntimeError, match="another context"):
            guard.__exit__(None, None, None)

    def test_a_blocked_block_is_not_run(self, guard: Guard, stock: Resource) -> None:
        trip(guard)
        with pytest.raises(CircuitOpenError), guard:
            pytest.fail("the block was run")
        assert counts(stock) == {"bad": 4, "blocked": 1}


class TestBlocksByTurns:
    """Generators and coroutines that are in blocks of one guard in one context end their own entries."""

    def block(self, guard: Guard) -> Iterator[None]:
        with guard:
            yield

    def stack(self, guard: Guard) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(guard)
            yield

    async def async_block(self, guard: Guard) -> AsyncIterator[None]:
        async with guard:
            yield

    async def async_stack(self, guard: Guard) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(guard)
            yield

    def items(self, kind: str, guard: Guard) -> Iterator[None]:
        if not kind.startswith("async"):
            yield from getattr(self, kind)(guard)
            return
        items = getattr(self, kind)(guard)
        while True:
            try:
                items.__anext__().send(None)
            except StopIteration:
                yield
            except StopAsyncIteration:
                return

    @pytest.mark.parametrize("kind", ["block", "stack", "async_block", "async_stack"])
    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)])
    def test_each_ends_its_own(
        self, registry: Registry, clock: VirtualClock, kind: str, order: tuple[int, ...]
    ) -> None:
        options = {
            **R0,
            "strategy": "slow_ratio",
            "stat_interval": 100,
            "max_allowed_rt": 1,
            "min_request_amount": 9,
        }
        guard = registry.breaker("slow", **options)
        blocks = [self.items(kind, guard) for _ in range(3)]
        next(blocks[0])
        clock.advance(5)
        for block in blocks[1:]:
            next(block)
        for number in order:
            slow = guard.resource.breakers[0].snapshot().bad
            assert next(blocks[number], "end") == "end"
            now = guard.resource.breakers[0].snapshot().bad
            assert (now == slow + 1) is (number == 0), "only the first was slow"
        with guard:
            assert counts(guard.resource) == {"good": 2, "bad": 1}

    def test_an_old_call_does_not_close_a_probe(
        self, guard: Guard, stock: Resource, clock: VirtualClock
    ) -> None:
        old = self.block(guard)
        next(old)
        trip(guard)
        clock.advance(2)
        probe = self.block(guard)
        next(probe)
        assert list(old) == []
        assert state(stock) is State.HALF_OPEN
        assert list(probe) == []
        assert state(stock) is State.CLOSED

    def test_a_block_may_end_in_another_context(self, guard: Guard, stock: Resource) -> None:
        with guard:
            block = self.block(guard)
            contextvars.copy_context().run(next, block)
            del block
            assert counts(stock) == {"cancelled": 1}
            block = self.block(guard)
            next(block)
            contextvars.copy_context().run(block.close)
        assert counts(stock) == {"good": 1, "cancelled": 2}
        assert guard._blocks == {}

    def test_blocks_opened_by_other_code_are_each_tasks_own(self, guard: Guard, stock: Resource) -> None:
        class Around:
            def __enter__(self) -> None:
                guard.__enter__()

            def __exit__(self, *error: Any) -> None:
                guard.__exit__(*error)

        def block(error: type[Exception] | None) -> Iterator[None]:
            with contextlib.suppress(Boom), Around():
                yield
                if error:
                    raise error

        blocks = [block(None), block(Boom)]
        contexts = [contextvars.copy_context() for _ in blocks]
        for context, begun in zip(contexts, blocks, strict=True):
            context.run(next, begun)
        contexts[0].run(next, blocks[0], None)
        assert counts(stock) == {"good": 1}
        contexts[1].run(next, blocks[1], None)
        assert counts(stock) == {"good": 1, "bad": 1}
        assert all(context[_guard._opened] is None for context in contexts)
