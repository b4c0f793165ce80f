"""Rules: how they are given, and what is wrong with them."""

from __future__ import annotations

import copy
import json
import math
import pickle
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import R0, Boom, boom, state, trip

import tripcoil
from tripcoil import (
    CircuitOpenError,
    Fault,
    Guard,
    InvalidNameError,
    InvalidRuleError,
    Registry,
    Rejection,
    Rule,
    State,
    Strategy,
    TripcoilError,
)

GO = {"resource": "stock", "strategy": 1, "threshold": 0.5, "retryTimeoutMs": 1500}
SENTINEL = {"resource": "stock", "grade": 1, "count": 0.5, "timeWindow": 10}
HUGE = 10**400

WRONG_OPTIONS: list[tuple[str, Any, str]] = [
    ("threshold", math.nan, "nan"),
    ("threshold", math.inf, "inf"),
    ("threshold", -0.1, "-0.1"),
    ("threshold", 1.0001, "1.0001"),
    ("threshold", True, "True"),
    ("threshold", "0.5", "'0.5'"),
    ("threshold", HUGE, "1000000000"),
    ("stat_interval", 0, "0"),
    ("stat_interval", -1, "-1"),
    ("stat_interval", True, "True"),
    ("stat_interval", 0.0005, "0.0005"),
    ("stat_interval", math.nan, "nan"),
    ("stat_interval", math.inf, "inf"),
    ("stat_interval", 2.0**64, "1.8446744073709552e+19"),
    ("stat_interval", HUGE, "1000000000"),
    ("stat_interval", timedelta(seconds=-1), "datetime.timedelta"),
    ("stat_interval", timedelta(microseconds=500), "datetime.timedelta"),
    ("stat_sliding_window_bucket_count", 0, "0"),
    ("stat_sliding_window_bucket_count", 7, "7"),
    ("stat_sliding_window_bucket_count", 1001, "1001"),
    ("stat_sliding_window_bucket_count", 2**32 + 1, "4294967297"),
    ("stat_sliding_window_bucket_count", True, "True"),
    ("min_request_amount", 0, "0"),
    ("min_request_amount", -1, "-1"),
    ("min_request_amount", 1.5, "1.5"),
    ("min_request_amount", 2**64, "18446744073709551616"),
    ("min_request_amount", 2**53, "9007199254740992"),
    ("min_request_amount", HUGE, "1000000000"),
    ("min_request_amount", True, "True"),
    ("min_request_amount", math.nan, "nan"),
    ("min_request_amount", "5", "'5'"),
    ("probe_num", 0, "0"),
    ("probe_num", 65536, "65536"),
    ("probe_num", 2**32 + 1, "4294967297"),
    ("retry_timeout", 0, "0"),
    ("retry_timeout", -1, "-1"),
    ("retry_timeout", 2**64, "18446744073709551616"),
    ("probe_timeout", -1, "-1"),
    ("backoff_factor", 0.5, "0.5"),
    ("backoff_factor", math.nan, "nan"),
    ("max_retry_timeout", 0, "0"),
    ("strategy", "error ratio", "'error ratio'"),
    ("strategy", 1, "1"),
]


@pytest.mark.parametrize(("option", "value", "shown"), WRONG_OPTIONS)
def test_a_wrong_option_is_named_with_what_is_allowed(
    option: str, value: Any, shown: str, registry: Registry
) -> None:
    registry.load_rules(SENTINEL)
    with pytest.raises(InvalidRuleError) as raised:
        registry.breaker("stock", **{**R0, option: value})
    (fault,) = raised.value.faults
    assert fault.field == option
    assert fault.value is not None
    assert fault.value.startswith(shown)
    assert len(fault.value) < 100
    assert fault.allowed
    assert option in str(raised.value)
    assert fault.allowed in str(raised.value)
    assert registry.rules == [Rule.from_json(json.dumps(SENTINEL))], "nothing is changed"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("count", math.nan),
        ("count", math.inf),
        ("count", -0.1),
        ("count", 1.0001),
        ("count", True),
        ("count", HUGE),
        ("count", Decimal("0.5")),
        ("count", None),
        ("timeWindow", 0),
        ("timeWindow", timedelta(seconds=1)),
        ("statIntervalMs", 0),
        ("statSlidingWindowBucketCount", 0),
        ("statSlidingWindowBucketCount", 7),
        ("minRequestAmount", 0),
        ("minRequestAmount", -1),
        ("probeNum", 0),
        ("resource", ""),
        ("resource", "a\0b"),
        ("resource", 5),
    ],
)
def test_a_wrong_field_of_a_dict_is_named(field: str, value: Any, registry: Registry) -> None:
    with pytest.raises(InvalidRuleError) as raised:
        registry.load_rules([SENTINEL, {**SENTINEL, field: value}])
    (fault,) = raised.value.faults
    assert (fault.index, fault.field, fault.line) == (1, field, None)
    assert registry.rules == []


