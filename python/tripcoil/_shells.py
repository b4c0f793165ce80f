"""Guarded coroutine functions, generators and async generators: real ones, and so taken for such."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any

from ._errors import CircuitOpenError
from ._native import Pass

if TYPE_CHECKING:
    from ._native import Entry, Guard

AnyFunction = Callable[..., Any]

# A second coroutine costs most by packing its arguments and unpacking them again. So it is made with the
# parameters of the function: `decorator` and `dataclasses` make functions in this way, too. What it asks of
# its pass is spelt with operators, which cost less than methods (`bindings/python/src/pass.rs`).
_COROUTINE = """\
async def shell({parameters}):
    _tripcoil_entry = {begin}
    try:
        return _tripcoil_entry[await _tripcoil_function({arguments})]
    except BaseException as _tripcoil_error:
        _tripcoil_entry.raised(_tripcoil_error)
        raise
"""

# Where functions of the user's judge the calls, an error of theirs is not to be judged in its turn.
_JUDGED_COROUTINE = """\
async def shell({parameters}):
    _tripcoil_entry = {begin}
    try:
        _tripcoil_result = await _tripcoil_function({arguments})
    except BaseException as _tripcoil_error:
        _tripcoil_entry.raised(_tripcoil_error)
        raise
    return _tripcoil_entry{end}
"""


def coroutine(guard: Guard, function: AnyFunction, *, per_call: bool) -> AnyFunction:
    """Guard a coroutine function. Admission is asked for when it is first awaited."""
    if guard.on_blocked is not None:
        return _answered_coroutine(guard, function)
    parameters, arguments = _parameters(function)
    source = _JUDGED_COROUTINE if per_call or guard._asks else _COROUTINE
    names: dict[str, Any] = {"_tripcoil_function": function}
    if per_call:
        names["_tripcoil_enter"] = guard.enter
        begin, end = f"_tripcoil_enter({arguments})", ".returned(_tripcoil_result)"
    else:
        names["_tripcoil_pass"] = Pass(guard, names)
        begin, end = "+_tripcoil_pass", "[_tripcoil_result]"
    source = source.format(parameters=parameters, arguments=arguments, begin=begin, end=end)
    exec(compile(source, "<tripcoil>", "exec"), names)
    shell = names["shell"]
    if isinstance(function, FunctionType):
        shell.__defaults__ = function.__defaults__
        shell.__kwdefaults__ = function.__kwdefaults__
    return functools.wraps(function)(shell)


def _parameters(function: AnyFunction) -> tuple[str, str]:
    """A function's parameters, and the arguments that hand them on. Defaults are put in later."""
    if not isinstance(function, FunctionType):
        return "*args, **kwargs", "*args, **kwargs"
    code = function.__code__
    names = iter(code.co_varnames)
    first_default = code.co_argcount - len(function.__defaults__ or ())
    parameters: list[str] = []
    arguments: list[str] = []
    for position in range(code.co_argcount):
        name = next(names)
        parameters.append(f"{name}=None" if position >= first_default else name)
        arguments.append(name)
        if position + 1 == code.co_posonlyargcount:
            parameters.append("/")
    keywords = [next(names) for _ in range(code.co_kwonlyargcount)]
    if code.co_flags & inspect.CO_VARARGS:
        rest = next(names)
        parameters.append(f"*{rest}")
        arguments.append(f"*{rest}")
    elif keywords:
        parameters.append("*")
    for name in keywords:
        parameters.append(f"{name}=None" if name in (function.__kwdefaults__ or ()) else name)
        arguments.append(f"{name}={name}")
    if code.co_flags & inspect.CO_VARKEYWORDS:
        rest = next(names)
        parameters.append(f"**{rest}")
        arguments.append(f"**{rest}")
    return ", ".join(parameters), ", ".join(arguments)


