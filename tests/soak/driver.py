"""Drives the soak test's programs, samples what they hold, and judges it. `run` calls it.

A program makes one round of load for every line that it reads, answers with one line of figures as JSON, and
ends, with status 0, at the end of its input. It checks its own totals. It is sampled while it waits for a
line, so that what it holds then, it keeps.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import select
import subprocess
import sys
import threading
import time

import plot

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20
COLUMNS = ("seconds", "rounds", "rss", "fds", "threads")


class Program:
    """A program that is soaked."""

    def __init__(self, name: str, command: list[str], log: pathlib.Path) -> None:
        self.name = name
        self.log = log
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log.open("w"), text=True, bufsize=1
        )
        self.samples: list[tuple[float, ...]] = []
        self.figures: dict[str, int] = {}
        self.faults: list[str] = []

    def round(self) -> bool:
        """Have it make one round. False where it has ended instead."""
        try:
            self.process.stdin.write("\n")
        except BrokenPipeError:
            return False
        answer = self.process.stdout.readline()
        if answer:
            self.figures = json.loads(answer)
        return bool(answer)

    def spent(self) -> float:
        """Processor time in seconds, that of its children included."""
        fields = self._proc("stat").read_text().rpartition(")")[2].split()
        return sum(int(ticks) for ticks in fields[11:15]) / TICK

    def sample(self, seconds: float) -> tuple[float, ...]:
        """What it holds while it is at rest."""
        rss = int(self._proc("statm").read_text().split()[1]) * PAGE
        held = [len(os.listdir(self._proc(folder))) for folder in ("fd", "task")]
        return (round(seconds, 1), self.figures["rounds"], rss, *held)

    def keep(self, seconds: float) -> None:
        """Take a sample to judge by. A thread that has been joined may still be seen for a moment."""
        for _ in range(100):
            taken = self.sample(seconds)
            if not self.samples or all(
                now <= then for now, then in zip(taken[3:], self.samples[0][3:], strict=True)
            ):
                break
            select.select([], [], [], 0.01)
        self.samples.append(taken)

    def end(self) -> None:
        self.process.stdin.close()
        status = self.process.wait(timeout=60)
        if status != 0:
            text = self.log.read_text().strip()
            self.faults.append(f"ended with status {status}" + (f": {text}" if text else ""))

    def judge(self) -> None:
        """Memory flat once warm, files and threads as in the beginning."""
        warm = self.samples[len(self.samples) // 10 :]
        if len(warm) < 2:
            self.faults.append("has not been sampled twice")
            return
        tenth = max(1, len(warm) // 10)
        before = max(sample[2] for sample in warm[:tenth])
        after = max(sample[2] for sample in warm[-tenth:])
        allowed = before + max(before // 10, 8 * MIB)
        self.memory = f"{before / MIB:.1f} -> {after / MIB:.1f} MiB"
        if after > allowed:
            self.faults.append(f"memory has grown: {self.memory}, allowed {allowed / MIB:.1f}")
        for column in (3, 4):
            first, last = warm[0][column], warm[-1][column]
            if last > first:
                self.faults.append(f"{COLUMNS[column]} have grown from {first} to {last}")

    def _proc(self, name: str) -> pathlib.Path:
        return pathlib.Path(f"/proc/{self.process.pid}/{name}")


def soak(program: Program, rounds: int | None, seconds: float, share: float, every: float) -> None:
    """Rounds of load: so many, or for so long with that share of a processor."""
    began = time.monotonic()
    done, sampled = 0, -every
    while rounds is None or done < rounds:
        now = time.monotonic() - began
        if rounds is None and now >= seconds:
            break
        if not program.round():
            program.faults.append("has ended in the middle")
            break
        done += 1
        now = time.monotonic() - began
        # The first few make caches, pools and lazy tables, which are kept.
        if done >= 5 and (rounds is not None or now - sampled >= every):
            program.keep(now)
            sampled = now
        if rounds is None:
            rest = program.spent() / share - (time.monotonic() - began)
            select.select([], [], [], max(0, min(rest, seconds - now)))
    program.end()
    program.judge()


def report(program: Program, out: pathlib.Path) -> None:
    with (out / f"{program.name}.csv").open("w") as file:
        for row in [COLUMNS, *program.samples]:
            print(*row, sep=",", file=file)
    figures = ", ".join(f"{key} {value:,}" for key, value in program.figures.items())
    held = program.samples[-1][3:] if program.samples else ()
    print(f"{program.name}: {figures}; {getattr(program, 'memory', '?')}, {held} files and threads")
    for fault in program.faults:
        print(f"{program.name}: FAULT: {fault}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--share", type=float, default=0.12, help="of a processor, for each program")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("program", nargs="+", help="NAME=COMMAND")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    programs = []
    for given in options.program:
        name, _, command = given.partition("=")
        programs.append(Program(name, command.split(), options.out / f"{name}.log"))
    seconds = options.minutes * 60
    every = max(1.0, seconds / 720)
    drivers = [
        threading.Thread(target=soak, args=[program, options.rounds, seconds, options.share, every])
        for program in programs
    ]
    for driver in drivers:
        driver.start()
    for driver in drivers:
        driver.join()
    for program in programs:
        report(program, options.out)
    plot.draw({program.name: program.samples for program in programs}, options.out / "soak.svg")
    return any(program.faults for program in programs)


if __name__ == "__main__":
    sys.exit(main())
