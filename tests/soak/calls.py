"""Calls of one resource, in every way that there is from Python."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator

import tripcoil
from tripcoil import CircuitOpenError, Outcome, Registry


class Boom(Exception):
    """A failure of the dependency."""


class Aside(Exception):
    """A failure that says nothing of the dependency."""


class Calls:
    """Calls of one resource, in every way that there is. Each way says what its call came to."""

    def __init__(self, registry: Registry, name: str) -> None:
        guard = registry.breaker(name, ignore=Aside, is_failure=lambda result: result is Boom)
        self.guard = guard
        self.answering = registry.breaker(name, ignore=Aside, fallback=lambda error: error)

        @guard
        def items(number: int) -> Iterator[int]:
            yield from range(number)

        self.items = items
        self.function = guard(self.work)

    def work(self, outcome: str) -> object:
        if outcome == "bad":
            raise Boom
        if outcome == "ignored":
            raise Aside
        if outcome == "traced":
            tripcoil.trace(Boom())
        return Boom if outcome == "judged" else None

    def called(self, how: Callable[[str], object], outcome: str) -> str:
        try:
            how(outcome)
        except CircuitOpenError:
            return "blocked"
        except (Boom, Aside):
            pass
        return {"traced": "bad", "judged": "bad"}.get(outcome, outcome)

    def by_hand(self, outcome: str) -> str:
        try:
            entry = self.guard.enter()
        except CircuitOpenError as error:
            assert error.resource in str(error)
            return "blocked"
        ends = {"bad": Boom(), "ignored": Outcome.IGNORED, "good": None}
        assert entry.exit(ends.get(outcome), response_time=random.random() / 16)
        assert not entry.exit()
        return outcome if outcome in ends else "good"

    def block(self, outcome: str) -> None:
        with self.guard:
            if self.work(outcome) is Boom:
                raise Boom

    def left(self, _outcome: str) -> str:
        """A generator that is not read to its end, or an entry that is lost."""
        if random.random() < 0.5:
            iterator = self.items(3)
            try:
                next(iterator)
            except CircuitOpenError:
                return "blocked"
            return "cancelled"
        try:
            self.guard.enter()
        except CircuitOpenError:
            return "blocked"
        return "cancelled"

    def read(self, _outcome: str) -> str:
        try:
            return "good" if list(self.items(2)) else "never"
        except CircuitOpenError:
            return "blocked"

    def answered(self, outcome: str) -> str:
        answer = self.answering.call(self.work, outcome if outcome != "ignored" else "good")
        if isinstance(answer, CircuitOpenError):
            return "blocked"
        return "bad" if outcome in ("bad", "traced") else "good"

    def one(self, outcome: str) -> str:
        way = random.randrange(7)
        if way < 3:
            return self.called(
                (self.function, self.block, lambda o: self.guard.call(self.work, o))[way], outcome
            )
        return (self.by_hand, self.left, self.read, self.answered)[way - 3](outcome)

    async def tasks(self, counts: Counter[str]) -> None:
        """Coroutines, of which some are cancelled, and generators, of which some are left."""
        never = asyncio.Event()

        @self.guard
        async def work(number: int) -> None:
            begun.add(number)
            if number % 3 == 0:
                await never.wait()
            if number % 3 == 1:
                raise Boom

        @self.guard
        async def items() -> object:
            yield 1
            await never.wait()

        begun: set[int] = set()
        works = [asyncio.ensure_future(work(number)) for number in range(9)]
        await asyncio.sleep(0)
        left = items()
        try:
            await anext(left)
            counts["cancelled"] += 1
        except CircuitOpenError:
            counts["blocked"] += 1
        del left
        for number, task in enumerate(works):
            if number % 3 == 0:
                task.cancel()
        for number, result in enumerate(await asyncio.gather(*works, return_exceptions=True)):
            blocked = isinstance(result, CircuitOpenError)
            assert blocked or number in begun
            counts["blocked" if blocked else ("cancelled", "bad", "good")[number % 3]] += 1
