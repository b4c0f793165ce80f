"""Plays conformance cases: told what to do on standard input, tells what it saw on standard output.

The protocol is that of `tests/c/driver.c` at the top of the repository.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import IO

from tripcoil import (
    Breaker,
    Change,
    CircuitOpenError,
    Entry,
    InvalidRuleError,
    Mode,
    Outcome,
    Registry,
    State,
    VirtualClock,
    read_rules,
)

OK, BLOCKED, ALREADY_ENDED, NOT_FOUND, INVALID_RULES = 0, 1, 2, 3, 17
OUTCOMES = {1: Outcome.GOOD, 2: Outcome.BAD, 3: Outcome.IGNORED, 4: Outcome.CANCELLED}
STATES = {State.CLOSED: 0, State.OPEN: 1, State.HALF_OPEN: 2}
MODES = [Mode.NORMAL, Mode.FORCED_OPEN, Mode.DISABLED, Mode.OBSERVE_ONLY]
RELEASES = {16: "1.6", 17: "1.7"}


class Driver:
    """One conversation."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers
        self._begin()

    def run(self) -> None:
        while line := self._requests.readline():
            verb, *words = line.decode().split()
            numbers = [int(word) for word in words]
            if verb == "new":
                self._begin()
            elif verb == "read":
                self._read()
            else:
                self._step(verb, numbers)
            self._say("done")
            self._answers.flush()

    def _begin(self) -> None:
        self._clock = VirtualClock()
        self._registry = Registry(clock=self._clock)
        self._entries: dict[int, Entry] = {}
        self._changes: list[Change] = []
        self._registry.observe(self._changes.append)

    def _step(self, verb: str, numbers: list[int]) -> None:
        at, what, *rest, watched = numbers
        self._set_clock(at)
        match verb:
            case "load":
                status = self._load(what)
            case "enter":
                status = self._enter(what)
            case "end":
                status = OK if self._entries[what].exit(OUTCOMES[rest[0]]) else ALREADY_ENDED
            case "mode":
                status = self._control(what, lambda breaker: breaker.set_mode(MODES[rest[0]]))
            case "reset":
                status = self._control(what, Breaker.reset)
            case "exclude":
                (self._registry.exclude if what else self._registry.include)(self._text())
                status = OK
            case _:
                raise ValueError(verb)
        self._say("status", status)
        for _ in range(watched):
            breakers = self._registry.resource(self._text()).breakers
            self._say("states", *(STATES[breaker.state] for breaker in breakers))
        self._tell_changes()

    def _set_clock(self, nanos: int) -> None:
        """To the very nanosecond: seconds as a float do not hold large times exactly."""
        seconds, rest = divmod(nanos, 1_000_000_000)
        self._clock.set(seconds)
        self._clock.advance(rest / 1e9)

    def _load(self, scope: int) -> int:
        name = self._text() if scope == 2 else ""
        document = self._bytes()
        try:
            match scope:
                case 0:
                    self._registry.load_rules(document)
                case 1:
                    self._registry.load_default_rules(document)
                case 2:
                    self._registry.load_resource_rules(name, document)
                case _:
                    self._registry.load_legacy(RELEASES[scope], document)
        except InvalidRuleError:
            return INVALID_RULES
        return OK

    def _enter(self, number: int) -> int:
        try:
            self._entries[number] = self._registry.resource(self._text()).enter()
        except CircuitOpenError:
            return BLOCKED
        return OK

    def _control(self, position: int, control: Callable[[Breaker], bool]) -> int:
        breakers = self._registry.resource(self._text()).breakers
        return OK if position < len(breakers) and control(breakers[position]) else NOT_FOUND

    def _tell_changes(self) -> None:
        for change in self._changes:
            snapshot = "-" if change.snapshot is None else repr(change.snapshot)
            states = STATES[change.from_state], STATES[change.to_state]
            modes = MODES.index(change.from_mode), MODES.index(change.to_mode)
            self._say("event", change.position, *states, snapshot, *modes)
            self._say_text(change.resource)
        self._changes.clear()

    def _read(self) -> None:
        rules, report = read_rules(self._bytes())
        self._say("rules")
        self._say_text(json.dumps([json.loads(rule.to_json()) for rule in rules]))
        for fault in report.faults:
            self._say("fault", -1 if fault.index is None else fault.index, int(fault.field is not None))
            self._say_text(fault.field or "")

    def _bytes(self) -> bytes:
        length = int(self._requests.readline())
        return self._requests.read(length + 1)[:-1]

    def _text(self) -> str:
        return self._bytes().decode()

    def _say(self, *words: object) -> None:
        self._answers.write(" ".join(map(str, words)).encode() + b"\n")

    def _say_text(self, text: str) -> None:
        encoded = text.encode()
        self._say(len(encoded))
        self._answers.write(encoded + b"\n")


if __name__ == "__main__":
    Driver(sys.stdin.buffer, sys.stdout.buffer).run()