@pytest.mark.parametrize("option", ["strategy", "threshold", "retry_timeout"])
def test_a_missing_option_is_named(option: str) -> None:
    options = {name: value for name, value in R0.items() if name != option}
    with pytest.raises(InvalidRuleError, match=f"field {option}: missing"):
        Rule("stock", **options)


def test_every_fault_is_listed(registry: Registry) -> None:
    with pytest.raises(InvalidRuleError) as raised:
        Rule("stock", strategy="x", threshold=-1, retry_timeout=0, probe_num=0)
    assert {fault.field for fault in raised.value.faults} == {
        "strategy",
        "threshold",
        "retry_timeout",
        "probe_num",
    }
    with pytest.raises(InvalidRuleError) as raised:
        registry.load_rules(
            '[{"resource": "a"},\n {"resource": "b", "grade": 9, "count": 1, "timeWindow": 1}]'
        )
    assert [(fault.index, fault.field, fault.line) for fault in raised.value.faults] == [
        (0, "count", 1),
        (0, "timeWindow", 1),
        (1, "grade", 2),
    ]
    assert str(raised.value).count("\n") == 2


@pytest.mark.parametrize("wrong", [{"inclusive": 1}, {"regex": "yes"}, {"id": 1.5}, {"id": True}])
def test_options_of_the_wrong_type_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(wrong))):
        Rule("stock", **{**R0, **wrong})


@pytest.mark.parametrize("name", ["", " \u3000", "a\0b", "\ud800", "x" * 1025, "ä" * 513])
def test_a_wrong_name_is_refused_everywhere(name: str, registry: Registry) -> None:
    for call in (registry.resource, registry.breaker, lambda name: registry.breaker(name, **R0)):
        with pytest.raises(InvalidNameError, match="resource: .* 1 to 1024 bytes"):
            call(name)
    with pytest.raises(InvalidRuleError) as raised:
        Rule(name, **R0)
    assert raised.value.faults[0].field == "resource"
    with pytest.raises((InvalidRuleError, InvalidNameError)):
        registry.load_resource_rules(name, [])
    for call in (registry.exclude, registry.include):
        with pytest.raises(InvalidNameError, match="1 to 1024 bytes"):
            call("valid", name)
    assert registry.excluded == []
    assert len(registry) == 0


def test_a_name_that_is_no_text_is_refused(registry: Registry) -> None:
    for call in (registry.resource, lambda name: Rule(name, **R0)):
        for name in (5, None, b"stock"):
            with pytest.raises(TypeError, match="resource must be a str, not"):
                call(name)  # type: ignore[arg-type]


def test_times_are_seconds_or_timedelta() -> None:
    seconds = Rule("stock", **R0)
    assert Rule("stock", **{**R0, "retry_timeout": timedelta(seconds=2), "stat_interval": 1.0}) == seconds
    assert Rule("stock", **{**R0, "retry_timeout": Decimal(2)}) == seconds
    for millis in (1, 1001, 4_102_444_800_123, 31_536_036_100):
        assert Rule("stock", **{**R0, "retry_timeout": millis / 1000}).retry_timeout == millis / 1000
        assert (
            Rule("stock", **{**R0, "retry_timeout": timedelta(milliseconds=millis)}).retry_timeout
            == millis / 1000
        )
    assert Rule("stock", **{**R0, "min_request_amount": 10.0}).min_request_amount == 10


