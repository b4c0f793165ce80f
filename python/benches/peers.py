"""What a guarded call costs, beside other circuit breakers for Python, in one run.

    python python/benches/peers.py [--quick] [--json]

Each cell is the fastest of many short rounds, in ns for a call, and its ratio to that of Tripcoil. The rounds
of all libraries take turns, so that whatever else the machine does hits all alike. With `--json`, every round
is told, on one line.

- `closed`: a function that does nothing.
- `blocked`: the error of an open breaker, caught.
- `failing`: the function's own error, caught.

The first rows are the function alone, and the function in a wrapper that does nothing: of Python, and, for
plain functions, of C. The peers count errors in a row, as none of them has a window; Tripcoil
judges a ratio over ten buckets.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import gc
import json
import platform
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import aiobreaker
import circuitbreaker
import purgatory
import pybreaker

import tripcoil

NEVER = 10**9
HOUR = 3600
Function = Callable[[], Any]
Decorator = Callable[[Function], Function]


class Failure(Exception):
    """What the guarded function raises."""


def nothing() -> None: ...


async def nothing_later() -> None: ...


def fail() -> None:
    raise Failure


async def fail_later() -> None:
    raise Failure


def bare(fails_after: int) -> Decorator:
    del fails_after
    return lambda function: function


def in_python(fails_after: int) -> Decorator:
    """A wrapper of a plain function that does nothing."""
    del fails_after

    def decorate(function: Function) -> Function:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    return decorate


def in_python_later(fails_after: int) -> Decorator:
    """A wrapper of a coroutine function that does nothing."""
    del fails_after

    def decorate(function: Function) -> Function:
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await function(*args, **kwargs)

        return wrapper

    return decorate


def in_c(fails_after: int) -> Decorator:
    """A callable of C that does nothing of its own."""
    del fails_after
    return functools.partial


def of_tripcoil(fails_after: int) -> Decorator:
    return tripcoil.Registry().breaker(
        "bench",
        strategy="error_ratio",
        threshold=0.5,
        min_request_amount=fails_after,
        stat_interval=10,
        stat_sliding_window_bucket_count=10,
        retry_timeout=HOUR,
    )


def of_circuitbreaker(fails_after: int) -> Decorator:
    return circuitbreaker.circuit(failure_threshold=fails_after, recovery_timeout=HOUR, name=str(object()))


def of_pybreaker(fails_after: int) -> Decorator:
    return pybreaker.CircuitBreaker(fail_max=fails_after, reset_timeout=HOUR)


def of_aiobreaker(fails_after: int) -> Decorator:
    return aiobreaker.CircuitBreaker(fail_max=fails_after, timeout_duration=timedelta(hours=1))


def of_purgatory(fails_after: int) -> Decorator:
    return purgatory.SyncCircuitBreakerFactory(default_threshold=fails_after, default_ttl=HOUR)("bench")


def of_purgatory_later(fails_after: int) -> Decorator:
    return purgatory.AsyncCircuitBreakerFactory(default_threshold=fails_after, default_ttl=HOUR)("bench")


Makers = dict[str, Callable[[int], Decorator]]
PLAIN: Makers = {
    "no breaker": bare,
    "wrapper in C": in_c,
    "wrapper in Python": in_python,
    "tripcoil": of_tripcoil,
    "circuitbreaker": of_circuitbreaker,
    "pybreaker": of_pybreaker,
    "aiobreaker": of_aiobreaker,
    "purgatory": of_purgatory,
}
LATER: Makers = {
    "no breaker": bare,
    "wrapper in Python": in_python_later,
    "tripcoil": of_tripcoil,
    "circuitbreaker": of_circuitbreaker,
    "aiobreaker": of_aiobreaker,
    "purgatory": of_purgatory_later,
}
FLOORS = ("no breaker", "wrapper in C", "wrapper in Python")
CASES = ("closed", "blocked", "failing")


def catching(function: Function) -> Function:
    def call() -> None:
        try:  # noqa: SIM105
            function()
        except Exception:
            pass

    return call


def catching_later(function: Callable[[], Awaitable[Any]]) -> Function:
    async def call() -> None:
        try:  # noqa: SIM105
            await function()
        except Exception:
            pass

    return call


def plain_case(make: Callable[[int], Decorator], case: str) -> Function:
    """A call of a plain function."""
    if case == "closed":
        return make(NEVER)(nothing)
    call = catching(make(1 if case == "blocked" else NEVER)(fail))
    call()
    return call


async def later_case(make: Callable[[int], Decorator], case: str) -> Function:
    """A call of a coroutine function."""
    if case == "closed":
        return make(NEVER)(nothing_later)
    call = catching_later(make(1 if case == "blocked" else NEVER)(fail_later))
    await call()
    return call


def timed(call: Function, calls: int) -> float:
    """The time of one of so many calls, in ns. The loop's own is some 5 ns of it."""
    began = time.perf_counter_ns()
    for _ in range(calls):
        call()
    return (time.perf_counter_ns() - began) / calls


