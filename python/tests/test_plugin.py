"""The pytest plugin, in runs of pytest of its own."""

from __future__ import annotations

import pytest

PROGRAM = """
import pytest
import tripcoil


def test_a_registry_of_its_own(tripcoil_registry, tripcoil_clock):
    guard = tripcoil_registry.breaker(
        "stock", strategy="error_count", threshold=1, min_request_amount=1, retry_timeout=10
    )
    with pytest.raises(ValueError):
        guard.call(int, "x")
    with pytest.raises(tripcoil.CircuitOpenError):
        guard.call(int)
    tripcoil_clock.advance(10)
    assert guard.call(int) == 0
    assert tripcoil_registry.now() == 10


def test_a_fresh_one(tripcoil_registry, tripcoil_clock):
    assert len(tripcoil_registry) == 0
    assert tripcoil_clock.time == 0
"""


def test_fixtures_are_found_by_entry_point(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PROGRAM)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)
    pytester.runpytest_subprocess("--fixtures").stdout.fnmatch_lines(
        ["*tripcoil_registry*", "*tripcoil_clock*"]
    )
