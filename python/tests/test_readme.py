"""Every example of the package's page runs, each in an interpreter of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

import examples


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=range(len(examples.EXAMPLES)))
def test_it_runs_and_complains_of_nothing(example: str) -> None:
    result = subprocess.run(
        [sys.executable, "-X", "dev", "-c", example], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_there_are_some() -> None:
    assert len(examples.EXAMPLES) > 5
