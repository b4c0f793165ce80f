"""Rule documents and lists of rules, as they are handed to the native registry."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from . import _native
from ._native import Report, Rule

Source: TypeAlias = (
    str | bytes | bytearray | os.PathLike[str] | Mapping[str, Any] | Rule | Iterable[Mapping[str, Any] | Rule]
)
"""Rules: JSON text, a path to it, one rule or a list of them, as dicts of a document or as `Rule`s."""

# Where no registry has another limit.
_MAX_BYTES = 16 << 20
_PIECE = 1 << 20


def read_rules(source: Source) -> tuple[list[Rule], Report]:
    """Read rules as `load_rules` does, and load nothing.

    Returns the valid ones, and a report of what is wrong with the others.
    """
    return _native.read_rules(native(source))


def native(source: Source, max_bytes: int = _MAX_BYTES) -> bytes | str | list[Rule]:
    """What the native registry takes: a document, one that was made of dicts, or rules."""
    if isinstance(source, str):
        return source.encode(errors="surrogatepass") if _is_json(source) else _file(source, max_bytes)
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    if isinstance(source, os.PathLike):
        return _file(source, max_bytes)
    rules = [source] if isinstance(source, (Rule, Mapping)) else list(source)
    made = [rule for rule in rules if isinstance(rule, Rule)]
    if rules and len(made) == len(rules):
        return made
    return json.dumps([_fields(rule) for rule in rules])


def _file(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """A file's document, or so much of it that it is refused as too large, were it endless."""
    document = bytearray()
    with open(path, "rb") as file:
        # In pieces: Python would make room for as much as the limit allows, which may be more than there is.
        while len(document) <= max_bytes and (piece := file.read(_PIECE)):
            document += piece
    return bytes(document)


def _fields(rule: object) -> dict[str, object]:
    if isinstance(rule, Mapping):
        return {key: _plain(key, value) for key, value in rule.items()}
    other = "Rule objects" if isinstance(rule, Rule) else f"{rule!r:.60}"
    raise TypeError(f"rules must be all dicts or all Rule objects; among dicts there are {other}")


def maker(options: dict[str, Any]) -> Callable[[str], Rule]:
    """What makes the rule of a name, from options which are right or raise `InvalidRuleError` now."""
    Rule("*", **options)
    return lambda name: Rule(name, **options)


def _is_json(text: str) -> bool:
    """Whether a text is a document rather than a path: it is blank, or begins as a document does."""
    begin = text.lstrip("\ufeff \t\r\n")[:1]
    return begin in ("", "[", "{")


# The fields that are texts, or may be.
_TEXTS = ("resource", "limitApp", "id")
# No field takes more, and Python refuses to print much more.
_MAX_BITS = 4096


def _plain(field: str, value: object) -> object:
    """A field's value as JSON has it. What JSON cannot say becomes something that the library refuses."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, int) and value.bit_length() <= _MAX_BITS:
        return value
    shown = f"an int of {value.bit_length()} bits" if isinstance(value, int) else f"{value!r:.60}"
    return [shown] if field in _TEXTS else shown


def _rule(resource: str, options: dict[str, Any]) -> Rule:
    """Unpickle a rule."""
    return Rule(resource, **options)
