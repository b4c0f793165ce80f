"""Daemon threads that are within the library when the process ends: it ends, and with status 0.

Before Python 3.14 such a thread is ended by unwinding its stack when it wants the interpreter back. `nap` is
where it gives it up; each case is a way from the library into it.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

PROGRAM = '''
import asyncio, sys, threading, time
import tripcoil
from tripcoil import Registry, breaker, trace

def nap(*_args):
    time.sleep(0.001)
    return "stock"

def boom(*_args):
    raise OSError

def good():
    return 1

def forced(**options):
    guard = breaker("forced", **options)
    guard.resource.set_mode("forced-open")
    return guard

class Slow:
    """Every question to it takes its time."""
    def __call__(self): pass
    def __bool__(self): return bool(nap())
    def __repr__(self): return nap()
    def __index__(self): return len(nap())
    def __float__(self): return float(len(nap()))
    def __getattr__(self, name): raise AttributeError(nap())

class Meta(type(Exception)):
    def __instancecheck__(self, error): return not nap()

class Abstract(Exception, metaclass=Meta): pass

class Finalized:
    def __del__(self): nap()

def boom_with_local():
    local = Finalized()
    raise OSError

def observed(observer):
    registry = Registry()
    guard = registry.breaker("stock", strategy="error_count", threshold=1, retry_timeout=1)
    registry.observe(observer)
    return guard.resource.reset

def unraisable():
    sys.unraisablehook = nap
    return observed(boom)

async def later():
    await asyncio.sleep(0.001)

def awaited(function):
    return lambda: asyncio.run(function())

def block():
    with breaker("stock", ignore=nap):
        trace(ValueError())

def rule():
    tripcoil.Rule("stock", strategy="error_ratio", threshold=Slow(), probe_num=Slow(), retry_timeout=1)

OPTIONS = dict(strategy="error_ratio", threshold=0.5, retry_timeout=0.001)
slow = breaker("slow")(Slow())
cases = {
    "call": lambda: breaker("stock")(nap),
    "fallback": lambda: breaker("stock", fallback=nap)(boom),
    "on_blocked": lambda: forced(on_blocked=nap)(good),
    "call_blocked": lambda: lambda guard=forced(on_blocked=nap): guard.call(good),
    "is_failure": lambda: breaker("stock", is_failure=nap)(good),
    "truth": lambda: breaker("stock", is_failure=lambda _: Slow())(good),
    "record": lambda: breaker("stock", record=nap)(boom),
    "ignore": lambda: breaker("stock", ignore=nap)(boom),
    "instance_check": lambda: breaker("stock", ignore=Abstract)(boom),
    "resource": lambda: breaker(resource=nap)(good),
    "resource_with_rule": lambda: breaker(resource=nap, **OPTIONS)(good),
    "trace": lambda: breaker("stock", ignore=nap)(lambda: trace(ValueError())),
    "block": lambda: block,
    "observer": lambda: observed(nap),
    "unraisable": unraisable,
    "finalizer": lambda: breaker("stock", fallback=1)(boom_with_local),
    "coroutine": lambda: awaited(breaker("stock", is_failure=nap)(later)),
    "plain_coroutine": lambda: awaited(breaker("stock", is_failure=nap)(lambda: later())),
    "attribute": lambda: lambda: hasattr(slow, "unknown"),
    "repr": lambda: lambda: repr(slow),
    "number": lambda: rule,
}

def work(case):
    begun.wait()
    while True:
        try:
            case()
        except Exception:
            pass

begun = threading.Barrier(4)
case = cases[sys.argv[1]]()
for _ in range(3):
    threading.Thread(target=work, args=[case], daemon=True).start()
begun.wait()
time.sleep(0.02)
'''
CASES = re.findall(r'^    "(\w+)": ', PROGRAM, re.MULTILINE)


@pytest.mark.parametrize("case", CASES)
def test_daemon_thread_at_exit(case: str) -> None:
    for _ in range(2):
        result = subprocess.run(
            [sys.executable, "-c", PROGRAM, case], capture_output=True, text=True, timeout=60, check=False
        )
        assert (result.returncode, result.stderr) == (0, "")
