"""Which interpreter the package is imported in, and what has to be the same when it is imported again."""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType
from typing import Any


def refuse_sub_interpreters() -> None:
    """Raise `ImportError` in a sub-interpreter: the native module's classes are the main interpreter's."""
    interpreters: Any = None
    for name in ("_interpreters", "_xxsubinterpreters"):
        with contextlib.suppress(ImportError):
            interpreters = __import__(name)
            break
    # A Python without the one and the other cannot make sub-interpreters itself.
    if interpreters is not None and interpreters.get_current() != interpreters.get_main():
        raise ImportError(
            "tripcoil works in the main interpreter only, and this is a sub-interpreter"
            " (under mod_wsgi: set WSGIApplicationGroup to %{GLOBAL})"
        )


# Those whose classes and functions the native module knows.
_KNOWN = ("tripcoil._enums", "tripcoil._errors", "tripcoil._shells", "tripcoil._trace", "tripcoil._rules")


def restore(modules: dict[str, ModuleType]) -> None:
    """Put the modules that the native one knows back in their places, where there are any."""
    for name, module in modules.items():
        sys.modules.setdefault(name, module)


def keep(modules: dict[str, ModuleType]) -> None:
    """Keep the modules that the native one knows."""
    modules.update((name, sys.modules[name]) for name in _KNOWN)
