"""Which method a source says computes what: lines of algorithms, and proofs under run-in headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from spec.text.extract import Passage
from verify.proofs.paper.definitions import passage
from verify.proofs.paper.structure import Document
from verify.proofs.paper.symbols import lone_symbol, symbols

_METHODS = {
    "SGD": r"SGD|stochastic gradient descent", "SVRG": r"SVRG", "SAGA": r"SAGA", "SPIDER": r"SPIDER(?!-)",
    "Adam": r"Adam", "primal-dual": r"[Pp]rimal-[Dd]ual(?= \(?\w*\)? ?(?:method|algorithm|update|iteration))",
    "interior-point": r"interior-point", "Newton": r"Newton's method",
}  # fmt: skip
_METHOD = re.compile("|".join(rf"(?P<m{at}>\b(?:{form})\b)" for at, form in enumerate(_METHODS.values())))
_LINE = re.compile(r"\\STATE\b|\\State\b|\\;")
_BY = re.compile(r"\b(?:using|by|with|via)\b")
_RUN_IN = re.compile(r"(?:\A|\n)[ \t]*(?:[A-Z]\d{1,2}[.)]|\([a-z0-9]{1,3}\)|Step\s+\d{1,2}[.:]?)([^:\n]{0,120}):")


def solvers(document: Document) -> Iterator[Passage]:
    """Every method named for what it computes, with the symbols of that."""
    for span in document.spans:
        if span.name == "algorithmic":
            edges = [match.end() for match in _LINE.finditer(document.text, span.start, span.stop)] + [span.stop]
            for start, stop in pairwise(edges):
                by = _BY.search(document.text, start, stop)
                if by:
                    yield from _named(document, by.end(), stop, (start, by.start()))
    for proof in document.proofs:
        heads = list(_RUN_IN.finditer(document.text, proof.start, proof.stop))
        ends = [match.start() for match in heads[1:]] + [proof.stop]
        for match, stop in zip(heads, ends, strict=False):
            yield from _named(document, match.end(), stop, (match.start(1), match.end(1)))


def _named(document: Document, start: int, stop: int, computed: tuple[int, int]) -> Iterator[Passage]:
    inside: list[str] = []
    for formula in document.formulas_in(*computed):
        left = formula.plain.partition("=")[0]
        names = [lone_symbol(left)] if lone_symbol(left) else symbols(re.sub(r"(?<=[\w*\u0303}])\(\w\)", "", left))
        inside += [name for name in names if name]
    seen = set()
    for match in _METHOD.finditer(document.text, start, stop) if inside else ():
        name = next(method for at, method in enumerate(_METHODS) if match[f"m{at}"])
        if name not in seen:
            seen.add(name)
            yield passage(document, match.start(), "solver", name, inside=tuple(dict.fromkeys(inside)))
