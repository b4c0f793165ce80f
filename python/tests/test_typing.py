"""Type checkers accept the good uses, with the types they assert, and refuse every wrong one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CHECKERS = {
    "mypy": [sys.executable, "-m", "mypy", "--strict", "--no-error-summary"],
    "pyright": [sys.executable, "-m", "pyright"],
}


def check(checker: str, name: str) -> tuple[int, str]:
    """A checker's exit status and what it says of a file."""
    command = [*CHECKERS[checker], str(HERE / "typing" / name)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=HERE, check=False)
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize("checker", CHECKERS)
def test_good_uses_are_accepted(checker: str) -> None:
    status, said = check(checker, "good.py")
    assert status == 0, said


@pytest.mark.parametrize("checker", CHECKERS)
def test_wrong_uses_are_refused(checker: str) -> None:
    lines = (HERE / "typing" / "wrong.py").read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    _, said = check(checker, "wrong.py")
    assert {int(number) for number in re.findall(r"wrong\.py:(\d+)(?::\d+)?(?: -|:) error", said)} == wrong, (
        said
    )


def test_the_stub_is_that_of_the_module() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "tripcoil._native"]
    command += ["--allowlist", "typing/stubtest-allowed.txt", "--concise"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=HERE, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
