"""Where things stand in a source: environments, statements with their proofs, sections, formulas."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, takewhile
from typing import TypeVar

from verify.proofs.paper.symbols import plain
from verify.proofs.paper.tex import Source, braced

THEOREM_LIKE = (
    "theorem", "lemma", "corollary", "proposition", "definition", "assumption", "remark", "claim", "conjecture",
    "hypothesis", "fact", "observation", "example", "condition", "property",
)  # fmt: skip
"""Environments that no class of LaTeX's own brings along."""
_DISPLAYED = r"(?:equation|align|gather|multline|eqnarray|displaymath|flalign|aligned|split|gathered)\*?"
_EDGE = re.compile(r"\\(begin|end)\s*\{([^{}\n]{1,60})\}")
_DELIMITER = re.compile(
    rf"\\\\|\\\$|\$\$|\$|\\[\[\]()]|\\(?:begin|end)\s*\{{{_DISPLAYED}\}}|\n[ \t]*\n"
)  # fmt: skip
_CLOSED_BY = {"$": "$", "$$": "$$", "\\[": "\\]", "\\(": "\\)"}
_HEADING = re.compile(r"\\(?:chapter|(?:sub){0,2}section|paragraph)\*?\s*(?=\{)")
_MACRO = re.compile(r"\\(?:re)?newcommand\*?\s*\{?\\([A-Za-z]+)\}?\s*(?=\{)")
_LABEL = re.compile(r"\\label\s*\{([^{}\n]{1,100})\}")
LONGEST_FORMULA = 8000
"""Characters of a formula; what is longer is left unread."""
_SKETCH = re.compile(r"\\(?:emph|textit|textbf)\{Proof[^{}\n]{0,40}\}|\\begin\s*\{proof\}")
_RESTATED = re.compile(r"\\([A-Za-z]+)\*\s*\Z")


@dataclass(frozen=True)
class Formula:
    """A formula: where it stands, its TeX, and the same in plain characters; ``displayed`` if it has its own lines."""

    start: int
    stop: int
    tex: str
    plain: str
    displayed: bool


@dataclass(frozen=True)
class Span:
    """An environment from ``start`` to ``stop``; ``key`` names it, ``macro`` is what restates it."""

    name: str
    start: int
    stop: int
    title: str = ""
    macro: str = ""
    key: str = ""


@dataclass(frozen=True)
class Heading:
    """A heading and where its text ends."""

    text: str
    start: int
    stop: int


