"""What users say about errors and answers, in the form that the native guard takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

ErrorTest: TypeAlias = type[BaseException] | Callable[[Any], object]
"""Which errors are meant: a type, or a predicate."""

Errors: TypeAlias = ErrorTest | Iterable[ErrorTest] | None


def errors(
    option: str, given: Errors
) -> tuple[tuple[type[BaseException], ...], list[Callable[[Any], object]]] | None:
    """Types and predicates apart."""
    if given is None:
        return None
    tests = list(given) if isinstance(given, Iterable) and not isinstance(given, type) else [given]
    types: list[type[BaseException]] = []
    predicates: list[Callable[[Any], object]] = []
    for test in tests:
        if isinstance(test, type) and issubclass(test, BaseException):
            types.append(test)
        elif callable(test) and not isinstance(test, type):
            predicates.append(test)
        else:
            raise TypeError(f"{option} must be exception types or predicates, not {test!r:.60}")
    return tuple(types), predicates


def predicate(option: str, given: Callable[[Any], object] | None) -> Callable[[Any], object] | None:
    """A predicate, or none."""
    if given is None or callable(given):
        return given
    raise TypeError(f"{option} must be a function of the result, not {given!r:.60}")


class Unset:
    """The absence of an answer, as None is one."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()


def answer(given: object) -> Callable[[BaseException], Any] | None:
    """What gives the answer from the error: a value itself, a function with the error if it wants it."""
    if isinstance(given, Unset):
        return None
    if not callable(given):
        return lambda _error: given
    if takes_argument(given):
        return given
    keyword = {"error"} if _takes_keyword(given) else set[str]()
    if inspect.iscoroutinefunction(given):

        async def later(error: BaseException) -> Any:
            return await given(**dict.fromkeys(keyword, error))

        return later
    return lambda error: given(**dict.fromkeys(keyword, error))


def _takes_keyword(function: Callable[..., object]) -> bool:
    """Whether a function, which tells its parameters, has one for keywords alone that is named `error`."""
    if isinstance(function, type):
        return False
    parameter = inspect.signature(function).parameters.get("error")
    return parameter is not None and parameter.kind is parameter.KEYWORD_ONLY


def takes_argument(function: Callable[..., object]) -> bool:
    """Whether a function takes the error: by a positional parameter without a default, or named `error`.

    A class makes an answer of its own: `fallback=list`.
    """
    if isinstance(function, type):
        return False
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        # Some built-in ones do not tell.
        return True
    return any(_wants_error(parameter) for parameter in parameters)


def _wants_error(parameter: inspect.Parameter) -> bool:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return True
    if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
        return False
    return parameter.default is parameter.empty or parameter.name == "error"
