"""Fixtures for tests of code that uses circuit breakers. pytest finds them by itself."""

from __future__ import annotations

import pytest

from . import Registry, VirtualClock


@pytest.fixture
def tripcoil_clock() -> VirtualClock:
    """A clock at 0, which stands still until the test moves it: `tripcoil_clock.advance(10)`."""
    return VirtualClock()


@pytest.fixture
def tripcoil_registry(tripcoil_clock: VirtualClock) -> Registry:
    """A registry of the test's own, without rules, on the time of `tripcoil_clock`."""
    return Registry(clock=tripcoil_clock)
