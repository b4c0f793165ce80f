"""The package's exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._enums import Mode, State

if TYPE_CHECKING:
    from ._native import Fault, Rejection, Rule


class TripcoilError(Exception):
    """What all errors of this package have in common."""

    __slots__ = ()


class CircuitOpenError(TripcoilError):
    """A breaker rejected the call, which was not made.

    Its fields are read from its rejection when they are asked for. It can be pickled and copied.
    """

    # No room for weak references, as in exceptions of Python's own: it would cost every blocked call.
    __slots__ = ()

    args: tuple[Rejection]

    if TYPE_CHECKING:

        def __init__(self, rejection: Rejection, /) -> None: ...

    @property
    def rejection(self) -> Rejection:
        """All of it in one object."""
        return self.args[0]

    @property
    def resource(self) -> str:
        """The resource's name."""
        return self.args[0].resource

    @property
    def rule(self) -> Rule | None:
        """The rule whose breaker rejected the call.

        None for the legacy check, and where the rule has been replaced since.
        """
        return self.args[0].rule

    @property
    def state(self) -> State:
        """The state that rejected the call. `State.CLOSED` where the breaker is forced open."""
        return self.args[0].state

    @property
    def mode(self) -> Mode:
        """The mode that rejected the call."""
        return self.args[0].mode

    @property
    def retry_after(self) -> float | None:
        """Seconds until the next probe may go, as it was when the call was rejected; None without a limit."""
        return self.args[0].retry_after

    @property
    def explanation(self) -> str:
        """What rejected the call, why, and for how long, in one sentence."""
        return self.args[0].explanation


class InvalidRuleError(TripcoilError, ValueError):
    """Rules are not valid; nothing was changed. `str()` of it has a line for each fault."""

    args: tuple[tuple[Fault, ...]]

    if TYPE_CHECKING:

        def __init__(self, faults: tuple[Fault, ...], /) -> None: ...

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Every fault, in the order of the rules; never empty."""
        return self.args[0]

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))


class InvalidNameError(TripcoilError, ValueError):
    """A name cannot be a resource's: it has 1 to 1024 bytes of UTF-8, is not blank, and holds no NUL."""


def _rejection(
    resource: str,
    rule: Rule | None,
    state: State,
    mode: Mode,
    retry_after: float | None,
    explanation: str,
) -> Rejection:
    """Unpickle a rejection."""
    from ._native import Rejection

    return Rejection(
        resource, rule=rule, state=state, mode=mode, retry_after=retry_after, explanation=explanation
    )
