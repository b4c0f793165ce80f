"""Errors that do not show in how a call ends."""

from __future__ import annotations

from contextvars import ContextVar
from typing import NamedTuple

from . import _native

# Marks that nobody takes, being made outside of any guarded call, must not pile up.
_MAX_MARKS = 16


class _Mark(NamedTuple):
    number: int
    error: BaseException
    depth: int
    before: _Mark | None


_marks: ContextVar[_Mark | None] = ContextVar("tripcoil_marks", default=None)


def trace(error: BaseException) -> None:
    """Make the guarded call that is running count as if it had raised this error.

    For a call that handles an error and returns normally. Of several calls within each other in this thread
    or task, the innermost is meant; outside of any, it does nothing. Calls that never use it pay nothing
    for it.
    """
    before = _marks.get()
    depth = 1 if before is None else before.depth + 1
    if depth > _MAX_MARKS:
        before, depth = None, 1
    _marks.set(_Mark(_native.next_mark(), error, depth, before))


def take(since: int) -> BaseException | None:
    """Remove the context's marks with numbers over `since`, and return the error of the first of them."""
    mark = _marks.get()
    if mark is None or mark.number <= since:
        return None
    error = mark.error
    while mark is not None and mark.number > since:
        error, mark = mark.error, mark.before
    _marks.set(mark)
    return error
