"""Entries that are ended by hand, and blocks."""

from __future__ import annotations

import concurrent.futures
from typing import Any

import pytest
from conftest import Boom, counts, make, trip

import tripcoil
from tripcoil import CircuitOpenError, Guard, Outcome, Registry, Resource


class TestEntry:
    """The two-step way."""

    def test_an_entry_ends_once_and_says_so(self, stock: Resource) -> None:
        entry = stock.enter()
        assert (entry.resource, entry.has_ended) == ("stock", False)
        assert entry.exit()
        assert entry.has_ended
        assert not entry.exit(Boom())
        assert not entry.exit(Outcome.BAD)
        assert counts(stock) == {"good": 1}

    def test_an_end_counts_once_whatever_threads_try(self, stock: Resource) -> None:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for _ in range(100):
                entry = stock.enter()
                assert sum(pool.map(lambda _, entry=entry: entry.exit(), range(8))) == 1
        assert counts(stock) == {"good": 100}

    @pytest.mark.parametrize(
        ("given", "name"),
        [
            (None, "good"),
            (Boom(), "bad"),
            (KeyboardInterrupt(), "cancelled"),
            (Outcome.GOOD, "good"),
            (Outcome.BAD, "bad"),
            (Outcome.IGNORED, "ignored"),
            (Outcome.CANCELLED, "cancelled"),
            ("bad", "bad"),
        ],
    )
    def test_what_it_ends_by(self, given: Any, name: str, stock: Resource) -> None:
        assert stock.enter().exit(given)
        assert counts(stock) == {name: 1}

    def test_bad_arguments_do_not_end_it(self, stock: Resource) -> None:
        entry = stock.enter()
        with pytest.raises(TypeError, match="error must be an exception or an Outcome, not 5"):
            entry.exit(5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="error: 'worse' is not allowed; it must be one of"):
            entry.exit("worse")
        for wrong in (-1, True, float("nan"), 10**400, "1"):
            with pytest.raises(ValueError, match="response_time: .* is not allowed"):
                entry.exit(response_time=wrong)  # type: ignore[arg-type]
        assert not entry.has_ended
        assert entry.exit()

    def test_a_response_time_of_the_callers(self, registry: Registry) -> None:
        registry.load_rules(
            tripcoil.Rule(
                "slow",
                strategy="slow_ratio",
                threshold=1,
                max_allowed_rt=0.05,
                retry_timeout=1,
                min_request_amount=1,
            )
        )
        slow = registry.resource("slow")
        assert slow.enter().exit(response_time=0.05)
        assert slow.enter().exit(response_time=0.0500001)
        assert counts(slow) == {"good": 1, "bad": 1}

    def test_blocks_of_one_guard_nest_and_mix(
        self, guard: Guard, stock: Resource, registry: Registry
    ) -> None:
        other, other_resource = make(registry)
        with guard, other, guard:
            pass
        assert (counts(stock), counts(other_resource)) == ({"good": 2}, {"good": 1})
        guard.__enter__()
        other.__enter__()
        guard.__exit__(None, None, None)
        other.__exit__(Boom, Boom(), None)
        assert (counts(stock), counts(other_resource)) == ({"good": 3}, {"good": 1, "bad": 1})

    def test_a_block_that_ends_elsewhere_is_told(self, guard: Guard) -> None:
        with pytest.raises(RuntimeError, match="another context"):
            guard.__exit__(None, None, None)

    def test_a_blocked_block_is_not_run(self, guard: Guard, stock: Resource) -> None:
        trip(guard)
        with pytest.raises(CircuitOpenError), guard:
            pytest.fail("the block was run")
        assert counts(stock) == {"bad": 4, "blocked": 1}
