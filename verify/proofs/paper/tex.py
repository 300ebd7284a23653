"""A TeX source as text that can be searched: comments and verbatim blanked, offsets and lines kept."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from spec.errors import InvalidInputError
from spec.files import read_text

MAX_BYTES = 1024 * 1024
"""Largest source read; a long paper has a third of it."""
_COMMENT = re.compile(r"\\[^\n]|%[^\n]*")
_VERBATIM = re.compile(r"\\begin\{(verbatim\*?|lstlisting|minted|comment)\}(.*?)\\end\{\1\}", re.S)
_VERB = re.compile(r"\\verb\*?([^A-Za-z\s*])[^\n]*?\1")
_IS_TEX = re.compile(r"\\(?:documentclass|begin|section|subsection|chapter|label|input)\b")
_BRACE = re.compile(r"\\[^\n]|[{}]")
_EDGE = re.compile(r"\\(begin|end)\s*\{([^{}\n]{1,60})\}")


@dataclass(frozen=True)
class Source:
    """A source, its comments and verbatim parts blanked so that every offset and line stays what it was."""

    text: str
    sha256: str

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line(self, offset: int) -> int:
        """Line of an offset, from 1."""
        return bisect_right(self._starts, offset)

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return len(self._starts)

    @cached_property
    def body(self) -> int:
        """Offset at which the document begins; 0 for a fragment."""
        match = re.search(r"\\begin\s*\{document\}", self.text)
        return match.end() if match else 0


def read_source(path: Path) -> Source:
    """Read a TeX file.

    Raises:
        InvalidInputError: If it cannot be read, is too large, no text, no TeX, or its braces or environments do not
            pair up.
    """
    return source_of(read_text(path, "FILE", MAX_BYTES), "FILE", str(path))


def source_of(text: str, argument: str = "FILE", name: str | None = None) -> Source:
    """A source given as text.

    Raises:
        InvalidInputError: If it is no TeX, or its braces or environments do not pair up.
    """
    if "\0" in text:
        raise InvalidInputError(argument, "must be text", name)
    sha256 = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    if not _IS_TEX.search(text):
        raise InvalidInputError(argument, "must be TeX: it has no \\begin, no \\section and no \\label", name)
    text = _COMMENT.sub(lambda match: _blank(match[0]) if match[0][0] == "%" else match[0], text)
    text = _VERB.sub(lambda match: _blank(match[0]), text)
    text = _VERBATIM.sub(lambda match: match[0].replace(match[2], _blank(match[2])) if match[2] else match[0], text)
    source = Source(text, sha256)
    _require_pairs(source, argument)
    return source


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _require_pairs(source: Source, argument: str) -> None:
    opened: list[int] = []
    for brace in _BRACE.finditer(source.text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}":
            if not opened:
                _refuse(source, argument, "closes no brace", brace.start(), "}")
            opened.pop()
    if opened:
        _refuse(source, argument, "is never closed", opened[-1], "{")
    begun: list[re.Match[str]] = []
    # Before the document begins, definitions may hold either half alone.
    for edge in _EDGE.finditer(source.text, source.body):
        if edge[1] == "begin":
            begun.append(edge)
        elif begun and begun[-1][2] == edge[2]:
            begun.pop()
        elif not (edge[2] == "document" and source.body and not begun):
            _refuse(source, argument, "closes no environment", edge.start(), edge[0])
    if begun:
        _refuse(source, argument, "is never closed", begun[-1].start(), begun[-1][0])


def _refuse(source: Source, argument: str, rule: str, offset: int, what: str) -> None:
    raise InvalidInputError(f"{argument}, line {source.line(offset)}", rule, what)


def braced(text: str, start: int) -> str | None:
    """What the brace opened at an offset holds; nothing if there is none."""
    if not text.startswith("{", start):
        return None
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return text[start + 1 : brace.start()]
    return None
