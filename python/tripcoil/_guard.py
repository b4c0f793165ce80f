"""Guards: decorators and context managers that make calls pass a resource's breakers."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from . import _native, _shells

if TYPE_CHECKING:
    from ._native import Entry, Resource
    from ._registry import Registry

Guardable = (
    Callable[..., Any]
    | property
    | functools.cached_property[Any]
    | functools.partialmethod[Any]
    | staticmethod  # type: ignore[type-arg]
    | classmethod  # type: ignore[type-arg]
)
F = TypeVar("F", bound=Guardable)

# The blocks that are open in this thread or task, as a chain: guard, entry, the blocks around it.
_Blocks = tuple["Guard", "Entry", Any]
_blocks: ContextVar[_Blocks | None] = ContextVar("tripcoil_blocks", default=None)


class Guard(_native.Guard):
    """Guards calls of a resource. Made by `tripcoil.breaker`.

    - As a decorator, of functions, coroutine functions, generators, async generators, methods of any kind,
      properties and other callables. The result is called, inspected and pickled as the original.
    - As a context manager, `with` and `async with`. A guard may be used by many threads and tasks at once.
    - With `call`, and with `enter`, whose entry is ended by hand.

    A blocked call raises `CircuitOpenError`.
    """

    registry: Registry
    name: str | None

    @property
    def resource(self) -> Resource:
        """The resource. Where each call has its own, there is none: ValueError."""
        if self.name is None:
            raise ValueError("each call of this guard has a resource of its own; ask the registry for one")
        return self.registry.resource(self.name)

    def __call__(self, function: F, /) -> F:
        """Guard a function."""
        return cast("F", self._guarded(function))

    def _guarded(self, function: Any) -> Any:
        if isinstance(function, staticmethod | classmethod):
            return type(function)(self(function.__func__))
        if isinstance(function, property):
            get, set_, delete = function.fget, function.fset, function.fdel
            get, set_, delete = get and self(get), set_ and self(set_), delete and self(delete)
            return type(function)(get, set_, delete, function.__doc__)
        if isinstance(function, functools.cached_property):
            return type(function)(self(function.func))
        if isinstance(function, functools.partialmethod):
            return type(function)(self(function.func), *function.args, **function.keywords)
        if isinstance(function, type) or not callable(function):
            raise TypeError(f"only functions and other callables can be guarded, not {function!r:.60}")
        return self._guarded_callable(function)

    def _guarded_callable(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if _shells.is_kind(inspect.iscoroutinefunction, function):
            shell = _shells.coroutine(self, function, per_call=self.name is None)
        elif _shells.is_kind(inspect.isasyncgenfunction, function):
            shell = _shells.async_generator(self, function)
        elif _shells.is_kind(inspect.isgeneratorfunction, function):
            shell = _shells.generator(self, function)
        else:
            return _with_face(_native.Function(self, function), function)
        shell.breaker = self  # type: ignore[attr-defined]
        return shell

    def __enter__(self) -> Entry:
        entry = self._begin()
        _blocks.set((self, entry, _blocks.get()))
        return entry

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        block = _blocks.get()
        if block is not None and block[0] is self:
            entry = block[1]
            _blocks.set(block[2])
        else:
            entry = self._leave()
        entry.__exit__(kind, error, traceback)

    async def __aenter__(self) -> Entry:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, traceback)

    def _leave(self) -> Entry:
        """The entry of this guard's innermost open block, which has others within it, and is open no more."""
        inner: list[_Blocks] = []
        block = _blocks.get()
        while block is not None and block[0] is not self:
            inner.append(block)
            block = block[2]
        if block is None:
            raise RuntimeError(
                "the block ends in another context than it began in; use `with guard.enter():`"
            )
        chain = block[2]
        for guard, entry, _ in reversed(inner):
            chain = (guard, entry, chain)
        _blocks.set(chain)
        return block[1]

    def __repr__(self) -> str:
        return f"<Guard of {'a resource per call' if self.name is None else repr(self.name)}>"


def _with_face(guarded: _native.Function, function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a guarded function the name, documentation and attributes of the function.

    As `functools.update_wrapper`; but `__wrapped__` is the native object's own, where the garbage collector
    sees it.
    """
    for name in functools.WRAPPER_ASSIGNMENTS:
        with contextlib.suppress(AttributeError):
            setattr(guarded, name, getattr(function, name))
    attributes = dict(getattr(function, "__dict__", {}))
    attributes.pop("__wrapped__", None)
    guarded.__dict__.update(attributes)
    return guarded
