"""Each allocation of a scenario fails in turn, in a child of its own.

`library`: one that the native module makes itself, with failing_malloc.c preloaded: the process ends by
SIGABRT, as every Rust program without memory does. `interpreter`: one that Python makes, within the module
too: whatever is raised, afterwards nothing is lost, and the breaker works.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable

from tripcoil import CircuitOpenError, Outcome, Registry, Rule, VirtualClock

RULE = {
    "strategy": "error_count",
    "threshold": 4,
    "min_request_amount": 1,
    "retry_timeout": 1,
    "probe_timeout": 0,
}


class Boom(Exception):
    """A failure of the dependency."""


class World:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.registry = Registry(clock=self.clock)
        self.told = 0
        self.registry.observe(self.tell, name="test")
        self.guard = self.registry.breaker("stock", **RULE)
        self.answering = self.registry.breaker(
            "stock", fallback=lambda error: error, is_failure=lambda _: False
        )
        self.begun = 0

        @self.guard
        def items():
            self.begun += 1
            yield 1

        self.items = items
        self.function = self.guard(self.work)

    def tell(self, change) -> None:
        self.told += change.sequence

    def work(self, error=None):
        self.begun += 1
        if error is not None:
            raise error
        return 1

    def play(self) -> None:
        """As a probe, and while closed, in every way."""
        for probing in (False, True):
            for way in (
                self.function,
                self.guard.call,
                self.answered,
                self.entered,
                self.iterated,
                self.blocked,
                self.loaded,
            ):
                if probing:
                    self.trip()
                way(*[self.work] * (way == self.guard.call))

    def trip(self) -> None:
        self.guard.resource.reset()
        for _ in range(4):
            entry = self.guard.enter()
            self.begun += 1
            entry.exit(Outcome.BAD)
        self.clock.advance(1)

    def answered(self) -> None:
        self.answering.call(self.work, Boom())

    def entered(self) -> None:
        with self.guard.enter():
            self.begun += 1

    def iterated(self) -> None:
        assert list(self.items()) == [1]

    def blocked(self) -> None:
        self.guard.resource.set_mode("forced-open")
        try:
            self.guard.call(int)
        except CircuitOpenError as error:
            assert error.rule is not None and error.retry_after is None and str(error)
        self.guard.resource.set_mode("normal")

    def loaded(self) -> None:
        rules = [Rule("other", **RULE), Rule("a.*", regex=True, **RULE)]
        assert self.registry.load_rules(rules).rules == 2
        try:
            self.registry.load_rules('[{"resource": "b", "grade": 9}]')
        except ValueError as error:
            assert error.faults[0].field
        assert self.guard.resource.breakers[0].snapshot().totals

    def check(self) -> None:
        """Nothing is lost, stuck or torn."""
        (breaker,) = self.guard.resource.breakers
        totals = breaker.snapshot().totals
        assert totals.passed == totals.good + totals.bad + totals.ignored + totals.cancelled, totals
        assert totals.passed >= self.begun, (totals, self.begun)
        assert breaker.state.value != "half-open", totals
        self.guard.resource.set_mode("normal")
        self.trip()
        assert breaker.state.value == "open"
        assert self.function() == 1
        assert breaker.state.value == "closed"
        assert len(self.registry.rules) in (1, 3)


def child(body: Callable[[int], None], n: int) -> int:
    """Runs it with `n`, and gives its exit status, negative for a signal."""
    pid = os.fork()
    if pid == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.alarm(60)
            body(n)
            os._exit(0)
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def library() -> None:
    libc = ctypes.CDLL(None)
    os.environ["FAIL_IN"] = "_native"
    quiet = os.open(os.devnull, os.O_WRONLY)

    def play(n: int) -> None:
        world = World()
        os.dup2(quiet, 2)
        libc.fail_at(n)
        world.play()
        left = libc.fail_left()
        libc.fail_at(0)
        world.check()
        # So that the parent stops.
        os._exit(7 if left else 8)

    failed = 0
    while (status := child(play, failed + 1)) == -signal.SIGABRT:
        failed += 1
    assert status == 7, f"allocation {failed + 1} has failed: status {status}"
    assert failed > 20, failed
    print(f"python: each of {failed} allocations of the module has failed, and ended its process by SIGABRT")


def interpreter() -> None:
    try:
        import _testcapi
    except ImportError:
        print("python: NOT RUN, this interpreter cannot be made to run out of memory")
        return

    def play(n: int) -> None:
        world = World()
        world.trip()
        world.guard.resource.reset()
        _testcapi.set_nomemory(n, n + 1)
        try:
            world.play()
        except BaseException as error:
            raised = type(error)
        else:
            raised = None
        finally:
            _testcapi.remove_mem_hooks()
        world.check()
        os._exit(7 if raised is None else 0)

    tried = calm = raised = 0
    # Some failures are nobody's concern; the scenario is through when none of many is felt.
    while calm < 100:
        status = child(play, tried)
        assert status in (0, 7), f"allocation {tried}: status {status}"
        calm = calm + 1 if status == 7 else 0
        raised += status == 0
        tried += 1
    assert raised > 100, raised
    print(f"python: each of {tried} allocations of the interpreter has failed, {raised} raised, none lost")


{"library": library, "interpreter": interpreter}[sys.argv[1]]()
