"""What a reader can search for on all pages at once: each page's passages by address, as a script that loads anywhere.

A page opened from a disk may load a script beside it and nothing else, so the index is one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import groupby
from typing import Any

from spec.formulas.powers import superscript
from verify.report.site.frame import APART, FOLDER, MARK, Page

INDEX = f"{FOLDER}search-index.js"
HEADINGS = ("h1", "h2", "h3")
_UNREAD = re.compile(r"<(script|style|svg|math|pre|form|button|nav|footer)\b.*?</\1>", re.S)
"""Elements without words to search for: what kernels print and drawings say is said in words beside them."""
INLINE = ("a", "abbr", "b", "i", "em", "sub", "code", "mark")
"""Elements within a line, whose words touch those beside them."""
_RAISED = re.compile(r"<sup>([^<]*)</sup>")
_BETWEEN = re.compile(r"(?<=[.;:,]) ")
SHORTEST = 12
"""Characters of a part that is worth a number."""
VOID = ("br", "hr", "img", "input", "meta", "link", "path", "circle", "col")
UNSEARCHED = (f"{FOLDER}matrix.html",)
"""Pages whose every row leads to another page, which has it; so do those that end in :data:`~frame.APART`."""


@dataclass
class IndexedPassage:
    """What stands between one address and the next: the address in its page, its heading, its words."""

    anchor: str
    title: str = ""
    words: list[str] = field(default_factory=list)


class _Passages(HTMLParser):
    """A page's body in passages: one for each heading, step, cause, assertion and titled item with an address."""

    def __init__(self) -> None:
        super().__init__()
        self.found = [IndexedPassage("")]
        self._open: list[str] = []
        self._left_out = 0
        self._titling: int | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element; one with an address of its own begins a passage."""
        if tag in VOID:
            return
        known = dict(attrs)
        self._open.append(tag)
        classes = (known.get("class") or "").split()
        if self._left_out or "unseen" in classes or (tag, "reading") in ((tag, c) for c in classes):
            self._left_out += 1
            return
        heads = tag in HEADINGS
        if heads or (known.get("id") and (tag in ("details", "section", "li", "div") or "para" in classes)):
            self.found.append(IndexedPassage(known.get("id") or self.found[-1].anchor))
        self._space(tag, classes)
        if (heads or "t" in classes or "ev-id" in classes) and not self.found[-1].title and self._titling is None:
            self._titling = len(self._open)

    def handle_endtag(self, tag: str) -> None:
        """Close it."""
        if tag in VOID or tag not in self._open:
            return
        while self._open:
            closed = self._open.pop()
            self._space(closed)
            if self._left_out:
                self._left_out -= 1
            if self._titling is not None and len(self._open) < self._titling:
                self._titling = None
            if closed == tag:
                return

    def _space(self, tag: str, classes: Sequence[str] = ()) -> None:
        """Where an element that is no part of a line begins or ends."""
        if tag not in INLINE or "num" in classes or "rung" in classes or "fit" in classes:
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        """Words, of the title while one is open."""
        if self._left_out:
            return
        if self._titling is not None:
            self.found[-1].title += data
        else:
            self.found[-1].words.append(data)


def passages(page: Page) -> list[IndexedPassage]:
    """The passages of a page that say something."""
    reader = _Passages()
    text = _RAISED.sub(lambda match: superscript(match[1].replace("−", "-")), _UNREAD.sub(" ", str(page.body)))
    reader.feed(text)
    reader.close()
    for one in reader.found:
        one.title = " ".join(one.title.split())
        one.words = "".join(one.words).split()
    return [one for one in reader.found if one.words or one.title]


def index_script(pages: Iterable[Page]) -> str:
    """``window.f2csaIndex``: of each page its file, its title, and its passages as address, heading and words.

    The words come in parts, to be joined by spaces; a number stands for a part of ``window.f2csaSaid``, where what
    passages have in common is said once.
    """
    read = [
        (page, [(one, _BETWEEN.split(" ".join(one.words))) for one in passages(page)])
        for page in pages if page.file not in UNSEARCHED and not page.file.endswith(APART)
    ]  # fmt: skip
    times = Counter(part for _, page_passages in read for _, parts in page_passages for part in parts)
    repeated = [part for part, count in times.most_common() if count > 1 and len(part) >= SHORTEST]
    numbers = {part: number for number, part in enumerate(repeated)}
    entries = [
        [page.file, page.title, [[one.anchor, one.title, *_numbered(parts, numbers)] for one, parts in page_passages]]
        for page, page_passages in read
    ]
    return f"{MARK}\nwindow.f2csaSaid={_as_script(repeated)};\nwindow.f2csaIndex={_as_script(entries)};\n"


def _numbered(parts: Sequence[str], numbers: Mapping[str, int]) -> Iterator[str | int]:
    """Parts of a text, those that have a number by it, the others between them as one."""
    for number, some in groupby(parts, numbers.get):
        held = [*some]
        yield from [" ".join(held)] if number is None else [number] * len(held)


def _as_script(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
