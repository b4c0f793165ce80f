"""What a call's end counts as."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from conftest import R0, Boom, boom, counts, state, trip

import tripcoil
from tripcoil import CircuitOpenError, Guard, Outcome, Registry, Resource, State, VirtualClock

NO_OUTCOME = [asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit]


def raising(error: BaseException) -> Any:
    raise error


def make(registry: Registry, **options: Any) -> tuple[Guard, Resource]:
    guard = registry.breaker("made", **R0, **options)
    return guard, guard.resource


def call_plain(guard: Guard, error: BaseException) -> None:
    guard(raising)(error)


def call_later(guard: Guard, error: BaseException) -> None:
    @guard
    async def later() -> None:
        raise error

    with contextlib.closing(later()) as coroutine:
        coroutine.send(None)


def call_block(guard: Guard, error: BaseException) -> None:
    with guard:
        raise error


def call_generator(guard: Guard, error: BaseException) -> None:
    @guard
    def items() -> Iterator[int]:
        yield 1
        raise error

    list(items())


WAYS = [call_plain, call_later, call_block, call_generator]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", NO_OUTCOME)
def test_interruptions_are_no_outcome_and_raised_again(
    way: Callable[[Guard, BaseException], None], kind: type[BaseException], guard: Guard, stock: Resource
) -> None:
    error = kind()
    with pytest.raises(kind) as raised:
        way(guard, error)
    assert raised.value is error
    assert counts(stock) == {"cancelled": 1}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", NO_OUTCOME)
def test_a_thousand_interrupted_probes_give_their_place_back(
    way: Callable[[Guard, BaseException], None],
    kind: type[BaseException],
    guard: Guard,
    stock: Resource,
    clock: VirtualClock,
) -> None:
    trip(guard)
    clock.advance(2)
    for _ in range(1000):
        with pytest.raises(kind):
            way(guard, kind())
    assert guard.call(lambda: "well") == "well"
    assert state(stock) is State.CLOSED


def test_dropped_and_closed_calls_are_cancelled(guard: Guard, stock: Resource, clock: VirtualClock) -> None:
    @guard
    def items() -> Iterator[int]:
        yield from range(5)

    @guard
    async def later_items() -> AsyncIterator[int]:
        for item in range(5):
            yield item

    @guard
    async def later() -> None:
        await asyncio.Event().wait()

    async def close_early() -> None:
        iterator = later_items()
        assert await anext(iterator) == 0
        await iterator.aclose()  # type: ignore[attr-defined]

    async def cancel() -> None:
        task = asyncio.create_task(later())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    trip(guard)
    clock.advance(2)
    for number in range(1, 20, 4):
        iterator = items()
        assert next(iterator) == 0
        iterator.close()  # type: ignore[attr-defined]
        asyncio.run(close_early())
        asyncio.run(cancel())
        guard.enter()
        assert counts(stock) == {"bad": 4, "cancelled": number + 3}
    unfinished = later()
    unfinished.close()
    assert counts(stock)["cancelled"] == 20, "a coroutine that was never awaited has not asked for admission"
    assert guard.call(lambda: 1) == 1
    assert state(stock) is State.CLOSED


def test_an_async_generator_gets_what_is_sent_and_thrown(guard: Guard, stock: Resource) -> None:
    @guard
    async def echo() -> AsyncIterator[Any]:
        got: Any = None
        while got != "end":
            try:
                got = yield got
            except Boom:
                got = "thrown"

    async def main() -> list[Any]:
        iterator: Any = echo()
        steps = [await anext(iterator), await iterator.asend("sent"), await iterator.athrow(Boom())]
        with pytest.raises(StopAsyncIteration):
            await iterator.asend("end")
        return steps

    assert asyncio.run(main()) == [None, "sent", "thrown"]
    assert counts(stock) == {"good": 1}


def test_a_timeout_counts_as_its_error(guard: Guard, stock: Resource) -> None:
    @guard
    async def inner() -> None:
        await asyncio.Event().wait()

    @guard
    async def outer() -> None:
        await asyncio.wait_for(asyncio.Event().wait(), 0)

    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(inner(), 0.001)
        with pytest.raises(asyncio.TimeoutError):
            await outer()

    asyncio.run(main())
    # The time-out around the call cancels it; the one within it is an error.
    assert counts(stock) == {"cancelled": 1, "bad": 1}


def test_ignored_errors_are_no_outcome(registry: Registry) -> None:
    guard, resource = make(registry, ignore=(KeyError, lambda error: "busy" in str(error)))
    for error in (KeyError("a"), OSError("busy"), OSError("down")):
        with pytest.raises(type(error)):
            guard.call(raising, error)
    assert counts(resource) == {"ignored": 2, "bad": 1}


def test_recorded_errors_are_the_only_bad_ones(registry: Registry) -> None:
    guard, resource = make(registry, record=[ConnectionError, lambda error: error.args == (5,)])
    for error in (ConnectionResetError(), ValueError(5), ValueError(4)):
        with pytest.raises(type(error)):
            guard.call(raising, error)
    assert counts(resource) == {"bad": 2, "good": 1}


def test_ignore_goes_before_record(registry: Registry) -> None:
    guard, resource = make(registry, ignore=ConnectionResetError, record=ConnectionError)
    for error in (ConnectionResetError(), ConnectionError()):
        with pytest.raises(type(error)):
            guard.call(raising, error)
    assert counts(resource) == {"bad": 1, "ignored": 1}


def test_a_result_can_be_a_failure(registry: Registry) -> None:
    guard, resource = make(registry, is_failure=lambda status: status >= 500)

    @guard
    async def later(status: int) -> int:
        return status

    assert guard.call(lambda: 200) == 200
    assert guard.call(lambda: 503) == 503
    assert asyncio.run(later(503)) == 503
    assert counts(resource) == {"good": 1, "bad": 2}


@pytest.mark.parametrize(
    ("options", "call", "after"),
    [
        ({"ignore": Boom}, boom, State.OPEN),
        ({"record": ConnectionError}, boom, State.CLOSED),
        ({"record": Boom}, boom, State.OPEN),
        ({"is_failure": bool}, lambda: True, State.OPEN),
        ({"is_failure": bool}, lambda: False, State.CLOSED),
    ],
)
def test_they_say_what_a_probe_decides(
    options: dict[str, Any], call: Callable[[], object], after: State, registry: Registry, clock: VirtualClock
) -> None:
    trip(registry.breaker("made", **R0))
    guard = registry.breaker("made", **options)
    clock.advance(2)
    with contextlib.suppress(Boom):
        guard.call(call)
    assert state(guard.resource) is after
    if options == {"ignore": Boom}:
        assert guard.call(lambda: "the place is free") == "the place is free"


@pytest.mark.parametrize("option", ["ignore", "record", "is_failure"])
def test_a_predicate_that_raises_makes_the_call_bad(option: str, registry: Registry) -> None:
    def fail(_: object) -> bool:
        raise ZeroDivisionError

    guard, resource = make(registry, **{option: fail})

    @guard
    async def later() -> None:
        if option != "is_failure":
            boom()

    for call in (lambda: guard.call(later.__wrapped__), later):  # type: ignore[attr-defined]
        with pytest.raises(ZeroDivisionError) as raised:
            asyncio.run(call())
        if option != "is_failure":
            assert isinstance(raised.value.__context__, Boom)
    assert counts(resource) == {"bad": 2}


class TestInnerRejections:
    """D8: an outer call that fails because an inner one was blocked has no outcome."""

    @pytest.fixture
    def blocked(self, registry: Registry) -> Callable[[], Any]:
        inner = registry.breaker("inner", **R0)
        inner.resource.set_mode(tripcoil.Mode.FORCED_OPEN)
        return inner(lambda: None)

    def test_no_outcome(self, blocked: Callable[[], Any], guard: Guard, stock: Resource) -> None:
        with pytest.raises(CircuitOpenError) as raised:
            guard.call(blocked)
        assert raised.value.resource == "inner"
        assert counts(stock) == {"ignored": 1}

    def test_also_where_another_error_was_raised_from_it(
        self, blocked: Callable[[], Any], guard: Guard, stock: Resource
    ) -> None:
        def wrap() -> None:
            try:
                blocked()
            except CircuitOpenError as error:
                raise RuntimeError from error

        with pytest.raises(RuntimeError) as raised:
            guard.call(wrap)
        assert isinstance(raised.value.__cause__, CircuitOpenError)
        assert counts(stock) == {"ignored": 1}

    def test_but_not_where_a_failure_came_while_it_was_handled(
        self, blocked: Callable[[], Any], guard: Guard, stock: Resource
    ) -> None:
        def replace() -> None:
            try:
                blocked()
            except CircuitOpenError:
                boom()

        with pytest.raises(Boom):
            guard.call(replace)
        assert counts(stock) == {"bad": 1}

    def test_unless_it_is_recorded(self, blocked: Callable[[], Any], registry: Registry) -> None:
        guard, resource = make(registry, record=CircuitOpenError)
        with pytest.raises(CircuitOpenError):
            guard.call(blocked)
        assert counts(resource) == {"bad": 1}

    @pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no exception groups before 3.11")
    def test_a_group_of_nothing_else(self, blocked: Callable[[], Any], guard: Guard, stock: Resource) -> None:
        with pytest.raises(CircuitOpenError) as raised:
            blocked()
        for errors in ([raised.value], [raised.value, Boom()]):
            with pytest.raises(ExceptionGroup):  # noqa: F821
                guard.call(raising, ExceptionGroup("tasks", errors))  # noqa: F821
        assert counts(stock) == {"ignored": 1, "bad": 1}

    def test_a_ring_of_causes_ends(self, guard: Guard, stock: Resource) -> None:
        one, two = Boom(), Boom()
        one.__cause__, two.__cause__ = two, one
        with pytest.raises(Boom):
            guard.call(raising, one)
        assert counts(stock) == {"bad": 1}


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


class TestAnswers:
    """`on_blocked` and `fallback`."""

    @pytest.mark.parametrize(
        ("given", "answer"),
        [
            (None, None),
            ("value", "value"),
            (lambda: "called", "called"),
            (lambda error: type(error), CircuitOpenError),
            (lambda error=None: type(error), CircuitOpenError),
            (lambda *errors: len(errors), 1),
            (list, []),
        ],
    )
    def test_a_value_or_a_function_of_the_error(self, given: Any, answer: Any, registry: Registry) -> None:
        for option in ("on_blocked", "fallback"):
            guard, resource = make(registry, **{option: given})
            resource.set_mode(tripcoil.Mode.FORCED_OPEN)
            assert guard(boom)() == answer
            assert guard.call(boom) == answer

    def test_on_blocked_is_for_rejections_only(self, registry: Registry) -> None:
        guard, resource = make(registry, on_blocked="blocked")
        with pytest.raises(Boom):
            guard.call(boom)
        resource.set_mode(tripcoil.Mode.FORCED_OPEN)
        assert guard.call(boom) == "blocked"

    def test_a_fallback_is_for_failures_too(self, registry: Registry) -> None:
        guard, resource = make(
            registry, fallback=lambda error: type(error), on_blocked="blocked", ignore=KeyError
        )
        assert guard.call(boom) is Boom
        assert counts(resource) == {"bad": 1}
        with pytest.raises(KeyError):
            guard.call(raising, KeyError())
        with pytest.raises(KeyboardInterrupt):
            guard.call(raising, KeyboardInterrupt())
        resource.set_mode(tripcoil.Mode.FORCED_OPEN)
        assert guard.call(boom) == "blocked"

    def test_a_fallback_answers_for_a_blocked_inner_call(self, registry: Registry, guard: Guard) -> None:
        guard.resource.set_mode(tripcoil.Mode.FORCED_OPEN)
        outer, resource = make(registry, fallback="cached")
        assert outer.call(guard(boom)) == "cached"
        assert counts(resource) == {"ignored": 1}

    def test_coroutine_functions_are_awaited(self, registry: Registry) -> None:
        async def answer(error: BaseException) -> str:
            await asyncio.sleep(0)
            return type(error).__name__

        async def constant() -> str:
            return "constant"

        async def fail() -> str:
            boom()
            return "never"

        for given, texts in ((answer, ("Boom", "CircuitOpenError")), (constant, ("constant", "constant"))):
            guard, resource = make(registry, fallback=given)
            for call in (guard(fail), lambda guard=guard: guard.call(fail)):
                resource.set_mode(tripcoil.Mode.NORMAL)
                assert asyncio.run(call()) == texts[0]
                resource.set_mode(tripcoil.Mode.FORCED_OPEN)
                assert asyncio.run(call()) == texts[1]

    def test_a_coroutine_function_may_have_a_plain_answer(self, registry: Registry) -> None:
        guard, resource = make(registry, on_blocked=7)
        resource.set_mode(tripcoil.Mode.FORCED_OPEN)

        async def later() -> int:
            return 1

        assert asyncio.run(guard(later)()) == 7
        assert asyncio.run(guard.call(later)) == 7

    def test_generators_go_on_with_the_answer(self, registry: Registry) -> None:
        guard, resource = make(registry, fallback=lambda error: ["rest"])

        @guard
        def items() -> Iterator[str]:
            yield "first"
            boom()

        @guard
        async def later_items() -> AsyncIterator[str]:
            yield "first"
            boom()

        async def collected() -> list[str]:
            return [item async for item in later_items()]

        assert list(items()) == asyncio.run(collected()) == ["first", "rest"]
        resource.set_mode(tripcoil.Mode.FORCED_OPEN)
        assert list(items()) == asyncio.run(collected()) == ["rest"]

    def test_an_answer_that_raises_shows_both_errors(self, registry: Registry) -> None:
        guard, _ = make(registry, fallback=lambda error: raising(KeyError("fallback")))
        with pytest.raises(KeyError):
            guard.call(boom)


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
