"""Callables that are no plain functions, and mistakes in what is guarded."""

from __future__ import annotations

import asyncio
import copy
import functools
import pickle
import types
from collections.abc import Iterator

import pytest
from conftest import R0, Boom, boom, counts

from tripcoil import Registry


def test_what_binds_not_as_a_method_still_does_not(registry: Registry) -> None:
    guard = registry.breaker("stock")

    class Plain:
        def __call__(self, *args: object) -> int:
            return len(args)

    class Owner:
        partial = guard(functools.partial(pow, 2))
        builtin = guard(len)
        plain = guard(Plain())
        method = guard(lambda self: self)

    owner = Owner()
    # Since Python 3.14, a partial is a method.
    if not hasattr(functools.partial, "__get__"):
        assert owner.partial(3) == 8
    assert (owner.builtin("ab"), owner.plain(), owner.method()) == (2, 0, owner)


def test_guarded_objects_are_copied_as_functions_are_and_say_that_they_have_no_name(
    registry: Registry,
) -> None:
    guarded = registry.breaker("stock")(functools.partial(pow, 2))
    assert copy.copy(guarded) is copy.deepcopy(guarded) is copy.deepcopy([guarded])[0] is guarded
    with pytest.raises(TypeError, match="cannot be pickled: it has no name"):
        pickle.dumps(guarded)


def test_generator_based_coroutines_are_awaited(registry: Registry) -> None:
    guard = registry.breaker("stock", **R0, on_blocked=7)

    @guard
    @types.coroutine
    def later(fails: bool) -> Iterator[None]:
        yield
        if fails:
            boom()

    async def main() -> object:
        await later(False)
        with pytest.raises(Boom):
            await later(True)
        assert counts(guard.resource) == {"good": 1, "bad": 1}
        guard.resource.set_mode("forced-open")
        return await later(False)

    assert asyncio.run(main()) == 7


def test_a_function_in_the_place_of_the_name_is_told_at_once(registry: Registry) -> None:
    with pytest.raises(TypeError, match=r'a breaker needs a name .*@breaker\("name"\)'):

        @registry.breaker
        def fetch() -> None: ...


@pytest.mark.parametrize("option", ["fallback", "on_blocked"])
def test_a_coroutine_functions_answer_to_a_plain_one_is_told_at_once(registry: Registry, option: str) -> None:
    async def answer() -> int:
        return 1

    guard = registry.breaker("stock", **{option: answer})

    def items() -> Iterator[int]:
        yield 1

    for function in (boom, items, functools.partial(boom)):
        with pytest.raises(TypeError, match=f"{option} is a coroutine function"):
            guard(function)
    assert asyncio.run(guard(answer)()) == 1
