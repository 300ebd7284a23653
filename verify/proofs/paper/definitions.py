"""What a source gives its symbols: words, formulas, quantities they bound; and the methods that compute them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spec.text.extract import LONGEST, Passage, PassageKind
from verify.proofs.paper.monomials import powers
from verify.proofs.paper.structure import Document, Formula, Span
from verify.proofs.paper.symbols import lone_symbol, pieces, plain, shown
from verify.proofs.paper.tex import braced

_HEADS = (
    "accuracy", "tolerance", "radius", "parameter", "parameters", "size", "variance", "deviation", "budget", "width",
    "level", "horizon", "rate", "weights", "constant",
)  # fmt: skip
_APPOSITION = re.compile(rf"((?:[A-Za-z-]+\s+){{0,3}}\b(?:{'|'.join(_HEADS)}))(?:\s+is)?\s*\Z")
_VERB = re.compile(r"\A\s+(?:controls|denotes|represents)\s+((?:[A-Za-z-]+\s+){0,6}[A-Za-z-]+)")
_SAID_OF = re.compile(r"\A\s*(?:(?:=|:=|>|<|≤|≥|∈|≍).*)?\Z", re.S)
_SMALL = frozenset({
    "a", "an", "the", "of", "with", "and", "small", "same", "fixed", "given", "to", "its", "as", "by", "set",
    "setting", "let", "choose", "target", "for", "use", "uses", "using", "positive", "known", "new", "our", "we",
    "employs", "utilizes", "take", "takes", "have", "has", "there", "exists", "where", "some", "is", "are",
})  # fmt: skip
_DEFINES = re.compile(r"(?:\b(?:[Dd]efine|[Ll]et|[Ww]here|[Dd]enote|activation|[Ww]ith|[Ss]et)\b|:)[^.$]{0,40}\Z")
LEFT = re.compile(r"\A\s*([^=≤≥∈]{1,60}?)\s*(:=|=)\s*(.+)\Z", re.S)
_UNDER = re.compile(r"\\underbrace\s*(?=\{)")
_BOUNDS = re.compile(r"\\?let\s+\Z", re.I)
_UNIFORM = re.compile(r"\A\s+be\s+an?\s+(?:uniform\s+|upper\s+)?bound\s+(?:on|for|of)\s+\Z")
_LIPSCHITZ = re.compile(
    r"\$([^$]{1,30})\$-Lipschitz\s+(?:(?:property|continuity|function|continuous)\s+)?(?:of\s+)?\$([A-Za-z])\b"
    r"|\$([A-Za-z])(?:\s*[:(][^$]{0,60})?\$\s+is\s+(?:then\s+|also\s+)?\$([^$]{1,30})\$-Lipschitz"
)


def meanings(document: Document) -> Iterator[Passage]:
    """Symbols given words: ``accuracy parameter α``, ``δ controls the radius``."""
    for formula in document.formulas:
        symbol = _leading(formula)
        if formula.displayed or symbol is None:
            continue
        before = re.sub(r"\\[A-Za-z]+\s*", " ", document.text[max(0, formula.start - 90) : formula.start])
        after = document.text[formula.stop : formula.stop + 120]
        beside = _APPOSITION.search(before.replace("{", " ").replace("}", " "))
        told = _VERB.match(after)
        for match in (beside, told if lone_symbol(formula.plain) else None):
            words = _content(match[1], whole=match is told) if match else []
            if words:
                yield passage(document, formula.start, "meaning", symbol, says=" ".join(words))


def _content(phrase: str, *, whole: bool) -> list[str]:
    """Words that say something: of a phrase before its symbol, those after its last small word."""
    words: list[str] = []
    for word in re.findall(r"[A-Za-z-]+", phrase):
        small = word.lower() in _SMALL or len(word) == 1
        if small and not whole:
            words = []
        elif not small:
            words.append(word)
    return words


def _leading(formula: Formula) -> str | None:
    """The symbol an inline formula is about: alone, or before a relation."""
    left = re.split(r"[=<>≤≥∈≍]|:=", formula.plain)[0]
    return lone_symbol(left) if _SAID_OF.match(formula.plain[len(left) :]) else None


def definitions(document: Document) -> Iterator[Passage]:
    """Symbols set to formulas: ``:=``, ``define``, an underbrace, a line of an algorithm."""
    algorithms = [span for span in document.spans if span.name == "algorithmic"]
    for formula in document.formulas:
        yield from _braced_terms(document, formula)
        before = document.text[max(0, formula.start - 60) : formula.start].rpartition("\n\n")[2]
        inside = any(span.start <= formula.start < span.stop for span in algorithms)
        for part in pieces(formula.plain, ",;"):
            match = LEFT.match(part)
            symbol = lone_symbol(match[1]) if match else None
            if match is None or symbol is None:
                continue
            stated = match[2] == ":=" or inside or (not formula.displayed and _DEFINES.search(before))
            right = pieces(match[3], "≤≥=")[0]
            # An order is judged as one; a number, or a range, defines nothing.
            order = powers(right) is not None or re.match(r"\s*[OΘΩ]\u0303?\s*\(", right)
            if stated and right.strip() and not order and "…" not in right:
                yield passage(document, formula.start, "definition", symbol, says=_formula_text(right))


def _braced_terms(document: Document, formula: Formula) -> Iterator[Passage]:
    for match in _UNDER.finditer(formula.tex):
        inner = braced(formula.tex, match.end())
        stop = match.end() + len(inner or "") + 2
        after = formula.tex[stop : stop + 200] if inner is not None else ""
        below = re.match(r"\s*_\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|(\w))", after)
        name = re.sub(r"[()«»{}\s$]", "", plain(below[1] or below[2])) if below else ""
        short = re.fullmatch(r"([A-Z])_?(\d)", name)
        if inner is not None and short:
            says = _formula_text(plain(document.expanded(inner)))
            yield passage(document, formula.start, "definition", f"{short[1]}_{short[2]}", says=says)


def _formula_text(formula: str) -> str:
    return shown("".join(formula.replace("«", "").replace("»", "").rstrip(" .,;").split()))


def bounds(document: Document) -> Iterator[Passage]:
    """Quantities that a statement bounds by a lone constant, as a hypothesis."""
    statements = [span for span in document.statements if span.name != "algorithm"]
    for formula in document.formulas:
        before = document.text[max(0, formula.start - 20) : formula.start]
        after = document.text[formula.stop : formula.stop + 60]
        symbol = lone_symbol(formula.plain)
        if symbol and _BOUNDS.search(before) and _UNIFORM.match(re.split(r"\$", after)[0]):
            bounded = next(iter(document.formulas_in(formula.stop, formula.stop + 80)), None)
            if bounded is not None:
                yield passage(document, formula.start, "bound", symbol, says=_formula_text(bounded.plain))
    for span in statements:
        if span.name in ("assumption", "condition", "hypothesis"):
            yield from _assumed(document, span)


def _assumed(document: Document, span: Span) -> Iterator[Passage]:
    for formula in document.formulas_in(span.start, span.stop):
        match = re.fullmatch(r"\s*([^≤]*(?:‖|Var|𝔼)[^≤]*)≤([^≤]*)", formula.plain)
        symbol = lone_symbol(match[2].rstrip(" .,")) if match else None
        if match and symbol:
            yield passage(document, formula.start, "bound", symbol, says=_formula_text(match[1]))


def constants(document: Document) -> Iterator[Passage]:
    """Names of Lipschitz constants, by the function they belong to."""
    for match in _LIPSCHITZ.finditer(document.text, document.source.body):
        constant, function = (match[1], match[2]) if match[1] else (match[4], match[3])
        name = lone_symbol(plain(constant))
        if name:
            yield passage(document, match.start(), "constant", f"Lipschitz constant of {function}", says=name)


def passage(
    document: Document, offset: int, kind: PassageKind, name: str, *, says: str = "", inside: tuple[str, ...] = ()
) -> Passage:
    """A passage at an offset, in the place where that stands."""
    return Passage(
        kind=kind, line=document.line(offset), name=name[:LONGEST], says=says[:LONGEST],
        place=document.place(offset)[:LONGEST], symbols=tuple(symbol[:LONGEST] for symbol in inside),
    )  # fmt: skip