def test_a_rule_shows_and_compares_itself() -> None:
    rule = Rule("stock", **R0, id=1)
    assert rule == Rule("stock", **R0, id="1")
    assert rule != Rule("stock", **R0)
    assert rule != Rule("price", **R0, id=1)
    assert rule != 5
    assert len({rule, Rule("stock", **R0, id="1"), Rule("stock", **R0)}) == 2
    assert eval(repr(rule), {"Rule": Rule}) == rule
    assert str(rule) == '"stock": error ratio of at least 0.5 in 1s, open for 2s'
    assert rule.strategy is Strategy.ERROR_RATIO
    assert (rule.threshold, rule.retry_timeout, rule.stat_interval, rule.max_allowed_rt) == (0.5, 2, 1, None)
    assert (rule.min_request_amount, rule.stat_sliding_window_bucket_count, rule.probe_num) == (4, 10, 1)
    assert (rule.probe_timeout, rule.backoff_factor, rule.max_retry_timeout) == (2, 1, 86400)
    assert (rule.inclusive, rule.regex, rule.id) == (True, False, "1")
    with pytest.raises(AttributeError):
        rule.threshold = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    "rule",
    [
        Rule("stock", **R0, id=1),
        Rule("stock", strategy="slow_ratio", threshold=1, max_allowed_rt=0.0504, retry_timeout=1.5),
        Rule("st.*", regex=True, strategy="error_count", threshold=3, retry_timeout=0.001, probe_timeout=0),
        Rule.from_json(json.dumps({**SENTINEL, "limitApp": "app", "slowRatioThreshold": 7})),
        Rule.from_json(json.dumps(GO)),
    ],
)
def test_a_rule_can_be_pickled_and_copied(rule: Rule) -> None:
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert copy.copy(rule) == copy.deepcopy(rule) == rule
    assert eval(repr(rule), {"Rule": Rule}).to_json() == rule.to_json() or "limitApp" in rule.to_json()


@pytest.mark.parametrize("form", [SENTINEL, GO])
def test_rules_come_in_many_forms(form: dict[str, Any], registry: Registry, tmp_path: Path) -> None:
    text = json.dumps([form])
    path = tmp_path / "rules.json"
    path.write_text(text)
    wanted = [Rule.from_json(text)]
    for source in (
        text,
        "\ufeff \n" + text,
        text.encode(),
        path,
        str(path),
        form,
        [form],
        (form,),
        wanted[0],
        wanted,
    ):
        registry.load_rules([])
        assert registry.load_rules(source).rules == 1
        assert registry.rules == wanted


def test_what_is_no_rule_is_refused(registry: Registry) -> None:
    registry.load_rules(SENTINEL)
    with pytest.raises(FileNotFoundError):
        registry.load_rules("no such file.json")
    with pytest.raises(TypeError, match="all dicts or all Rule objects"):
        registry.load_rules([SENTINEL, Rule("stock", **R0)])
    with pytest.raises(TypeError, match="all dicts or all Rule objects; among dicts there are 5"):
        registry.load_rules([5])  # type: ignore[list-item]
    for text in ("", "[", "[{}]", '[{"resource": "\ud800"}]', "[" * 100_000, b"\xff"):
        with pytest.raises(InvalidRuleError):
            registry.load_rules(text)
    assert len(registry.rules) == 1


def test_unknown_fields_are_warnings(registry: Registry) -> None:
    report = registry.load_rules([{**SENTINEL, "gmtCreate": 5}])
    (warning,) = report.warnings
    assert (warning.index, warning.field, warning.line) == (0, "gmtCreate", None)
    assert "gmtCreate" in str(warning)


def test_documents_have_limits(registry: Registry) -> None:
    assert registry.limits == (16 << 20, 1_000_000, 1 << 20, 64 << 20, 1000)
    registry.set_limits(rules=2, listed=1)
    assert registry.limits == (16 << 20, 2, 1 << 20, 64 << 20, 1)
    with pytest.raises(
        InvalidRuleError, match="a list of 3 rules is not allowed; it must be a list of at most 2"
    ):
        registry.load_rules("[1, 2, 3]")
    with pytest.raises(InvalidRuleError) as caught:
        registry.load_rules("[1, 2]")
    assert [fault.index for fault in caught.value.faults] == [0, None]
    registry.set_limits(document_bytes=1)
    with pytest.raises(InvalidRuleError, match="more than 1 bytes"):
        registry.load_rules("[]")
    for wrong in (0, -1, 1.5, "5", True, 2**70):
        with pytest.raises(ValueError, match="^rules: "):
            registry.set_limits(rules=wrong)  # type: ignore[arg-type]
    assert registry.limits.rules == 2