@dataclass(frozen=True)
class Document:
    """A source with its parts."""

    source: Source
    macros: dict[str, str] = field(default_factory=dict)

    @cached_property
    def text(self) -> str:
        return self.source.text

    @cached_property
    def labels(self) -> tuple[tuple[str, int], ...]:
        """Every label, with its offset."""
        return tuple((match[1], match.start()) for match in _LABEL.finditer(self.text, self.source.body))

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """Every environment, in the order in which they begin."""
        begun: list[re.Match[str]] = []
        spans = []
        for edge in _EDGE.finditer(self.text, self.source.body):
            if edge[1] == "begin":
                begun.append(edge)
            elif begun:
                spans.append(self._span(begun.pop(), edge.end()))
        return tuple(sorted(spans, key=lambda span: span.start))

    def _span(self, edge: re.Match[str], stop: int) -> Span:
        name, title, macro, at = edge[2], "", "", edge.end()
        option = re.compile(r"\s*\[([^\[\]]{0,200})\]").match(self.text, at)
        if option:
            title, at = option[1], option.end()
        if name == "restatable":
            named = re.compile(r"\s*\{([^{}]{1,60})\}\s*\{([^{}]{1,60})\}").match(self.text, at)
            if named:
                name, macro = named[1], named[2]
        first = bisect_left(self.labels, edge.end(), key=lambda label: label[1])
        inside = self.labels[first][0] if first < len(self.labels) and self.labels[first][1] < stop else ""
        statement = name.rstrip("*") in (*THEOREM_LIKE, "algorithm")
        key = inside or f"{name} at line {self.source.line(edge.start())}"
        return Span(name.rstrip("*"), edge.start(), stop, title, macro, key if statement else "")

    @cached_property
    def statements(self) -> tuple[Span, ...]:
        """Theorem-like environments and algorithms."""
        return tuple(span for span in self.spans if span.key)

    @cached_property
    def labelled(self) -> dict[str, Span]:
        """Statements and algorithms by their label."""
        return {span.key: span for span in reversed(self.statements)}

    @cached_property
    def proofs(self) -> tuple[Span, ...]:
        """Proofs and sketches, each with the label of what it proves as its key."""
        proofs = []
        ends = {span.start: span.stop for span in self.spans if span.name == "proof"}
        for begin in _SKETCH.finditer(self.text, self.source.body):
            stop = ends.get(begin.start()) or self.text.find("\n\n", begin.end())
            stop = len(self.text) if stop < 0 else stop
            proofs.append(Span("proof", begin.start(), stop, key=self._proven(begin.start())))
        return tuple(proofs)

    def _proven(self, start: int) -> str:
        restated = _RESTATED.search(self.text, max(0, start - 80), start)
        if restated and restated[1] in self._restatable:
            return self._restatable[restated[1]]
        before = _last(self._theorems, start)
        return before.key if before else ""

    @cached_property
    def _restatable(self) -> dict[str, str]:
        return {span.macro: span.key for span in self.statements if span.macro}

    @cached_property
    def _theorems(self) -> tuple[Span, ...]:
        return tuple(span for span in self.statements if span.name != "algorithm")

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """Headings of sections and paragraphs."""
        headings = []
        for match in _HEADING.finditer(self.text, self.source.body):
            inner = braced(self.text, match.end())
            if inner is not None:
                headings.append(Heading(" ".join(inner.split()), match.start(), match.end() + len(inner) + 2))
        return tuple(headings)

    def place(self, offset: int) -> str:
        """The statement, proof or section an offset stands in."""
        statement, proof = _last(self.statements, offset), _last(self.proofs, offset)
        if statement is not None and offset < statement.stop:
            return statement.key
        if proof is not None and offset < proof.stop:
            return f"proof of {proof.key}" if proof.key else "proof"
        heading = _last(self.headings, offset)
        if heading is not None:
            return f"section {heading.text[:60]}"
        return "abstract" if any(span.name == "abstract" and span.start <= offset for span in self.spans[:9]) else ""

    @cached_property
    def formulas(self) -> tuple[Formula, ...]:
        """Every formula, in reading order."""
        formulas: list[Formula] = []
        begun, closed_by = None, ""
        for mark in _DELIMITER.finditer(self.text, self.source.body):
            sign = "".join(mark[0].split())
            if begun is not None and sign == closed_by:
                tex = self.text[begun.end() : mark.start()]
                if len(tex) <= LONGEST_FORMULA:
                    inside = plain(self.expanded(tex))
                    formulas.append(Formula(begun.start(), mark.end(), tex, inside, closed_by not in ("$", "\\)")))
                begun = None
            elif begun is not None and not sign and closed_by == "$":
                begun = None  # an inline formula ends with its paragraph
            elif begun is None and (sign in _CLOSED_BY or sign.startswith("\\begin")):
                begun, closed_by = mark, _CLOSED_BY.get(sign, sign.replace("begin", "end"))
        return tuple(formulas)

    def formulas_in(self, start: int, stop: int) -> Iterator[Formula]:
        """Formulas that begin in a range."""
        first = bisect_left(self.formulas, start, key=lambda formula: formula.start)
        return takewhile(lambda formula: formula.start < stop, islice(self.formulas, first, None))

    @cached_property
    def displays(self) -> dict[str, Formula]:
        """Displayed formulas by the labels in them."""
        shown = (formula for formula in self.formulas if formula.displayed)
        return {label: formula for formula in shown for label in _LABEL.findall(formula.tex)}

    def expanded(self, tex: str) -> str:
        """TeX with the author's macros without arguments written out, once."""
        return re.sub(r"\\([A-Za-z]+)", lambda match: self.macros.get(match[1], match[0]), tex)

    def line(self, offset: int) -> int:
        """Line of an offset, from 1."""
        return self.source.line(offset)


def document_of(source: Source) -> Document:
    """A source with its macros read."""
    macros = {}
    for match in _MACRO.finditer(source.text):
        body = braced(source.text, match.end())
        if body is not None and "#" not in body:
            macros[match[1]] = body
    return Document(source, macros)


Placed = TypeVar("Placed", Span, Heading)


def _last(spans: Sequence[Placed], offset: int) -> Placed | None:
    """The last that begins at or before an offset."""
    at = bisect_right(spans, offset, key=lambda span: span.start)
    return spans[at - 1] if at else None
