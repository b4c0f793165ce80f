"""What a call's end counts as."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from conftest import R0, Boom, boom, counts, make, raising, state, trip

import tripcoil
from tripcoil import CircuitOpenError, Guard, Registry, Resource, State, VirtualClock

NO_OUTCOME = [asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit]


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


def test_a_panic_of_a_native_module_makes_the_call_bad(guard: Guard, stock: Resource) -> None:
    with pytest.raises(Boom):
        guard.call(boom)
    # Each module that is made with PyO3 has a class of its own, and that of this one unwinds its frames.
    panics = [kind for kind in BaseException.__subclasses__() if kind.__name__ == "PanicException"]
    assert panics
    for panic in panics:
        with pytest.raises(panic):
            guard.call(raising, panic("a test"))
    assert counts(stock)["bad"] == 2


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


@pytest.mark.parametrize("option", ["ignore", "record"])
def test_a_predicate_may_raise_the_error_itself_or_what_it_came_from(option: str, registry: Registry) -> None:
    guard, resource = make(registry, **{option: lambda error: raising(error.__context__ or error)})

    def fail() -> None:
        try:
            boom()
        except Boom:
            raise KeyError from None

    def in_block(fail: Callable[[], object]) -> None:
        with contextlib.ExitStack() as stack:
            stack.enter_context(guard)
            fail()

    for call in (guard.call, in_block):
        for failure in (boom, fail):
            with pytest.raises(Boom) as raised:
                call(failure)
            # Who follows the chain gets to its end.
            chain = [raised.value]
            while len(chain) < 9 and (context := chain[-1].__context__):
                chain.append(context)
            assert len(chain) < 3
    assert counts(resource) == {"bad": 4}


HOSTILE = "a\n\r\x1b[31m\u202e\u2028"


def test_no_name_breaks_the_line_that_tells_of_it(registry: Registry) -> None:
    guard = registry.breaker(HOSTILE, **R0)
    trip(guard)
    with pytest.raises(CircuitOpenError) as raised:
        guard.enter()
    for text in (str(raised.value), raised.value.explanation, str(guard.resource.breakers[0].last_trip)):
        assert text.isprintable() and "\\u{1b}[31m" in text
    assert raised.value.resource == HOSTILE


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

    if sys.version_info >= (3, 11):

        def test_a_group_of_nothing_else(
            self, blocked: Callable[[], Any], guard: Guard, stock: Resource
        ) -> None:
            with pytest.raises(CircuitOpenError) as raised:
                blocked()
            for errors in ([raised.value], [raised.value, Boom()]):
                with pytest.raises(ExceptionGroup):  # noqa: F821
                    guard.call(raising, ExceptionGroup("tasks", errors))  # noqa: F821
            assert counts(stock) == {"ignored": 1, "bad": 1}

        @pytest.mark.parametrize(("depth", "width"), [(20_000, 1), (200, 2)])
        def test_groups_without_end_are_looked_into_for_a_while(
            self, depth: int, width: int, guard: Guard, stock: Resource
        ) -> None:
            error: Exception = CircuitOpenError(tripcoil.Rejection("inner"))
            for _ in range(depth):
                error = ExceptionGroup("tasks", [error] * width)  # noqa: F821
            with pytest.raises(ExceptionGroup):  # noqa: F821
                guard.call(raising, error)
            assert counts(stock) == {"bad": 1}
            # From the outside, as not every Python can let go of so deep a one.
            while isinstance(error, ExceptionGroup):  # noqa: F821
                error = error.exceptions[0]

        def test_a_wide_group_of_nothing_else(self, guard: Guard, stock: Resource) -> None:
            errors = [CircuitOpenError(tripcoil.Rejection("inner")) for _ in range(1000)]
            with pytest.raises(ExceptionGroup):  # noqa: F821
                guard.call(raising, ExceptionGroup("tasks", errors))  # noqa: F821
            assert counts(stock) == {"ignored": 1}

    def test_a_ring_of_causes_ends(self, guard: Guard, stock: Resource) -> None:
        one, two = Boom(), Boom()
        one.__cause__, two.__cause__ = two, one
        with pytest.raises(Boom):
            guard.call(raising, one)
        assert counts(stock) == {"bad": 1}