def test_a_limit_may_be_more_than_there_is_memory(registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps([SENTINEL]))
    for limit in (1 << 50, 2**64 - 1):
        registry.set_limits(
            document_bytes=limit, rules=limit, pattern_bytes=limit, patterns_bytes=limit, listed=limit
        )
        assert registry.load_rules(path).rules == 1
    with pytest.raises(ValueError, match=r"^listed: nan"):
        registry.set_limits(listed=float("nan"))  # type: ignore[arg-type]


def test_a_lenient_load_takes_the_valid_rules(registry: Registry) -> None:
    report = registry.load_rules([SENTINEL, {**SENTINEL, "count": 5}], lenient=True)
    assert (report.rules, [fault.index for fault in report.faults]) == (1, [1])
    assert len(registry.rules) == 1


def test_rules_can_be_read_without_loading_them() -> None:
    rules, report = tripcoil.read_rules([SENTINEL, {**SENTINEL, "count": 5}, GO])
    assert [rule.resource for rule in rules] == ["stock", "stock"]
    assert [(fault.index, fault.field, fault.line) for fault in report.faults] == [(1, "count", None)]
    assert tripcoil.read_rules(rules)[0] == rules


def test_default_resource_and_regex_rules(registry: Registry) -> None:
    registry.load_default_rules({**SENTINEL, "resource": "*"})
    registry.load_rules([{**SENTINEL, "resource": "pay/.*", "regex": True}])
    registry.load_resource_rules("stock", [SENTINEL, {**SENTINEL, "grade": 2}])
    registry.exclude("free")
    assert registry.excluded == ["free"]
    breakers = {
        name: len(registry.resource(name).breakers) for name in ("stock", "pay/card", "other", "free")
    }
    assert breakers == {"stock": 2, "pay/card": 1, "other": 1, "free": 0}
    registry.include("free")
    assert len(registry.resource("free").breakers) == 1
    with pytest.raises(InvalidRuleError, match="default rules"):
        registry.load_default_rules(SENTINEL)
    with pytest.raises(InvalidRuleError, match="resource"):
        registry.load_resource_rules("stock", {**SENTINEL, "resource": "price"})


@pytest.mark.parametrize("field", ["resource", "id"])
@pytest.mark.parametrize(
    "value",
    [b"price", ["price"], ("price",), pytest.param(10**5000, id="big"), float("nan"), object(), {1: 2}],
)
def test_a_text_that_is_none_is_a_fault_of_its_field(registry: Registry, field: str, value: object) -> None:
    with pytest.raises(InvalidRuleError) as raised:
        registry.load_rules([{**SENTINEL, field: value}])
    assert [fault.field for fault in raised.value.faults] == [field]
    assert registry.rules == []


@pytest.mark.parametrize("field", ["count", "timeWindow", "minRequestAmount"])
def test_a_number_that_cannot_be_printed_is_a_fault_of_its_field(registry: Registry, field: str) -> None:
    with pytest.raises(InvalidRuleError, match="an int of 16610 bits") as raised:
        registry.load_rules([{**SENTINEL, field: 10**5000}])
    assert [fault.field for fault in raised.value.faults] == [field]


def test_reloading_keeps_unchanged_breakers(registry: Registry) -> None:
    registry.load_rules(Rule("stock", **R0))
    guard = registry.breaker("stock")
    trip(guard)
    registry.load_rules(registry.rules)
    assert state(guard.resource) is State.OPEN
    registry.load_rules([])
    assert guard.call(lambda: 1) == 1


