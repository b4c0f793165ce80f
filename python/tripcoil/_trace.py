"""Errors that do not show in how a call ends."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from types import FrameType
from typing import NamedTuple

from . import _native, _shells

# Marks that nobody takes, being made outside of any guarded call, must not pile up.
_MAX_MARKS = 32
# How much of the stack has to be the same for marks to be of one call.
_MAX_FRAMES = 16


class _Mark(NamedTuple):
    number: int
    error: BaseException
    # The innermost guarded coroutine or generator that was running. One that waits for its consumer, who
    # may make marks, too, is none.
    shell: int | None
    # Where it was made: frames and instructions. Of many marks from there, the first and the last are kept.
    place: tuple[tuple[int, int], ...]


_marks: ContextVar[tuple[_Mark, ...]] = ContextVar("tripcoil_marks", default=())


def trace(error: BaseException) -> None:
    """Make the guarded call that is running count as if it had raised this error.

    For a call that handles an error and returns normally. Of several calls within each other in this thread
    or task, the innermost is meant. Calls that never use it pay nothing for it.

    Outside of any call it means nothing; but the error is kept for a while, as it cannot be told.
    """
    if not isinstance(error, BaseException):
        raise TypeError(f"error must be an exception, not {error!r:.60}")
    frame = sys._getframe(1)
    marks, place, shell = _marks.get(), _place(frame), _shells.running(frame)
    mark = _Mark(_native.next_mark(), error, shell and id(shell), place)
    # A call that marks over and over has its first mark there; the last one may be of another call.
    if len(marks) > 1 and _alike(marks[-1], mark) and _alike(marks[-2], mark):
        marks = marks[:-1]
    _marks.set((*marks[1 - _MAX_MARKS :], mark))


def _alike(one: _Mark, other: _Mark) -> bool:
    return one.place == other.place and one.shell == other.shell


def take(since: int) -> BaseException | None:
    """Remove the marks of the call that ends, with numbers over `since`; return the error of the first."""
    shells = _ending(sys._getframe(1))
    own: list[_Mark] = []
    others: list[_Mark] = []
    for mark in _marks.get():
        (own if mark.number > since and mark.shell in shells else others).append(mark)
    if not own:
        return None
    _marks.set(tuple(others))
    return own[0].error


def _place(frame: FrameType | None) -> tuple[tuple[int, int], ...]:
    place: list[tuple[int, int]] = []
    while frame is not None and len(place) < _MAX_FRAMES:
        place.append((id(frame), frame.f_lasti))
        frame = frame.f_back
    return tuple(place)


def _ending(frame: FrameType) -> list[int | None]:
    """What may have been running, innermost, when the call that ends here made its marks."""
    shell = _shells.running(frame)
    if shell is None:
        return [None]
    if shell.f_code is not _shells.finish.__code__:
        return [id(shell)]
    # The call of a plain function, which was running itself before it returned a coroutine.
    around = shell.f_back and _shells.running(shell.f_back)
    return [id(shell), around and id(around)]
