"""A strict reader of the plainest YAML: mappings, lists of these, one-line scalars and literal blocks.

What it reads, every YAML reader reads alike; all else is refused. Scalars are strings.
"""

from __future__ import annotations

import json
import re
from typing import Any

_KEY = re.compile(r"([A-Za-z][\w -]*):(?: (.*))?")
_DOUBTFUL = re.compile(r"[\[\]{}&*!|>%@`'\"#?-]|.*(: | #)|.*:$")
"""Beginnings and contents with a meaning of their own, in a scalar without quotes."""


def read(text: str) -> dict[str, Any]:
    """A document as mappings, lists and strings; raises ``ValueError`` for whatever is not so plain."""
    if "\t" in text:
        raise ValueError("a tab")
    lines = text.splitlines()
    found, end = _mapping(lines, 0, 0)
    if end < len(lines):
        raise ValueError(f"line {end + 1}: {lines[end]!r}")
    return found


def _mapping(lines: list[str], start: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    k = start
    while (k := _next(lines, k)) < len(lines) and _depth(lines[k]) == depth and not lines[k].lstrip().startswith("- "):
        match = _KEY.fullmatch(lines[k].strip())
        if match is None or match[1] in found:
            raise ValueError(f"line {k + 1}: {lines[k]!r}")
        found[match[1]], k = _value(lines, k, depth, match[2] or "")
    return found, k


def _value(lines: list[str], k: int, depth: int, written: str) -> tuple[Any, int]:
    if written == "|":
        block = []
        k += 1
        while k < len(lines) and (not lines[k].strip() or _depth(lines[k]) >= depth + 2):
            block.append(lines[k][depth + 2 :])
            k += 1
        return "\n".join(block).rstrip("\n") + "\n", k
    if written:
        return _scalar(written, k), k + 1
    below = _next(lines, k + 1)
    if below == len(lines) or _depth(lines[below]) != depth + 2:
        raise ValueError(f"line {k + 1}: nothing below, or not two spaces deeper")
    if not lines[below].lstrip().startswith("- "):
        return _mapping(lines, below, depth + 2)
    items: list[Any] = []
    while below < len(lines) and _depth(lines[below]) == depth + 2 and lines[below].lstrip().startswith("- "):
        own = [*lines]
        own[below] = " " * (depth + 4) + lines[below].lstrip()[2:]
        if _KEY.fullmatch(own[below].strip()):
            item, below = _mapping(own, below, depth + 4)
            items.append(item)
        else:
            items.append(_scalar(own[below].strip(), below))
            below += 1
        below = _next(lines, below)
    return items, below


def _scalar(written: str, k: int) -> str:
    if written.startswith('"'):
        value = json.loads(written)
        assert isinstance(value, str)
        return value
    if written.startswith("${{") and written.endswith("}}"):
        return written
    if _DOUBTFUL.match(written):
        raise ValueError(f"line {k + 1}: a scalar that needs quotes, {written!r}")
    return written


def _next(lines: list[str], k: int) -> int:
    while k < len(lines) and (not lines[k].strip() or lines[k].lstrip().startswith("#")):
        k += 1
    return k


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
