"""Rule files that cannot be read, or are none: a clear error, and the rules stay as they were."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tripcoil import InvalidRuleError, Registry

RULE = {"resource": "stock", "grade": 2, "count": 3, "timeWindow": 1}


@pytest.fixture
def loaded(registry: Registry) -> Iterator[Registry]:
    """A registry whose rules are found unchanged."""
    registry.load_rules([RULE])
    (before,) = registry.rules
    yield registry
    assert registry.rules == [before]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps([RULE]))
    return path


def test_a_file_that_is_not_there(loaded: Registry, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        loaded.load_rules(tmp_path / "none.json")


def test_a_directory(loaded: Registry, tmp_path: Path) -> None:
    with pytest.raises((IsADirectoryError, PermissionError), match=str(tmp_path.name)):
        loaded.load_rules(tmp_path)


def test_a_file_without_permission(loaded: Registry, file: Path) -> None:
    file.chmod(0)
    # To root, nothing is forbidden.
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError, match=r"rules\.json"):
            loaded.load_rules(file)
    finally:
        if was_root:
            os.seteuid(0)


@pytest.mark.parametrize("length", range(0, 64, 7))
def test_a_file_that_is_cut_short(length: int, loaded: Registry, file: Path) -> None:
    assert length < file.stat().st_size
    os.truncate(file, length)
    with pytest.raises(InvalidRuleError):
        loaded.load_rules(file)


def test_a_file_that_is_too_large_is_not_read_to_its_end(loaded: Registry, file: Path) -> None:
    # Of holes: it takes no place on the disk, but would in memory.
    os.truncate(file, 1 << 40)
    with pytest.raises(InvalidRuleError, match="more than 16777216 bytes"):
        loaded.load_rules(file)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no endless file on this system")
def test_an_endless_file(loaded: Registry) -> None:
    with pytest.raises(InvalidRuleError, match="more than 16777216 bytes"):
        loaded.load_rules("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs on this system")
def test_a_fifo_is_read_until_it_is_closed(loaded: Registry, tmp_path: Path, file: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(file.read_bytes()))
    writer.start()
    assert loaded.load_rules(fifo).rules == 1
    writer.join()


def test_a_file_that_is_replaced_is_read_as_one_or_the_other(registry: Registry, file: Path) -> None:
    documents = [json.dumps([{**RULE, "count": count}]) for count in (3, 4)]
    stop = threading.Event()

    def replace() -> None:
        for number in range(10_000):
            fresh = file.with_suffix(f".{number % 2}")
            fresh.write_text(documents[number % 2])
            fresh.replace(file)
            if stop.is_set():
                break

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        for _ in range(200):
            registry.load_rules(file)
            assert registry.rules[0].threshold in (3, 4)
    finally:
        stop.set()
        writer.join()


def test_without_file_descriptors(loaded: Registry, file: Path) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = (
        max(int(number) for number in os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 64
    )
    kept = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 4, hard))
        with pytest.raises(OSError, match="Too many open files"):
            while True:
                kept.append(os.open(os.devnull, os.O_RDONLY))
        with pytest.raises(OSError, match=r"Too many open files.*rules\.json"):
            loaded.load_rules(file)
        loaded.breaker("stock").call(int)
    finally:
        for descriptor in kept:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert loaded.load_rules(file).rules == 1
