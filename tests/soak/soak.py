"""The soak test's program in Python: a round of mixed load for every line that it reads."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import warnings
from collections import Counter

from calls import Boom, Calls

import tripcoil
from tripcoil import Change, CircuitOpenError, Registry, VirtualClock

THREADS = 3
CALLS = 60
CHANGES = 30
# Forked children use what was copied, and start no threads: just what the warning is about is tested here.
warnings.filterwarnings("ignore", ".*multi-threaded.*fork.*", DeprecationWarning)


def lasting(seconds: int) -> list[dict[str, object]]:
    """The rules that are always there, edited by `seconds`."""
    every = {"timeWindow": seconds, "statIntervalMs": 1000}
    ratio = {"grade": 1, "count": 0.5, "statSlidingWindowBucketCount": 10, "probeNum": 3}
    return [
        {"resource": "kept", "id": "kept", **ratio, **every},
        {"resource": "three", "id": 1, "grade": 0, "count": 40, "slowRatioThreshold": 0.6, **every},
        {"resource": "three", "id": 2, **ratio, **every},
        {"resource": "three", "id": 3, "grade": 3, "count": 8, **every},
    ]


BRIEF = {"resource": "brief", "grade": 2, "count": 5, "timeWindow": 1}
LIKE = {"resource": "like-[0-9]+", "regex": True, "grade": 1, "count": 0.5, "timeWindow": 1}
DEFAULT = {"resource": "*", "grade": 2, "count": 3, "timeWindow": 1}


class World:
    """What lives from the first round to the last."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.clock = VirtualClock()
        self.registry = Registry(clock=self.clock)
        self.rules = folder / "rules.json"
        self.counts = {"kept": Counter[str](), "three": Counter[str](), "others": Counter[str]()}
        self.did = Counter[str](dict.fromkeys(("rounds", "trips", "told", "reloads", "observers"), 0))
        self.load(lasting(1))
        self.registry.observe(self.trip, name="trips")
        self.kept = Calls(self.registry, "kept")
        self.three = Calls(self.registry, "three")
        self.held: list[tripcoil.Entry] = []

    def trip(self, change: Change) -> None:
        self.did["trips"] += change.trip is not None

    def load(self, rules: list[dict[str, object]]) -> None:
        """From a file that is replaced, as a text, and one that is refused."""
        fresh = self.rules.with_suffix(".new")
        fresh.write_text(json.dumps(rules))
        fresh.replace(self.rules)
        self.registry.load_rules(self.rules)
        try:
            self.registry.load_rules([{"resource": "kept", "grade": 9}])
        except tripcoil.InvalidRuleError as error:
            assert error.faults
        self.registry.load_default_rules(random.choice([[], [DEFAULT]]))
        self.registry.exclude("other-1")
        self.registry.include("other-1")
        self.did["reloads"] += 1

    def threads(self, seed: int, counts: dict[str, Counter[str]]) -> None:
        chance = random.Random(seed)
        for step in range(CALLS):
            ill = step // 20 % 3 == 0
            outcome = chance.choice(["bad"] * 3 + ["good"] if ill else ["good"] * 9 + ["bad"])
            if chance.random() < 0.2:
                outcome = chance.choice(["ignored", "traced", "judged"])
            counts["kept"][self.kept.one(outcome)] += 1
            counts["three"][self.three.one(outcome)] += 1
            name = chance.choice(["brief", f"like-{chance.randrange(32)}", f"other-{chance.randrange(32)}"])
            counts["others"][Calls(self.registry, name).one(outcome)] += 1
            self.clock.advance(chance.random() / 32)
        asyncio.run(self.kept.tasks(counts["kept"]))

    def change(self) -> None:
        match random.randrange(6):
            case 0:
                rules = lasting(random.choice([1, 2]))
                self.load(rules + random.choice([[], [BRIEF], [LIKE], [BRIEF, LIKE]]))
            case 1:
                self.registry.observe(self.told, name=str(random.randrange(4)))
                self.registry.unobserve(str(random.randrange(4)))
                self.did["observers"] += 1
            case 2:
                for calls in (self.kept, self.three):
                    calls.guard.resource.set_mode(random.choice(["forced-open", "disabled", "normal"]))
                    calls.guard.resource.set_mode("normal")
            case 3:
                self.another_registry()
            case 4:
                for resource in self.registry.resources:
                    assert all(breaker.snapshot().totals for breaker in resource.breakers)
            case 5:
                self.clock.set(random.uniform(0, 1000))

    def told(self, change: Change) -> None:
        self.did["told"] += 1
        if change.sequence % 64 == 0:
            raise Boom

    def another_registry(self) -> None:
        registry = Registry(max_resources=16)
        with registry.observe(self.told), registry.transitions(maxsize=4):
            calls = Calls(registry, "stock")
            guard = registry.breaker("stock", strategy="error_count", threshold=3, retry_timeout=0.001)
            for number in range(16):
                calls.one("bad")
                Calls(registry, f"name-{number * 7 % 32}").one("good")
            entry = registry.resource("other").enter()
        del registry, calls, guard
        entry.exit()
        self.did["registries"] += 1

    def fork(self, killed: bool) -> None:
        """A child goes on with its copy, though threads of this process are in the middle of calls."""
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                while True:
                    for _ in range(8):
                        self.change()
                        self.kept.one("bad")
                    os.write(theirs, b"1")
                    if not killed:
                        os._exit(0)
            finally:
                os._exit(1)
        assert os.read(ours, 1)
        if killed:
            os.kill(child, signal.SIGKILL)
        os.close(ours)
        os.close(theirs)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status == (-signal.SIGKILL if killed else 0), status
        self.did["children"] += 1

    def hold(self) -> None:
        """An entry that stays open over several rounds."""
        counts = self.counts["kept"]
        if len(self.held) == 8:
            self.held.pop(0).exit(Boom())
            counts["bad"] += 1
            return
        try:
            self.held.append(self.kept.guard.enter())
        except CircuitOpenError:
            counts["blocked"] += 1

    def round(self, number: int) -> None:
        self.hold()
        counts = [{name: Counter[str]() for name in self.counts} for _ in range(THREADS)]
        threads = [
            threading.Thread(target=self.threads, args=(number * 8 + thread, counts[thread]))
            for thread in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for change in range(CHANGES):
            self.change()
            if number % 16 == 7 and change == 4:
                self.fork(killed=number % 32 == 7)
        for thread in threads:
            thread.join()
        for taken in counts:
            for name, count in taken.items():
                self.counts[name] += count
        # What was left lies in cycles of frames and tracebacks.
        gc.collect()
        self.did["rounds"] += 1
        self.check("kept", len(self.held))
        self.check("three", 0)

    def check(self, name: str, held: int) -> None:
        counts = self.counts[name]
        totals = [breaker.snapshot().totals for breaker in self.registry.resource(name).breakers]
        seen = {
            key: [getattr(one, key) for one in totals] for key in ("passed", "blocked", "good", "bad", "late")
        }
        said = f"{name}: {seen}, {[(t.ignored, t.cancelled) for t in totals]}, {counts}, {held} held"
        for one in totals:
            assert one.passed == one.good + one.bad + one.ignored + one.cancelled + one.late, said
        assert sum(seen["blocked"]) == counts["blocked"], said
        last = totals[-1]
        assert last.ignored == counts["ignored"] and last.cancelled == counts["cancelled"], said
        assert last.good + last.bad + last.late == counts["good"] + counts["bad"], said

    def figures(self) -> dict[str, int]:
        return {
            "calls": sum(count.total() for count in self.counts.values()),
            "blocked": sum(count["blocked"] for count in self.counts.values()),
            **self.did,
        }


def main() -> None:
    # Observers raise on purpose.
    sys.unraisablehook = lambda _unraisable: None
    with tempfile.TemporaryDirectory() as folder:
        world = World(pathlib.Path(folder))
        for number, _ in enumerate(sys.stdin):
            world.round(number)
            print(json.dumps(world.figures()), flush=True)


main()
