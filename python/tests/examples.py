"""The examples of README.md. As a program, runs the first in this interpreter, which needs nothing else."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "README.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)

if __name__ == "__main__":
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(EXAMPLES[0], {})
    lines = output.getvalue().splitlines()
    assert [line.split(":")[0] for line in lines] == ["failed"] * 4 + ["not called, next try in 2 s"] * 2, (
        lines
    )
    print("the first example printed what it must")
