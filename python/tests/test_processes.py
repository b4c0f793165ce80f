"""Whole processes: fork, exit, sub-interpreters, modules imported again."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading

import pytest
from conftest import Boom, boom, state, totals, trip

import tripcoil
from tripcoil import Change, Guard, Registry, State


def run(program: str, *, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    code = textwrap.dedent(program)
    return subprocess.run(
        [sys.executable, "-X", "dev", "-c", code],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def assert_silent(result: subprocess.CompletedProcess[str], output: str = "") -> None:
    assert (result.returncode, result.stdout, result.stderr) == (0, output, "")


def in_child(guard: Guard) -> bool:
    """What a child does with its copy of a breaker."""
    for _ in range(1000):
        guard.call(int)
    guard.resource.reset()
    trip(guard)
    return state(guard.resource) is State.OPEN


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
forks = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@needs_fork
@forks
def test_forks_while_four_threads_call(registry: Registry, guard: Guard) -> None:
    stop = threading.Event()
    other = registry.breaker("other")

    def call() -> None:
        while not stop.is_set():
            other.call(int)
            registry.resource("stock")
            registry.load_resource_rules("price", [])

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                os._exit(0 if in_child(guard) else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert state(guard.resource) is State.CLOSED, "the children had copies of their own"
    assert totals(guard.resource).passed == 0


@needs_fork
@forks
def test_a_child_hears_of_a_breaker_that_another_thread_was_hearing_of(
    registry: Registry, guard: Guard
) -> None:
    heard: list[State] = []
    hearing, forked = threading.Event(), threading.Event()

    def observe(change: Change) -> None:
        heard.append(change.to_state)
        if threading.current_thread() is not threading.main_thread():
            hearing.set()
            forked.wait()

    registry.observe(observe)
    thread = threading.Thread(target=trip, args=(guard,))
    thread.start()
    hearing.wait()
    child = os.fork()
    if child == 0:
        guard.resource.reset()
        os._exit(0 if heard == [State.OPEN, State.CLOSED] else 1)
    forked.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert heard == [State.OPEN]


def count_in_worker(number: int) -> int:
    guard = tripcoil.breaker(
        "worker", strategy="error_count", threshold=3, retry_timeout=10, min_request_amount=1
    )
    try:
        guard.call(boom)
    except Boom:
        return number
    raise AssertionError


@forks
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_multiprocessing(method: str) -> None:
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(count_in_worker, range(2), chunksize=1) == [0, 1]


def test_daemon_threads_that_call_at_exit() -> None:
    result = run("""
        import threading, tripcoil
        guard = tripcoil.breaker("stock", strategy="error_ratio", threshold=0.5, retry_timeout=0.001)
        tripcoil.observe(lambda change: None)
        begun = threading.Barrier(5)

        @guard
        def call():
            if threading.get_ident() % 2:
                raise ValueError

        def work():
            begun.wait()
            while True:
                try:
                    call()
                except (ValueError, tripcoil.CircuitOpenError):
                    pass

        def hang():
            with guard.enter():
                begun.wait()
                threading.Event().wait()

        for target in (work, work, work, hang):
            threading.Thread(target=target, daemon=True).start()
        begun.wait()
    """)
    assert_silent(result)


def test_ten_thousand_idle_breakers_keep_no_process_alive() -> None:
    result = run("""
        import threading, tripcoil
        options = dict(strategy="error_ratio", threshold=0.5, retry_timeout=1000)
        tripcoil.load_default_rules(tripcoil.Rule("*", **options))
        entries = [tripcoil.resource(str(number)).enter() for number in range(10_000)]
        assert threading.active_count() == 1
        with open("/proc/self/status") as status:
            print(*(line.split()[1] for line in status if line.startswith("Threads:")))
    """)
    assert_silent(result, "1\n")


def test_an_observer_at_exit_is_no_harm() -> None:
    result = run("""
        import tripcoil
        guard = tripcoil.breaker(
            "stock", strategy="error_count", threshold=1, min_request_amount=1, retry_timeout=1
        )
        tripcoil.observe(lambda change: None)
        entry = guard.enter()
        class Last:
            def __del__(self):
                guard.resource.set_mode("disabled")
                guard.enter()
        last = Last()
    """)
    assert_silent(result)


def test_importing_again_is_harmless() -> None:
    result = run("""
        import importlib, sys
        import tripcoil
        before = tripcoil
        first = tripcoil.default_registry
        first.breaker("stock", strategy="error_count", threshold=1, retry_timeout=1)
        first.resource("stock").set_mode("forced-open")
        try:
            first.breaker("stock").call(int)
        except tripcoil.CircuitOpenError:
            pass
        importlib.reload(tripcoil)
        for name in [name for name in sys.modules if name.startswith("tripcoil")]:
            del sys.modules[name]
        import tripcoil
        assert tripcoil.default_registry is not first
        guard = tripcoil.breaker(
            "stock", strategy="error_count", threshold=1, min_request_amount=1, retry_timeout=1
        )
        try:
            guard.call(int, "x")
        except ValueError:
            pass
        try:
            guard.call(int)
        except tripcoil.CircuitOpenError as error:
            print(error.state is tripcoil.State.OPEN, isinstance(error, before.CircuitOpenError))
    """)
    assert_silent(result, "True True\n")


@pytest.mark.parametrize("main_is_first", [True, False])
def test_a_sub_interpreter_says_cleanly_that_it_cannot(main_is_first: bool) -> None:
    result = run(f"""
        import textwrap
        if {main_is_first}:
            import tripcoil
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        code = textwrap.dedent('''
        for _ in range(2):
            try:
                import tripcoil
            except ImportError as error:
                assert "main interpreter" in str(error), error
            else:
                raise AssertionError
        ''')
        for config in ([], ["legacy"]) if hasattr(interpreters, "new_config") else ([],):
            made = interpreters.create(*config)
            assert not interpreters.run_string(made, code)
            interpreters.destroy(made)
        import tripcoil
        guard = tripcoil.breaker("stock", strategy="error_count", threshold=1, retry_timeout=1)
        guard.resource.set_mode("forced-open")
        try:
            guard.call(int)
        except tripcoil.CircuitOpenError as error:
            print(error.mode)
    """)
    assert (result.returncode, result.stdout) == (0, "forced-open\n"), result.stderr


def test_the_package_needs_nothing_to_be_imported() -> None:
    result = run("""
        import sys, tripcoil
        loaded = {"httpx", "requests", "aiohttp", "trio", "pytest", "anyio"} & set(sys.modules)
        assert not loaded, loaded
    """)
    assert_silent(result)
