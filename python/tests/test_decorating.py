"""What can be guarded, and that nothing of it is lost."""

from __future__ import annotations

import asyncio
import copy
import functools
import gc
import inspect
import pickle
import pydoc
import types
import typing
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from conftest import Boom, boom, counts, state, totals

import tripcoil
from tripcoil import CircuitOpenError, Guard, Registry, Resource, State

GLOBAL = tripcoil.breaker("decorating")


@GLOBAL
def plain(sku: str, *, limit: int = 3) -> list[str]:
    """Document plain."""
    return [sku] * limit


@GLOBAL
async def later(sku: str, /, first: int = 1, *rest: int, limit: int = 3, **more: int) -> tuple[Any, ...]:
    """Document later."""
    return sku, first, rest, limit, more


@GLOBAL
def items(count: int) -> Iterator[int]:
    """Document items."""
    yield from range(count)


@GLOBAL
async def later_items(count: int) -> AsyncIterator[int]:
    """Document later_items."""
    for item in range(count):
        yield item


class Client:
    """Has methods of every kind."""

    @GLOBAL
    def method(self, sku: str) -> tuple[Client, str]:
        """Document method."""
        return self, sku

    @GLOBAL
    async def later(self, sku: str) -> tuple[Client, str]:
        return self, sku

    @classmethod
    @GLOBAL
    def inner_class(cls) -> type[Client]:
        return cls

    @GLOBAL
    @classmethod
    def outer_class(cls) -> type[Client]:
        return cls

    @staticmethod
    @GLOBAL
    def inner_static(value: int) -> int:
        return value

    @GLOBAL
    @staticmethod
    def outer_static(value: int) -> int:
        return value

    @property
    @GLOBAL
    def inner_property(self) -> Client:
        return self

    @GLOBAL
    @property
    def outer_property(self) -> Client:
        """Document outer_property."""
        return self

    @GLOBAL
    @functools.cached_property
    def cached(self) -> object:
        return object()

    bound_later = GLOBAL(functools.partialmethod(method, "sku"))


KINDS = [plain, later, items, later_items]


async def collected(iterator: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in iterator]


# Ways to make a failing call through a guard, each as a function that makes one call.


def by_function(guard: Guard) -> Callable[[], object]:
    return guard(lambda: boom())


def by_coroutine(guard: Guard) -> Callable[[], object]:
    @guard
    async def call() -> None:
        boom()

    return lambda: asyncio.run(call())


def by_generator(guard: Guard) -> Callable[[], object]:
    @guard
    def call() -> Iterator[int]:
        yield 1
        boom()

    return lambda: list(call())


def by_async_generator(guard: Guard) -> Callable[[], object]:
    @guard
    async def call() -> AsyncIterator[int]:
        yield 1
        boom()

    return lambda: asyncio.run(collected(call()))


def by_method(guard: Guard) -> Callable[[], object]:
    class Target:
        @guard
        def call(self) -> None:
            assert isinstance(self, Target)
            boom()

    return Target().call


def by_class_method(guard: Guard) -> Callable[[], object]:
    class Target:
        @classmethod
        @guard
        def call(cls) -> None:
            assert cls is Target
            boom()

    return Target.call


def by_static_method(guard: Guard) -> Callable[[], object]:
    class Target:
        @staticmethod
        @guard
        def call() -> None:
            boom()

    return Target.call


def by_property(guard: Guard) -> Callable[[], object]:
    class Target:
        @property
        @guard
        def value(self) -> None:
            boom()

    return lambda: Target().value


def by_with(guard: Guard) -> Callable[[], object]:
    def call() -> None:
        with guard:
            boom()

    return call


def by_async_with(guard: Guard) -> Callable[[], object]:
    async def call() -> None:
        async with guard:
            boom()

    return lambda: asyncio.run(call())


def by_entry_block(guard: Guard) -> Callable[[], object]:
    def call() -> None:
        with guard.enter():
            boom()

    return call


def by_call(guard: Guard) -> Callable[[], object]:
    return lambda: guard.call(boom, 1, two=2)


def by_async_call(guard: Guard) -> Callable[[], object]:
    async def fail() -> None:
        boom()

    async def call() -> None:
        await guard.call(fail)

    return lambda: asyncio.run(call())


def by_entry(guard: Guard) -> Callable[[], object]:
    def call() -> None:
        entry = guard.resource.enter()
        try:
            boom()
        except Boom as error:
            entry.exit(error)
            raise

    return call


def by_partial(guard: Guard) -> Callable[[], object]:
    return guard(functools.partial(boom, 1))


def by_callable_object(guard: Guard) -> Callable[[], object]:
    class Target:
        async def __call__(self) -> None:
            boom()

    return lambda: asyncio.run(guard(Target())())


WAYS = [value for name, value in sorted(globals().items()) if name.startswith("by_")]


@pytest.mark.parametrize("way", WAYS)
def test_four_failures_open_it_whatever_is_guarded(
    way: Callable[[Guard], Callable[[], object]], guard: Guard, stock: Resource, clock: tripcoil.VirtualClock
) -> None:
    call = way(guard)
    for _ in range(4):
        assert state(stock) is State.CLOSED
        with pytest.raises(Boom):
            call()
    assert state(stock) is State.OPEN
    with pytest.raises(CircuitOpenError):
        call()
    assert counts(stock) == {"bad": 4, "blocked": 1}
    clock.advance(2)
    with pytest.raises(Boom):
        call()
    assert counts(stock) == {"bad": 5, "blocked": 1}


