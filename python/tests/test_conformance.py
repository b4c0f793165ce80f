"""The cases of `tests/vectors` at the top of the repository, played by `driver.py`.

The runner, which all languages share, is a Rust program; `TRIPCOIL_CONFORMANCE` is the path to it, without
which this file is left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
VECTORS = HERE.parent.parent / "tests" / "vectors"
RUNNER = os.environ["TRIPCOIL_CONFORMANCE"]


@pytest.mark.parametrize("file", sorted(VECTORS.glob("*.json")), ids=lambda file: file.stem)
def test_agrees_with_every_case(file: Path, tmp_path: Path) -> None:
    (tmp_path / file.name).write_bytes(file.read_bytes())
    driver = f"python={sys.executable} {HERE / 'driver.py'}"
    result = subprocess.run([RUNNER, tmp_path, driver], capture_output=True, text=True, check=False)
    lines = result.stdout.splitlines()
    assert any(line.startswith("python: 1 files,") and line.endswith(", 0 differ") for line in lines), (
        result.stdout
    )
    assert result.returncode == 0
