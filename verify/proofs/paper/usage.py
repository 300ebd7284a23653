"""How a source uses its symbols: random arguments, pairs, norms bounded in the mean or surely, domains, variants."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spec.text.extract import Passage
from verify.proofs.paper.definitions import LEFT, passage
from verify.proofs.paper.structure import Document
from verify.proofs.paper.symbols import lone_symbol, plain, shown, symbols

_NOISY = re.compile(r"([A-Za-z]\u0303)(?:_\{[^{}]{0,40}\}|_\w)?\s*\(([^;()]*(?:\([^()]*\)[^;()]*)*);([^()]*)\)")
_PAIR = re.compile(r"\(\s*\$?\s*(\\?[A-Za-z]+)\s*,\s*(\\?[A-Za-z]+)\s*\$?\s*\)\$?-\s*([A-Z][a-z]{2,}|[a-z]{4,})")
_NORM = re.compile(r"(𝔼\s*\[?\s*)?‖([^‖]{1,80})‖\s*(?:\]\s*)?(?=[^‖]{0,60}≤)")
_GLYPHS = (("ε", "ϵ", "ε"), ("φ", "φ", "ϕ"))
_PROPERTY = re.compile(
    r"(?P<how>[Ss]o that|[Hh]ence|[Tt]herefore|\bthen|lemma assumes|theorem assumes|\b[Aa]ssume|\b[Ss]uppose|\b[Ii]f\b|"
    r"\b[Ll]et\b)[^.]{0,120}?\bis\s+\$(?P<constant>[^$]{1,60})\$-(?P<word>strongly convex|smooth|Lipschitz)"
)


def draws(document: Document) -> Iterator[Passage]:
    """Random arguments of noisy functions, and which functions a function is made of."""
    noisy = set()
    for formula in document.formulas:
        for match in _NOISY.finditer(formula.plain):
            random = tuple(dict.fromkeys(name.partition("_")[0] for name in symbols(match[3])))
            if random:
                noisy.add(match[1][0])
                yield passage(document, formula.start, "draw", match[1], says=shown(match[0], 60), inside=random)
    for formula in document.formulas:
        left = LEFT.match(formula.plain) if formula.displayed else None
        symbol = lone_symbol(left[1]) if left else None
        if left and symbol and symbol[0] in noisy and symbol[1:2] != "\u0303":
            parts = tuple(name for name in sorted(noisy) if name != symbol[0] and re.search(rf"{name}\s*\(", left[3]))
            if parts:
                yield passage(document, formula.start, "part-of", symbol[0], inside=parts)


def pairs(document: Document) -> Iterator[Passage]:
    """Pairs of symbols that qualify a noun: ``(δ, ε)-Goldstein``."""
    for match in _PAIR.finditer(document.text, document.source.body):
        both = tuple(lone_symbol(plain(part)) or "" for part in (match[1], match[2]))
        if all(both) and both[0] != both[1]:
            yield passage(document, match.start(), "pair", match[3], inside=both)


def means(document: Document) -> Iterator[Passage]:
    """Norms that are bounded, in the mean or surely."""
    for formula in document.formulas:
        for match in _NORM.finditer(formula.plain):
            name = shown(re.sub(r"\(x\)|\s", "", match[2]), 60)
            if len(symbols(match[2])) > 1:
                yield passage(document, formula.start, "mean", name, says="mean" if match[1] else "sure")


def domains(document: Document) -> Iterator[Passage]:
    """What a variable is minimised over, and where an algorithm takes it from."""
    for formula in document.formulas:
        over = re.match(r"\s*«min»_\{([A-Za-z])\s*∈\s*([^{}:]{1,20})\}", formula.plain)
        if over:
            yield passage(document, formula.start, "domain", over[1], says=over[2].strip(), inside=("minimisation",))
    for span in document.spans:
        if span.name == "algorithmic":
            stop = document.text.find("\\STATE", document.text.find("\\STATE", span.start) + 1)
            for formula in document.formulas_in(span.start, stop if stop > 0 else span.stop):
                taken = re.fullmatch(r"\s*([A-Za-z])(?:_0)?\s*∈\s*(\S{1,12})\s*", formula.plain)
                if taken:
                    yield passage(document, formula.start, "domain", taken[1], says=taken[2], inside=("input",))


def variants(document: Document) -> Iterator[Passage]:
    """Symbols with a tilde or star that occur in proofs alone, are set to nothing, and have a plainer form outside."""
    outside: dict[str, int] = {}
    within: dict[str, int] = {}
    given = set()
    for formula in document.formulas:
        offsets = within if document.place(formula.start).startswith("proof") else outside
        for name in symbols(formula.plain):
            offsets.setdefault(name, formula.start)
        given |= {lone_symbol(left[1]) for left in re.finditer(r"(?:\A|[⏎,;])\s*([^=≤≥⏎,;]{1,40}?)\s*:?=",
                                                              formula.plain)}  # fmt: skip
    for name, offset in within.items():
        plainer = [form for form in (name.replace("\u0303", "", 1), name.replace("*", "", 1)) if form != name]
        beside = [form for form in plainer if form in outside]
        if name not in outside and name not in given and beside and _is_indexed(name):
            yield passage(document, offset, "symbol", name, says="proofs", inside=tuple(beside))


def _is_indexed(name: str) -> bool:
    """An accent over a letter alone names a function's noisy version; with an index, or a star besides, a value."""
    return "_" in name or ("\u0303" in name and "*" in name)


def glyphs(document: Document) -> Iterator[Passage]:
    r"""Letters that stand under two glyphs: ``\epsilon`` and ``\varepsilon``."""
    for letter, *both in _GLYPHS:
        first = [next((f.start for f in document.formulas if glyph in f.plain), None) for glyph in both]
        seen = [offset for offset in first if offset is not None]
        if len(seen) == len(both):
            yield passage(document, max(seen), "glyphs", letter, inside=tuple(both))


def stances(document: Document) -> Iterator[Passage]:
    """Properties that a statement or a proof derives, or takes as assumed."""
    for span in (*document.statements, *document.proofs):
        for match in _PROPERTY.finditer(document.text, span.start, span.stop):
            constant = lone_symbol(plain(document.expanded(match["constant"])).partition("=")[0])
            if constant:
                derived = match["how"].lower() in ("so that", "hence", "therefore", "then")
                yield passage(document, match.start(), "stance", f"{constant}-{match['word']}",
                              says="derived" if derived else "assumed")  # fmt: skip
