"""Fixtures for tests of code that uses circuit breakers. pytest finds them by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    # Not imported before a test asks for it: the plugin is loaded in every run of pytest.
    from . import Registry, VirtualClock


@pytest.fixture
def tripcoil_clock() -> VirtualClock:
    """A clock at 0, which stands still until the test moves it: `tripcoil_clock.advance(10)`."""
    from . import VirtualClock

    return VirtualClock()


@pytest.fixture
def tripcoil_registry(tripcoil_clock: VirtualClock) -> Registry:
    """A registry of the test's own, without rules, on the time of `tripcoil_clock`."""
    from . import Registry

    return Registry(clock=tripcoil_clock)
