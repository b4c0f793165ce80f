"""The registry: resources by name, the rules that guard them, and who is told of changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import Any, NamedTuple, NoReturn

from . import _native, _options, _rules
from ._enums import Release, Strategy
from ._guard import Guard
from ._native import Change, Report, Rule
from ._transitions import Transitions

Time = float | timedelta

# Those of `Rule`; a breaker is of one resource, and no pattern.
_RULE_OPTIONS = tuple(option for option in _native.RULE_OPTIONS if option != "regex")
_CALL_OPTIONS = ("resource", "record", "ignore", "is_failure", "on_blocked", "fallback")


class Limits(NamedTuple):
    """What a rule document may take at most, see `Registry.set_limits`."""

    document_bytes: int
    """The bytes of a document. Default: 16 MiB."""
    rules: int
    """The rules of a document, good and bad. Default: 1,000,000."""
    pattern_bytes: int
    """The bytes that one pattern takes when compiled; each matching thread adds 100 KiB. Default: 1 MiB."""
    patterns_bytes: int
    """The bytes that all patterns of a document take together. Default: 64 MiB."""
    listed: int
    """How many faults are listed, and how many warnings; a last one says how many more. Default: 1000."""


class Registry(_native.Registry):
    """Resources by name, and the rules that guard them.

    `clock` is a `VirtualClock` for tests; by default it is the system's monotonic clock. `max_resources`
    limits how many resources are kept: a new name beyond that takes the place of one whose breakers equal
    new ones, and where there is none its calls are admitted unguarded, and counted.

    All methods may be called from any thread. Looking up a known name takes no lock.
    """

    def breaker(
        self,
        name: str | None = None,
        *,
        resource: Callable[..., str] | None = None,
        record: _options.Errors = None,
        ignore: _options.Errors = None,
        is_failure: Callable[[Any], object] | None = None,
        on_blocked: Any = _options.UNSET,
        fallback: Any = _options.UNSET,
        strategy: Strategy | str | None = None,
        threshold: float | None = None,
        retry_timeout: Time | None = None,
        max_allowed_rt: Time | None = None,
        min_request_amount: int | None = None,
        stat_interval: Time | None = None,
        stat_sliding_window_bucket_count: int | None = None,
        probe_num: int | None = None,
        probe_timeout: Time | None = None,
        backoff_factor: float | None = None,
        max_retry_timeout: Time | None = None,
        inclusive: bool | None = None,
        id: str | int | None = None,
        **unknown: NoReturn,
    ) -> Guard:
        """Make a guard: a decorator and context manager for calls of a resource.

        Which resource, one of:

        - `name`: its name.
        - `resource`: a function of the call's arguments that gives the name of each call's resource.

        What counts. An error that is no `Exception` (cancellation, `KeyboardInterrupt`, `SystemExit`,
        `GeneratorExit`) has no outcome; nor has one that is, or was raised `from`, a blocked inner call. Any
        other is bad, unless:

        - `ignore`: exception types or predicates; errors that say nothing of the dependency. No outcome.
        - `record`: exception types or predicates; then only these errors are bad, and others good.
        - `is_failure`: a function of the result; where it is true, the call was bad.

        What the caller gets instead of an error, a value or a function (coroutine function) that is called
        with the error if it takes an argument:

        - `on_blocked`: for calls that this guard has blocked.
        - `fallback`: for those, and for calls whose error is bad or comes from a blocked inner call.

        For generators, it is an iterable whose items follow those that have come.

        Any of the other options makes a rule, see `Rule`: the resource's own, for as long as no exact and no
        regex rule is loaded for it, whether before or later. Loads of other rules leave it, and another
        breaker of the same name with such options replaces it. Where each call has its name, each name gets
        the rule with its first call, unless it has one.

        Raises `TypeError` for unknown options, `InvalidNameError`, and `InvalidRuleError`.
        """
        given = locals()
        options = {key: given[key] for key in _RULE_OPTIONS if given[key] is not None}
        if unknown:
            known = ", ".join(_CALL_OPTIONS + _RULE_OPTIONS)
            raise TypeError(f"unknown option {next(iter(unknown))!r}; the options are {known}")
        if (name is None) == (resource is None):
            raise TypeError("a breaker needs a name, or a function that gives each call's: resource=")
        if callable(name):
            raise TypeError(
                f'a breaker needs a name before it is given a function: @breaker("name"), not {name!r:.60}'
            )
        if resource is not None and not callable(resource):
            raise TypeError(f"resource must be a function of the call's arguments, not {resource!r:.60}")
        guard = Guard(
            self,
            resource or name,
            rule=_rules.maker(options) if options and resource else None,
            record=_options.errors("record", record),
            ignore=_options.errors("ignore", ignore),
            is_failure=_options.predicate("is_failure", is_failure),
            on_blocked=_options.answer(on_blocked),
            fallback=_options.answer(fallback),
        )
        guard.registry = self
        guard.name = name
        guard._blocks = {}
        if options and name is not None:
            self._set_own_rule(Rule(name, **options))
        return guard

    def load_rules(self, source: _rules.Source, *, lenient: bool = False) -> Report:
        """Replace all exact and regex rules, or change nothing if anything is wrong with them.

        `source` is JSON text in Sentinel's fields or sentinel-golang's, a path to it, one rule, or a list of
        rules, which are dicts with those fields or `Rule` objects. A rule that is loaded already keeps its
        breaker with state and window, and so does an edited one of the same id whose window keeps its shape.

        A lenient load takes the valid rules of a document, and its report has the faults of the others.

        Raises `InvalidRuleError` with every fault.
        """
        return self._load(self._native_of(source), lenient)

    def load_resource_rules(self, name: str, source: _rules.Source) -> Report:
        """Replace the exact rules of one resource. As `load_rules`."""
        return self._load_resource(name, self._native_of(source))

    def load_default_rules(self, source: _rules.Source) -> Report:
        """Replace the default rules, whose resource is `*`. As `load_rules`.

        They guard every resource that no other rule matches and that is not excluded, each with breakers of
        its own.
        """
        return self._load_defaults(self._native_of(source))

    def load_legacy(self, release: Release | str, source: _rules.Source) -> Report:
        """Choose the check that Sentinel made before 1.8, and replace its rules, which are no `Rule` objects.

        It is apart from the breakers, which are asked first.
        """
        document = self._native_of(source)
        if isinstance(document, list):
            raise TypeError("legacy rules are JSON text, a path to it, or dicts")
        return self._load_legacy(release, document)

    def _native_of(self, source: _rules.Source) -> bytes | str | list[Rule]:
        return _rules.native(source, self.limits.document_bytes)

    @property
    def limits(self) -> Limits:
        """What rule documents may take."""
        return Limits(*self._limits())

    def set_limits(
        self,
        *,
        document_bytes: int | None = None,
        rules: int | None = None,
        pattern_bytes: int | None = None,
        patterns_bytes: int | None = None,
        listed: int | None = None,
    ) -> None:
        """Set what rule documents that are loaded from now on may take; each at least 1.

        Documents come from configuration services and files, and who can write there should not be able to
        exhaust the process that reads them. A document beyond a limit changes nothing, and the error says
        which it is. Fixed besides: 64 brackets open at once, and names, patterns, ids and `limitApp` of 1024
        bytes.

        Raises `ValueError`.
        """
        self._set_limits(
            document_bytes=document_bytes,
            rules=rules,
            pattern_bytes=pattern_bytes,
            patterns_bytes=patterns_bytes,
            listed=listed,
        )

    def observe(self, observer: Callable[[Change], object], *, name: str | None = None) -> Observation:
        """Tell a function of every change of a breaker, until the observation is closed.

        It is called after the change has been made, with no lock held, on the thread that made it or on one
        that is telling of that breaker already: once each, and each breaker's in their order. It may use the
        library, but one that makes a change for each that it is told of goes on for ever. What it raises goes
        to `sys.unraisablehook`, and never to the guarded call. A slow one delays the call that made the
        change.

        An observer of the same name is replaced; by default the name is a new one.
        """
        if not callable(observer):
            raise TypeError(f"observer must be a function of a Change, not {observer!r:.60}")
        name = f"observer {next(_numbers)}" if name is None else name
        self._observe(name, observer)
        return Observation(self, name)

    def transitions(self, *, maxsize: int = 1024) -> Transitions:
        """Iterate over all changes as they happen: `async for change in registry.transitions():`.

        Works under asyncio and trio. At most `maxsize` changes wait to be taken; beyond that the oldest is
        dropped, and counted. Changes from the moment of this call on are seen.
        """
        return Transitions(self, maxsize)

    def __repr__(self) -> str:
        return f"<Registry of {len(self)} resources>"


class Observation:
    """An observer's registration, which also closes as a context manager."""

    def __init__(self, registry: Registry, name: str) -> None:
        self._registry = registry
        self.name = name
        """The name that the observer is registered under."""

    def close(self) -> bool:
        """Stop telling the observer. Returns whether there was one of the name."""
        return self._registry.unobserve(self.name)

    def __enter__(self) -> Observation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


_numbers = itertools.count(1)
