"""What a guarded call costs, beside other circuit breakers for Python, in one run.

    python python/benches/peers.py [--quick]

Each cell is the fastest of many short rounds, in ns for a call, and its ratio to that of Tripcoil. The rounds
of all libraries take turns, so that whatever else the machine does hits all alike.

- `closed`: a function that does nothing.
- `blocked`: the error of an open breaker, caught.
- `failing`: the function's own error, caught.

The first row is the function alone. The peers count errors in a row, as none of them has a window; Tripcoil
judges a ratio over ten buckets.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
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
    "tripcoil": of_tripcoil,
    "circuitbreaker": of_circuitbreaker,
    "pybreaker": of_pybreaker,
    "aiobreaker": of_aiobreaker,
    "purgatory": of_purgatory,
}
LATER: Makers = {
    "no breaker": bare,
    "tripcoil": of_tripcoil,
    "circuitbreaker": of_circuitbreaker,
    "aiobreaker": of_aiobreaker,
    "purgatory": of_purgatory_later,
}
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


Results = dict[str, dict[str, float]]


def measure_plain(rounds: int, timing: Callable[[Function, int], float], calls: int) -> Results:
    cases = {name: {case: plain_case(make, case) for case in CASES} for name, make in PLAIN.items()}
    results: Results = {name: dict.fromkeys(CASES, float("inf")) for name in cases}
    for _ in range(rounds):
        for name, of_case in cases.items():
            for case, call in of_case.items():
                results[name][case] = min(results[name][case], timing(call, calls))
    return results


async def measure_later(rounds: int, calls: int) -> Results:
    cases = {name: {case: await later_case(make, case) for case in CASES} for name, make in LATER.items()}
    results: Results = {name: dict.fromkeys(CASES, float("inf")) for name in cases}
    for _ in range(rounds):
        for name, of_case in cases.items():
            for case, call in of_case.items():
                results[name][case] = min(results[name][case], await timed_later(call, calls))
    return results


def show(title: str, results: Results) -> None:
    """A table, with ratios to Tripcoil's row."""
    ours = results["tripcoil"]
    print(f"\n{title}\n")
    print("| library | " + " | ".join(f"{case}, ns | ratio" for case in CASES) + " |")
    print("| --- " * (1 + 2 * len(CASES)) + "|")
    for name, row in results.items():
        cells = []
        for case in CASES:
            # A function without a breaker is never blocked.
            there = not (name == "no breaker" and case == "blocked")
            cells.append(f"{row[case]:.0f} | {row[case] / ours[case]:.2f}" if there else "- | -")
        print(f"| {name} | " + " | ".join(cells) + " |")


def main(rounds: int) -> None:
    """All tables."""
    gc.disable()
    print(f"{platform.python_implementation()} {platform.python_version()}, the fastest of {rounds} rounds")
    show("Plain functions, one thread", measure_plain(rounds, timed, 1000))
    show("Coroutine functions, awaited in one loop", asyncio.run(measure_later(rounds, 1000)))
    show(
        "Plain functions, two threads on one breaker",
        measure_plain(max(1, rounds // 10), timed_by_two, 20_000),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement")
    with contextlib.suppress(KeyboardInterrupt):
        main(5 if parser.parse_args().quick else 100)
