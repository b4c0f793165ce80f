"""The library's enums. Each member is also a `str`, its value."""

import enum


class _Enum(str, enum.Enum):
    def __str__(self) -> str:
        return str(self.value)


class State(_Enum):
    """A breaker's state."""

    CLOSED = "closed"
    """Calls pass."""
    OPEN = "open"
    """Calls are rejected, until the retry deadline."""
    HALF_OPEN = "half-open"
    """Probes pass."""


class Mode(_Enum):
    """What manual control has made of a breaker."""

    NORMAL = "normal"
    """The breaker decides."""
    FORCED_OPEN = "forced-open"
    """Everything is rejected."""
    DISABLED = "disabled"
    """Everything passes and is counted; the breaker never trips."""
    OBSERVE_ONLY = "observe-only"
    """The breaker decides and tells, but rejects nothing."""


class Outcome(_Enum):
    """How a call ended."""

    GOOD = "good"
    """Without an error."""
    BAD = "bad"
    """With an error."""
    IGNORED = "ignored"
    """With a result that says nothing of the dependency: it counts nowhere."""
    CANCELLED = "cancelled"
    """Not at all, the caller gave up: as `IGNORED`, but listed apart."""


class Strategy(_Enum):
    """What a rule judges calls by."""

    SLOW_RATIO = "slow_ratio"
    """The ratio of calls that took longer than `max_allowed_rt`."""
    ERROR_RATIO = "error_ratio"
    """The ratio of calls that ended with an error."""
    ERROR_COUNT = "error_count"
    """The number of calls in the window that ended with an error."""
    CONSECUTIVE_ERRORS = "consecutive_errors"
    """The number of errors since the last good call."""


class Cause(_Enum):
    """What makes a breaker open."""

    CONDITION = "condition"
    """The rule's condition came true over the window."""
    PROBE_FAILED = "probe-failed"
    """A probe ended badly."""
    PROBE_GIVEN_BACK = "probe-given-back"
    """The last probe had no outcome: open until when it was before."""


class Release(_Enum):
    """A release line of Sentinel before half-open states, for the legacy check."""

    V1_6 = "1.6"
    V1_7 = "1.7"