def test_the_legacy_check(registry: Registry) -> None:
    registry.load_legacy("1.7", [{"resource": "old", "grade": 2, "count": 4, "timeWindow": 10}])
    old = registry.breaker("old")
    for _ in range(4):
        with pytest.raises(Boom):
            old.call(boom)
    with pytest.raises(CircuitOpenError) as blocked:
        old.call(boom)
    assert (blocked.value.rule, blocked.value.state, blocked.value.retry_after) == (None, State.OPEN, 10)
    statistics = old.resource.legacy_statistics
    assert statistics is not None
    assert (statistics.passed, statistics.blocked, statistics.success, statistics.exception) == (4, 1, 4, 4)
    assert Registry().resource("old").legacy_statistics is None
    with pytest.raises(ValueError, match="release: '1.8' is not allowed"):
        registry.load_legacy("1.8", [])
    with pytest.raises(TypeError, match="legacy rules"):
        registry.load_legacy("1.7", Rule("stock", **R0))


class TestErrors:
    @pytest.fixture
    def blocked(self, guard: Guard) -> CircuitOpenError:
        trip(guard)
        with pytest.raises(CircuitOpenError) as raised:
            guard.call(boom)
        return raised.value

    def test_a_blocked_call_says_why(self, blocked: CircuitOpenError, guard: Guard) -> None:
        assert isinstance(blocked, TripcoilError)
        assert not isinstance(blocked, ValueError)
        assert blocked.resource == "stock"
        assert blocked.rule == Rule("stock", **R0)
        assert blocked.state is State.OPEN
        assert blocked.mode is tripcoil.Mode.NORMAL
        assert blocked.retry_after == 2
        assert str(blocked) == blocked.explanation
        assert blocked.explanation.startswith(
            'call blocked: the breaker of "stock" is open, next probe in 2s'
        )

    def test_each_call_has_an_error_of_its_own(self, blocked: CircuitOpenError, guard: Guard) -> None:
        with pytest.raises(CircuitOpenError) as raised:
            guard.call(boom)
        assert raised.value is not blocked
        assert raised.value.__context__ is None
        assert raised.value.__traceback__ is not blocked.__traceback__

    def test_it_survives_pickling_and_copying(self, blocked: CircuitOpenError) -> None:
        fields = ("resource", "rule", "state", "mode", "retry_after", "explanation")
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            twin = pickle.loads(pickle.dumps(blocked, protocol))
            assert type(twin) is CircuitOpenError
            assert str(twin) == str(blocked)
            for again in (twin, copy.copy(blocked), copy.deepcopy(blocked), pickle.loads(pickle.dumps(twin))):
                assert all(getattr(again, field) == getattr(blocked, field) for field in fields)

    def test_it_survives_raise_from(self, blocked: CircuitOpenError) -> None:
        with pytest.raises(KeyError) as raised:
            raise KeyError from blocked
        assert raised.value.__cause__ is blocked
        cause = Boom()
        with pytest.raises(CircuitOpenError) as again:
            raise blocked from cause
        assert again.value.__cause__ is cause

    def test_one_can_be_made_for_a_test(self) -> None:
        error = CircuitOpenError(Rejection("stock", retry_after=1.5, state="half-open"))
        assert (error.resource, error.retry_after, error.state, error.rule) == (
            "stock",
            1.5,
            State.HALF_OPEN,
            None,
        )

    def test_half_open_and_forced_open(self, blocked: CircuitOpenError, guard: Guard, clock: Any) -> None:
        clock.advance(2)
        with guard.enter(), pytest.raises(CircuitOpenError) as raised:
            guard.call(boom)
        assert (raised.value.state, raised.value.retry_after) == (State.HALF_OPEN, 2)
        guard.resource.set_mode("forced-open")
        with pytest.raises(CircuitOpenError) as raised:
            guard.call(boom)
        assert (raised.value.state, raised.value.mode) == (State.CLOSED, tripcoil.Mode.FORCED_OPEN)
        assert raised.value.retry_after is None

    def test_invalid_rules_survive_pickling(self) -> None:
        with pytest.raises(InvalidRuleError) as raised:
            Rule("stock", strategy="x", threshold=-1, retry_timeout=0)
        error = raised.value
        assert isinstance(error, TripcoilError)
        assert isinstance(error, ValueError)
        for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert (str(twin), twin.faults) == (str(error), error.faults)
        fault = error.faults[0]
        assert hash(fault) == hash(pickle.loads(pickle.dumps(fault)))
        assert fault == Fault(None, "stock", fault.field, fault.value, fault.allowed, None)
