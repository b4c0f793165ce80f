"""The list of faults: its format, and whether it is complete.

A fault is lines of a source file that are replaced (`-` by `+`, indentation aside), and the test that
catches it, or why none can:

    fault: a bucket's life is not compared
    in: fn put
    - let mine = cell.life() == word.life();
    + let mine = true;
    caught by: loom_window two_calls_that_meet_far_ahead_are_both_counted

`in` is a line's beginning after which the lines are looked for; without it they are there once. Instead of
`caught by`, `survives` names the tests that come nearest, and `because`, with lines that go on indented,
says why nobody can tell. Lines that begin with `#` are comments.
"""

import pathlib
import re
from collections import Counter
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

ORDERING = re.compile(r"Ordering::(Acquire|Release|AcqRel|SeqCst)\b")
# What tells one generation, life, lap, stamp or version from another.
CHECK = re.compile(
    r"(?:[\w.]+\.)?\b(?:generation|life|anchor|lap)(?:\(\))? (?:[!=]=|[<>]=?(?![<>]))"
    r"|(?<!fn )\b(?:is_of|is_at|is_near|reaches|same_place|holds|laps_after)\("
    r"|\b(?:version|plan)\b(?:\(\)|\.load\([\w:]+\))? [!=]="
)
ATOMIC = re.compile(r"\s*(?:pub(?:\(crate\))? )?(?:(\w+): \[*|struct (\w+)\((?:pub\(crate\) )?\[*)Atomic\w+")
# Below these lines of a file are its own tests.
TESTS = re.compile(r"^#\[cfg\((?:all\()?test\b")


@dataclass
class Fault:
    """One fault, as it is listed."""

    name: str = ""
    source: pathlib.Path = HERE
    line: int = 0
    within: str = ""
    old: list = field(default_factory=list)
    new: list = field(default_factory=list)
    tests: list = field(default_factory=list)
    survives: bool = False
    because: str = ""

    def __str__(self):
        return f"{self.source.name}: {self.name}"

    def place(self, lines):
        """The line at which what is replaced begins. LookupError where it is not there, or not once."""
        first = 0
        if self.within:
            first = next((i for i, line in enumerate(lines) if self.within in line), None)
            if first is None:
                raise LookupError(f"`{self.within}` is not in {self.source.name}")
        stripped = [line.strip() for line in lines]
        count = len(self.old)
        places = [i for i in range(first, len(lines)) if stripped[i : i + count] == self.old]
        if not places or (len(places) > 1 and not self.within):
            raise LookupError(f"what it replaces is in {self.source.name} {len(places)} times")
        return places[0]

    def planted(self, text):
        """The source with the fault in it."""
        lines = text.splitlines()
        at = self.place(lines)
        return "\n".join([*lines[:at], *self.new, *lines[at + len(self.old) :], ""])


def listed():
    """All faults, in the order of the files and of their lines."""
    for path in sorted(HERE.glob("*/*.faults")):
        source = ROOT / "crates" / path.parent.name / "src" / (path.stem + ".rs")
        yield from parsed(path, source)


def parsed(path, source):
    fault, last = None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.relative_to(ROOT)}:{number}"
        key, _, value = line.partition(": ")
        if not line.strip() or line.startswith("#"):
            continue
        if key == "fault":
            if fault:
                yield complete(fault)
            fault, last = Fault(value, source, number), key
        elif fault is None:
            raise SystemExit(f"{where}: before the first fault")
        elif line.startswith(("-", "+")):
            (fault.old if line[0] == "-" else fault.new).append(line[1:].strip())
        elif line.startswith("  ") and last == "because":
            fault.because += " " + line.strip()
        elif key == "in":
            fault.within = value
        elif key in ("caught by", "survives"):
            fault.tests.append(tuple(value.split()))
            fault.survives = key == "survives"
        elif key == "because":
            fault.because, last = value, key
        else:
            raise SystemExit(f"{where}: not a line of a fault: {line}")
    if fault:
        yield complete(fault)


def complete(fault):
    if not fault.old or not fault.tests or fault.survives != bool(fault.because):
        raise SystemExit(f"{fault} (line {fault.line}): needs lines, a test, and a reason where it survives")
    return fault


def unnamed():
    """The core's atomics that DESIGN.md does not list."""
    design = (ROOT / "DESIGN.md").read_text()
    for source in sorted((ROOT / "crates/tripcoil-core/src").glob("*.rs")):
        for number, code in code_of(source):
            match = ATOMIC.match(code)
            name = match and (match[1] or match[2])
            if name and not re.search(rf"\b{name}`", design):
                yield f"{source.name}:{number + 1}: {name} is not in DESIGN.md's list of atomics"


def weaker(strength, context):
    """What an ordering is weakened to, one step at a time."""
    if "fence(" in context:
        return [None] if strength != "SeqCst" else ["AcqRel"]
    if strength == "AcqRel":
        return ["Acquire", "Release"]
    if strength == "SeqCst":
        return ["Acquire" if ".load(" in context else "Release" if ".store(" in context else "AcqRel"]
    return ["Relaxed"]


def code_of(source):
    """The lines of a source without comments and tests."""
    for number, line in enumerate(source.read_text().splitlines()):
        if TESTS.match(line):
            return
        code = line.split("//")[0]
        if not code.lstrip().startswith("use "):
            yield number, code


def uncovered(source, faults):
    """The orderings and checks of a source that no fault weakens or drops alone."""
    lines = source.read_text().splitlines()
    weakened, dropped = set(), Counter()
    for fault in faults:
        try:
            at = fault.place(lines)
        except LookupError:
            continue
        weakened |= {(at, number, to) for number, to in one_weakened(fault)}
        missing = Counter(CHECK.findall(" ".join(fault.old))) - Counter(CHECK.findall(" ".join(fault.new)))
        for offset, old in enumerate(fault.old):
            if any(check in missing for check in CHECK.findall(old)):
                dropped[at + offset] += 1
    spots = {(at + offset, to) for at, offset, to in weakened}
    for number, code in code_of(source):
        for i, match in enumerate(ORDERING.finditer(code)):
            for to in weaker(match[1], code):
                if (number, (i, to)) not in spots:
                    yield f"{source.name}:{number + 1}: no fault makes of {match[1]} {to or 'nothing'}: {code.strip()}"
        checks = len(CHECK.findall(code))
        if checks > dropped[number]:
            yield f"{source.name}:{number + 1}: {checks} checks, {dropped[number]} faults that drop one: {code.strip()}"


def one_weakened(fault):
    """Which ordering a fault weakens and to what, where that is all it does: line, its place there, what to."""
    if not fault.new or fault.new == ["// no fence"]:
        yield from ((i, (0, None)) for i, line in enumerate(fault.old) if "fence(" in line)
        return
    if len(fault.old) != len(fault.new):
        return
    word = re.compile(r"Ordering::(\w+)")
    if [word.sub("", line) for line in fault.old] != [word.sub("", line) for line in fault.new]:
        return
    changes = []
    for i, (old, new) in enumerate(zip(fault.old, fault.new)):
        strong = [m[1] for m in word.finditer(old)]
        for j, (before, after) in enumerate(zip(strong, word.findall(new))):
            if before != after:
                place = sum(1 for s in strong[:j] if s != "Relaxed")
                changes.append((i, (place, after)))
    if len(changes) == 1:
        yield changes[0]