def test_values_and_arguments_pass() -> None:
    assert plain("a", limit=2) == ["a", "a"]
    assert asyncio.run(later("a", 2, 3, limit=4, more=5)) == ("a", 2, (3,), 4, {"more": 5})
    assert asyncio.run(later("a")) == ("a", 1, (), 3, {})
    assert list(items(3)) == [0, 1, 2]
    assert asyncio.run(collected(later_items(3))) == [0, 1, 2]
    assert GLOBAL.call(plain, "a", limit=1) == ["a"]
    assert asyncio.run(GLOBAL.call(later, "a")) == ("a", 1, (), 3, {})


@pytest.mark.parametrize("wrong", [(), ("a", "b", "c")])
def test_wrong_arguments_are_refused_as_by_the_function(wrong: tuple[str, ...]) -> None:
    with pytest.raises(TypeError, match="plain"):
        plain(*wrong)  # type: ignore[arg-type]


def test_methods_bind() -> None:
    client = Client()
    assert client.method("a") == (client, "a")
    assert Client.method(client, "a") == (client, "a")
    assert asyncio.run(client.later("a")) == (client, "a")
    assert client.inner_class() is client.outer_class() is Client.outer_class() is Client
    assert client.inner_static(1) == client.outer_static(1) == Client.outer_static(1) == 1
    assert client.inner_property is client.outer_property is client
    assert client.cached is client.cached
    assert client.bound_later() == (client, "sku")
    assert inspect.ismethod(client.method)
    assert isinstance(client.method, types.MethodType)
    assert type(Client.__dict__["outer_property"]) is property
    assert Client.__dict__["outer_property"].__doc__ == "Document outer_property."


@pytest.mark.parametrize("function", KINDS)
def test_the_face_of_the_function_stays(function: Any) -> None:
    original = function.__wrapped__
    assert function.__name__ == original.__name__
    assert function.__qualname__ == original.__qualname__
    assert function.__module__ == __name__
    assert function.__doc__ == f"Document {original.__name__}."
    assert inspect.getdoc(function) == original.__doc__
    assert inspect.signature(function) == inspect.signature(original)
    assert typing.get_type_hints(function) == typing.get_type_hints(original)
    assert function.__annotations__ == original.__annotations__
    assert function.__defaults__ == original.__defaults__
    assert function.__kwdefaults__ == original.__kwdefaults__
    assert inspect.unwrap(function) is original
    assert inspect.getsource(function) == inspect.getsource(original)
    for kind in (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction):
        assert kind(function) == kind(original)
    assert inspect.isroutine(function)
    assert callable(function)
    helps = [pydoc.render_doc(each, renderer=pydoc.plaintext).splitlines() for each in (function, original)]
    # The first line says what kind of object it is.
    assert helps[0][1:] == helps[1][1:]


@pytest.mark.parametrize("function", KINDS)
def test_a_guarded_function_is_pickled_by_its_name(function: Any) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(function, protocol)) is function
    assert copy.copy(function) is function
    assert copy.deepcopy(function) is function
    assert pickle.loads(pickle.dumps(Client.method)) is Client.method


def test_coroutines_and_generators_are_real_ones() -> None:
    coroutine = later("a")
    assert inspect.iscoroutine(coroutine)
    coroutine.close()
    assert inspect.isgenerator(items(1))
    assert inspect.isasyncgen(later_items(1))


def test_attributes_can_be_read_and_set() -> None:
    @GLOBAL
    @functools.lru_cache
    def cached(value: int) -> int:
        return value

    cached(1)
    cached(1)
    assert cached.cache_info().hits == 1
    cached.note = "here"  # type: ignore[attr-defined]
    assert cached.note == "here"  # type: ignore[attr-defined]
    assert cached.breaker is GLOBAL  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="nothing"):
        _ = cached.nothing  # type: ignore[attr-defined]
    assert repr(cached.__wrapped__) in repr(cached)
    weakref.ref(cached)


def test_guards_nest(guard: Guard, registry: Registry) -> None:
    outer = registry.breaker("outer")

    @outer
    @guard
    def call() -> int:
        return 5

    assert call() == 5
    assert call.__name__ == "call"
    assert totals(guard.resource).good == 1


def test_a_lambda_that_returns_a_coroutine_is_judged_by_it(guard: Guard, stock: Resource) -> None:
    async def fail() -> None:
        boom()

    with pytest.raises(Boom):
        asyncio.run(guard(lambda: fail())())
    assert counts(stock) == {"bad": 1}


@pytest.mark.parametrize("wrong", [5, None, "name", int, Client])
def test_what_is_no_function_is_refused(wrong: Any, guard: Guard) -> None:
    with pytest.raises(TypeError, match="guarded"):
        guard(wrong)


def test_a_cycle_through_a_guarded_function_is_collected(guard: Guard) -> None:
    def make() -> weakref.ref[Any]:
        @guard
        def call() -> object:
            return call

        call.itself = call  # type: ignore[attr-defined]
        return weakref.ref(call)

    made = make()
    gc.collect()
    assert made() is None


def test_unknown_options_are_refused_with_the_known_ones(registry: Registry) -> None:
    with pytest.raises(TypeError, match=r"unknown option 'treshold'.*fallback.*threshold"):
        registry.breaker("stock", treshold=0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"unknown option 'treshold'.*threshold"):
        tripcoil.Rule("stock", treshold=0.5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="a breaker needs a name"):
        registry.breaker()
    with pytest.raises(TypeError, match="a breaker needs a name"):
        registry.breaker("stock", resource=str)
    with pytest.raises(TypeError, match="record must be"):
        registry.breaker("stock", record="ConnectionError")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is_failure must be"):
        registry.breaker("stock", is_failure=5)  # type: ignore[arg-type]
