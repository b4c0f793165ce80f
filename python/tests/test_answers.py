"""`on_blocked` and `fallback`: what the caller gets instead of an error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from conftest import Boom, boom, counts, make, raising

import tripcoil
from tripcoil import CircuitOpenError, Guard, Registry


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

    def test_what_it_raises_has_the_error_as_context(self, registry: Registry) -> None:
        guard, _ = make(registry, fallback=lambda error: raising(KeyError()))
        with pytest.raises(KeyError) as raised:
            guard.call(boom)
        assert isinstance(raised.value.__context__, Boom)
        again, _ = make(registry, fallback=raising)
        with pytest.raises(Boom) as raised_again:
            again.call(boom)
        assert raised_again.value.__context__ is None

    @pytest.mark.parametrize("option", ["on_blocked", "fallback"])
    def test_what_answers_for_a_generator_is_closed_with_it(self, option: str, registry: Registry) -> None:
        closed: list[str] = []

        async def instead() -> AsyncIterator[int]:
            try:
                yield 1
            finally:
                await asyncio.sleep(0)
                closed.append(option)

        guard, resource = make(registry, **{option: instead})
        if option == "on_blocked":
            resource.set_mode(tripcoil.Mode.FORCED_OPEN)

        @guard
        async def items() -> AsyncIterator[int]:
            yield boom()

        async def main() -> None:
            opened: Any = items()
            assert await anext(opened) == 1
            await opened.aclose()
            assert closed == [option]

        asyncio.run(main())

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

    def test_the_error_may_be_taken_by_keyword(self, registry: Registry) -> None:
        async def answer(*, error: BaseException) -> str:
            return type(error).__name__

        async def fail() -> None:
            boom()

        guard, _ = make(registry, fallback=lambda *, error: type(error).__name__)
        assert guard.call(boom) == "Boom"
        guard, _ = make(registry, fallback=answer)
        assert asyncio.run(guard(fail)()) == "Boom"

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
