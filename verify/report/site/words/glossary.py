"""The symbols: a page of all of them, and what a symbol in a sentence says when it is pointed at."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from itertools import groupby

from markupsafe import Markup, escape

from spec.files import Frozen
from verify.report import wording

FILE = "pages/glossary.html"


class Symbol(Frozen):
    """A symbol as the paper writes it, its name in code and files, what it means, and where it belongs."""

    group: str
    paper: str
    code: str
    meaning: str


class Hover(Frozen):
    """A symbol in a sentence, and what it says when it is pointed at."""

    symbol: str
    means: str


class Symbols(Frozen):
    """All of them, in order."""

    symbol: tuple[Symbol, ...]
    hover: tuple[Hover, ...]


@lru_cache(maxsize=1)
def symbols() -> Symbols:
    """The table of ``docs/notation.md``."""
    text = (resources.files("verify.report.site.words") / "symbols.toml").read_text(encoding="utf-8")
    return Symbols.model_validate(tomllib.loads(text))


def grouped() -> list[tuple[str, list[Symbol]]]:
    """The symbols by where they belong."""
    return [(name, list(group)) for name, group in groupby(symbols().symbol, key=lambda symbol: symbol.group)]


@lru_cache(maxsize=1)
def _hovers() -> tuple[re.Pattern[str], Mapping[str, Markup]]:
    """What finds a symbol in set text outside of tags, and what takes its place."""
    known: dict[str, Markup] = {}
    for item in symbols().hover:
        shown = str(wording.typeset(item.symbol))
        known[shown] = Markup('<abbr class="sym" title="{}">{}</abbr>').format(item.means, Markup(shown))
    names = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return re.compile(rf"(<[^>]*>)|(?<![\w̃])({names})(?![\w̃])"), known


def explained(shown: Markup) -> Markup:
    """Set text whose symbols, each where it first stands, say what they mean when they are pointed at."""
    pattern, known = _hovers()
    seen: set[str] = set()

    def put(match: re.Match[str]) -> str:
        name = match[2]
        if name is None or name in seen:
            return match[0]
        seen.add(name)
        return str(known[name])

    return Markup(pattern.sub(put, str(escape(shown))))  # markup went in, constants were added
