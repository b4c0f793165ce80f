"""A circuit breaker: calls to a dependency that has become slow or fails are not made for a while.

Callers do not wait, and the dependency can recover.

    import tripcoil

    @tripcoil.breaker("stock", strategy="error_ratio", threshold=0.5, retry_timeout=10)
    def fetch(sku): ...

`breaker` makes a decorator and context manager (`Guard`); a blocked call raises `CircuitOpenError`. The
functions of this module are methods of one `Registry`, the default one; make others for tests, and where
parts of a program are to be apart.

Nothing runs in the background: no thread and no timer. Everything may be used from any thread and task, and
works under asyncio, trio and anyio alike.
"""

from types import FunctionType

# ruff: noqa: E402
from . import _main

_main.refuse_sub_interpreters()

from . import _native

_main.restore(_native.modules)

from ._enums import Cause, Mode, Outcome, Release, State, Strategy
from ._errors import CircuitOpenError, InvalidNameError, InvalidRuleError, TripcoilError
from ._guard import Guard
from ._native import VERSION as __version__
from ._native import (
    Breaker,
    Change,
    Entry,
    Fault,
    LegacyStatistics,
    Rejection,
    Report,
    Resource,
    Rule,
    RuleWarning,
    Snapshot,
    Totals,
    Trip,
    VirtualClock,
)
from ._registry import Limits, Observation, Registry
from ._rules import read_rules
from ._trace import trace
from ._transitions import Transitions

_native.look_up()
_main.keep(_native.modules)

default_registry = Registry()
"""The registry whose methods this module's functions are."""

breaker = default_registry.breaker
load_rules = default_registry.load_rules
load_resource_rules = default_registry.load_resource_rules
load_default_rules = default_registry.load_default_rules
observe = default_registry.observe
resource = default_registry.resource
transitions = default_registry.transitions

__all__ = [
    "Breaker",
    "Cause",
    "Change",
    "CircuitOpenError",
    "Entry",
    "Fault",
    "Guard",
    "InvalidNameError",
    "InvalidRuleError",
    "LegacyStatistics",
    "Limits",
    "Mode",
    "Observation",
    "Outcome",
    "Registry",
    "Rejection",
    "Release",
    "Report",
    "Resource",
    "Rule",
    "RuleWarning",
    "Snapshot",
    "State",
    "Strategy",
    "Totals",
    "Transitions",
    "Trip",
    "TripcoilError",
    "VirtualClock",
    "__version__",
    "breaker",
    "default_registry",
    "load_default_rules",
    "load_resource_rules",
    "load_rules",
    "observe",
    "read_rules",
    "resource",
    "trace",
    "transitions",
]

# Where a class is defined is nobody's concern, and may change: pickles and tracebacks name it here.
for _object in [*globals().values()]:
    if isinstance(_object, type | FunctionType) and _object.__module__.startswith("tripcoil._"):
        _object.__module__ = __name__
