"""Guards: decorators and context managers that make calls pass a resource's breakers."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import FrameType, TracebackType
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

_frame = sys._getframe

# Blocks that code has opened by calling `__enter__` itself, in this thread or task: guard, entry, the object
# that did it (an `ExitStack`, for example), and those around it.
_Block = tuple["Entry", Any]
_Opened = tuple["Guard", "Entry", "int | None", Any]
_opened: ContextVar[_Opened | None] = ContextVar("tripcoil_opened", default=None)


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
    # The blocks of `with` statements by their frames, which are there while the blocks are open: the entry of
    # a frame's innermost block, and those around it. So generators may be in blocks of one guard by turns,
    # and may end them in another context.
    _blocks: dict[int, _Block]

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
        if _shells.is_coroutine_function(function):
            shell = _shells.coroutine(self, function, per_call=self.name is None)
        elif _shells.is_kind(inspect.isasyncgenfunction, function):
            shell = _shells.async_generator(self, function)
        elif _shells.is_kind(inspect.isgeneratorfunction, function):
            self._refuse_coroutines(function)
            shell = _shells.generator(self, function)
        else:
            self._refuse_coroutines(function)
            return _with_face(_native.Function(self, function), function)
        shell.breaker = self  # type: ignore[attr-defined]
        return shell

    def _refuse_coroutines(self, function: Callable[..., Any]) -> None:
        for option, answer in (("fallback", self.fallback), ("on_blocked", self.on_blocked)):
            if answer is not None and _shells.is_coroutine_function(answer):
                raise TypeError(
                    f"{option} is a coroutine function, whose answer nobody would await:"
                    f" {function!r:.60} is none"
                )

    # What `__enter__` and `__exit__` do is spelt out in them, and once more for `async with`: a call costs.

    def __enter__(self) -> Entry:
        frame = _frame(1)
        if "__enter__" in frame.f_code.co_names:
            return self._open(frame)
        entry = self._begin()
        blocks, key = self._blocks, id(frame)
        blocks[key] = entry, blocks.get(key)
        return entry

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        frame = _frame(1)
        entry, around = self._blocks.pop(id(frame), None) or self._opened(frame)
        if around is not None:
            self._blocks[id(frame)] = around
        entry.__exit__(kind, error, traceback)

    async def __aenter__(self) -> Entry:
        frame = _frame(1)
        if "__aenter__" in frame.f_code.co_names:
            return self._open(frame)
        entry = self._begin()
        blocks, key = self._blocks, id(frame)
        blocks[key] = entry, blocks.get(key)
        return entry

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        frame = _frame(1)
        entry, around = self._blocks.pop(id(frame), None) or self._opened(frame)
        if around is not None:
            self._blocks[id(frame)] = around
        entry.__exit__(kind, error, traceback)

    def _open(self, frame: FrameType) -> Entry:
        """Enter for code that calls `__enter__` itself."""
        entry = self._begin()
        _opened.set((self, entry, _opener(frame), _still_open(_opened.get())))
        return entry

    def _opened(self, frame: FrameType) -> tuple[Entry, None]:
        """The entry that such code ends."""
        opened = list(_each(_opened.get()))
        own = [block for block in opened if block[0] is self]
        if not own:
            raise RuntimeError(
                "the block ends in another context than it began in; use `with guard.enter():`"
            )
        opener = _opener(frame)
        ending = next((block for block in own if block[2] == opener), own[0])
        around = ending[3]
        for guard, entry, by, _ in reversed(opened[: opened.index(ending)]):
            around = (guard, entry, by, around)
        _opened.set(around)
        return ending[1], None

    def __repr__(self) -> str:
        return f"<Guard of {'a resource per call' if self.name is None else repr(self.name)}>"


def _still_open(opened: _Opened | None) -> _Opened | None:
    """The blocks without those at the top that have ended in another context."""
    while opened is not None and opened[1].has_ended:
        opened = opened[3]
    return opened


def _each(opened: _Opened | None) -> Iterator[_Opened]:
    """The blocks of a chain, the innermost first."""
    while opened is not None:
        yield opened
        opened = opened[3]


def _opener(frame: FrameType) -> int | None:
    """The object whose method opens or ends a block."""
    opener = frame.f_locals.get("self")
    return None if opener is None else id(opener)


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