def _answered_coroutine(guard: Guard, function: AnyFunction) -> AnyFunction:
    on_blocked = guard.on_blocked
    assert on_blocked is not None

    @functools.wraps(function)
    async def shell(*args: Any, **kwargs: Any) -> Any:
        try:
            entry = guard.enter(*args, **kwargs)
        except CircuitOpenError as error:
            return await settled(on_blocked(error))
        return await finish(guard, entry, function(*args, **kwargs))

    return shell


async def finish(guard: Guard, entry: Entry, awaitable: Awaitable[Any]) -> Any:
    """Await the result of an admitted call, and end its entry."""
    try:
        result = await awaitable
    except BaseException as error:
        if entry.raised(error) and guard.fallback is not None:
            return await settled(guard.fallback(error))
        raise
    return entry.returned(result)


async def settled(answer: Any) -> Any:
    """An answer, awaited if it must be."""
    return await answer if inspect.isawaitable(answer) else answer


def answered(function: AnyFunction, answer: Any) -> Any:
    """An answer in the form in which the function gives its result: to be awaited, or not."""
    return settled(answer) if is_coroutine_function(function) else answer


def is_coroutine_function(function: AnyFunction) -> bool:
    """Whether what a function returns is awaited: also a generator function of `types.coroutine`."""
    flags: int = getattr(getattr(function, "__code__", None), "co_flags", 0)
    return bool(flags & inspect.CO_ITERABLE_COROUTINE) or is_kind(inspect.iscoroutinefunction, function)


def running(frame: FrameType | None) -> FrameType | None:
    """The innermost of this module's guarded coroutines and generators that is running in a stack."""
    while frame is not None:
        if frame.f_code.co_name in ("shell", "finish"):
            names = frame.f_globals
            if names is globals() or "_tripcoil_function" in names:
                break
        frame = frame.f_back
    return frame


def is_kind(kind: Callable[[Any], bool], function: AnyFunction) -> bool:
    """Whether a function, or an object's way of being called, is of a kind."""
    return kind(function) or kind(type(function).__call__)


def generator(guard: Guard, function: AnyFunction) -> AnyFunction:
    """Guard a generator function: the call lasts from its first item to its end, or until it is closed."""

    @functools.wraps(function)
    def shell(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        try:
            entry = guard.enter(*args, **kwargs)
        except CircuitOpenError as error:
            if guard.on_blocked is None:
                raise
            return (yield from guard.on_blocked(error))
        try:
            result = yield from function(*args, **kwargs)
        except BaseException as error:
            if entry.raised(error) and guard.fallback is not None:
                return (yield from guard.fallback(error))
            raise
        return entry.returned(result)

    return shell


def async_generator(guard: Guard, function: AnyFunction) -> AnyFunction:
    """Guard an async generator function: as `generator`."""

    @functools.wraps(function)
    async def shell(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        try:
            entry = guard.enter(*args, **kwargs)
        except CircuitOpenError as error:
            if guard.on_blocked is None:
                raise
            async with contextlib.aclosing(_items(guard.on_blocked(error))) as items:
                async for item in items:
                    yield item
            return
        inner = function(*args, **kwargs)
        try:
            item = await anext(inner)
            while True:
                try:
                    sent = yield item
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as error:
                    item = await inner.athrow(error)
                else:
                    item = await inner.asend(sent)
        except StopAsyncIteration:
            entry.exit()
        except BaseException as error:
            if not entry.raised(error) or guard.fallback is None:
                raise
            async with contextlib.aclosing(_items(guard.fallback(error))) as items:
                async for item in items:
                    yield item

    return shell


async def _items(answer: Any) -> AsyncGenerator[Any, None]:
    """The items of an answer, which is an iterable or async iterable, or awaited to be one."""
    answer = await settled(answer)
    if isinstance(answer, AsyncGenerator):
        async with contextlib.aclosing(answer):
            async for item in answer:
                yield item
    elif isinstance(answer, AsyncIterable):
        async for item in answer:
            yield item
    else:
        for item in answer:
            yield item