async def timed_later(call: Function, calls: int) -> float:
    began = time.perf_counter_ns()
    for _ in range(calls):
        await call()
    return (time.perf_counter_ns() - began) / calls


def timed_by_two(call: Function, calls: int) -> float:
    """As each of two threads sees it that share a breaker. With a GIL, twice the time of one is the ideal."""
    results: list[float] = []
    barrier = threading.Barrier(2)

    def run() -> None:
        barrier.wait()
        results.append(timed(call, calls))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(results)


Results = dict[str, dict[str, list[float]]]


def measure_plain(rounds: int, timing: Callable[[Function, int], float], calls: int) -> Results:
    cases = {name: {case: plain_case(make, case) for case in CASES} for name, make in PLAIN.items()}
    results: Results = {name: {case: [] for case in CASES} for name in cases}
    for _ in range(rounds):
        for name, of_case in cases.items():
            for case, call in of_case.items():
                results[name][case].append(timing(call, calls))
    return results


async def measure_later(rounds: int, calls: int) -> Results:
    cases = {name: {case: await later_case(make, case) for case in CASES} for name, make in LATER.items()}
    results: Results = {name: {case: [] for case in CASES} for name in cases}
    for _ in range(rounds):
        for name, of_case in cases.items():
            for case, call in of_case.items():
                results[name][case].append(await timed_later(call, calls))
    return results


def is_of_use(name: str, case: str) -> bool:
    """Whether there is such a case: a function without a breaker is never blocked."""
    return not (name in FLOORS and case == "blocked")


def show(title: str, results: Results) -> None:
    """A table, with ratios to Tripcoil's row."""
    print(f"\n{title}\n")
    print("| library | " + " | ".join(f"{case}, ns | ratio" for case in CASES) + " |")
    print("| --- " * (1 + 2 * len(CASES)) + "|")
    for name, row in results.items():
        cells = []
        for case in CASES:
            best, ours = min(row[case]), min(results["tripcoil"][case])
            cells.append(f"{best:.0f} | {best / ours:.2f}" if is_of_use(name, case) else "- | -")
        print(f"| {name} | " + " | ".join(cells) + " |")


def main(rounds: int, as_json: bool) -> None:
    """All tables."""
    gc.disable()
    interpreter = f"{platform.python_implementation()} {platform.python_version()}"
    tables = {
        "Plain functions, one thread": measure_plain(rounds, timed, 1000),
        "Coroutine functions, awaited in one loop": asyncio.run(measure_later(rounds, 1000)),
        "Plain functions, two threads on one breaker": measure_plain(
            max(1, rounds // 10), timed_by_two, 20_000
        ),
    }
    if as_json:
        kinds = dict(zip(tables, ("sync", "async", "two threads"), strict=True))
        samples = {
            f"python {kinds[title]}, {case}/{name}": row[case]
            for title, results in tables.items()
            for name, row in results.items()
            for case in CASES
            if is_of_use(name, case)
        }
        print(json.dumps({"interpreter": interpreter, "samples": samples}))
        return
    print(f"{interpreter}, the fastest of {rounds} rounds")
    for title, results in tables.items():
        show(title, results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement")
    parser.add_argument("--json", action="store_true", help="every round, on one line")
    arguments = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        main(5 if arguments.quick else 100, arguments.json)
