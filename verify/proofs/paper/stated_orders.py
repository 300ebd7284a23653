"""Orders that a source states: of which quantity, with which letter, in which powers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from spec.text.extract import LONGEST, Passage
from verify.proofs.paper.monomials import factor, powers
from verify.proofs.paper.structure import Document, Formula
from verify.proofs.paper.symbols import lone_symbol, pieces, shown

_LETTER = re.compile(r"(?<![A-Za-zα-ω_{])([OΘΩ]\u0303?)\s*\(")
_RELATION = re.compile(r"(:=|=|≤|≥|∈|≍)")
_WHOLE_LETTER = re.compile(r"\s*([OΘΩ]\u0303?)\s*\(")
_TEXT = re.compile(r"[\w‖(\[∇«]")
_STATIONARITY = re.compile(r"[-\s~]*(?:stationarity|stationary)\b")
"""A point this near, or nearer, is what such words promise."""
STATIONARITY = "stationarity"
"""What is bounded where words promise a point this near."""
_ALIKE = str.maketrans({"ϵ": "ε", "ϕ": "φ"})
"""Two glyphs of one letter are one letter in an order."""


class StatedOrder(NamedTuple):
    letter: str
    powers: dict[str, Fraction]
    factor: Fraction = Fraction(1)


def orders(document: Document) -> Iterator[Passage]:
    """Every order stated, and every sum with such a letter that bounds something from above."""
    for formula in document.formulas:
        line, place = document.line(formula.start), document.place(formula.start)
        for name, stated in _stated(formula):
            yield Passage(
                kind="order", line=line, name=name[:LONGEST], says=stated.letter, place=place[:LONGEST],
                powers={key.translate(_ALIKE): value for key, value in stated.powers.items()}, factor=stated.factor,
            )  # fmt: skip
        following = document.text[formula.stop : formula.stop + 20]
        whole = _letter_alone(formula.plain)
        if whole is not None and _STATIONARITY.match(following):
            yield Passage(kind="upper", line=line, name=STATIONARITY, says=whole.letter, place=place[:LONGEST])
        for name, letter in _upper_sums(formula):
            yield Passage(kind="upper", line=line, name=name[:LONGEST], says=letter, place=place[:LONGEST])


def _stated(formula: Formula) -> Iterator[tuple[str, StatedOrder]]:
    left = ""
    for part in pieces(formula.plain, ",;"):
        sides = _RELATION.split(part)
        if _TEXT.search(sides[0]):
            left = sides[0]
        if len(sides) == 1:
            whole = _letter_alone(sides[0])
            if whole is not None and not formula.displayed:
                yield "", whole
            continue
        for relation, side in zip(sides[1::2], sides[2::2], strict=True):
            yield from _of(left, relation, side)


def _of(left: str, relation: str, side: str) -> Iterator[tuple[str, StatedOrder]]:
    name = quantity(left)
    factors, quantities = _letters(side), [quantity(part) for part in left.split("·")]
    if len(factors) > 1 and len(factors) == len(quantities):
        yield from zip(quantities, factors, strict=True)
        return
    whole = _letter_alone(side)
    if whole is not None:
        yield name, whole
    elif relation in ("=", ":=", "≥", "≤") and lone_symbol(left) and not _LETTER.search(side):
        exponents = powers(side)
        if exponents and list(exponents.values()) != [1]:
            yield name, StatedOrder({":=": "="}.get(relation, relation), exponents, factor(side))


def quantity(left: str) -> str:
    """What stands left of a relation, as a name: a symbol, or the formula without spaces."""
    return lone_symbol(left) or shown("".join(left.split()))


def _letters(side: str) -> list[StatedOrder]:
    """Orders that multiply each other and are all there is; nothing otherwise."""
    landau, at = [], 0
    while at < len(side.rstrip()):
        match = _WHOLE_LETTER.match(side, at)
        stop = _closing(side, match.end() - 1) if match else None
        if match is None or stop is None:
            return []
        exponents = powers(side[match.end() : stop])
        if exponents is None:
            return []
        landau.append(StatedOrder(match[1], exponents))
        product = re.compile(r"\s*·?\s*").match(side, stop + 1)
        at = product.end() if product else stop + 1
    return landau


def _letter_alone(side: str) -> StatedOrder | None:
    landau = _letters(side)
    return landau[0] if len(landau) == 1 else None


def _upper_sums(formula: Formula) -> Iterator[tuple[str, str]]:
    left = ""
    for part in pieces(formula.plain, ",;"):
        sides = _RELATION.split(part)
        if _TEXT.search(sides[0]):
            left = sides[0]
        for relation, side in zip(sides[1::2], sides[2::2], strict=True):
            if relation == "≤" and "+" in side:
                for letter in dict.fromkeys(_LETTER.findall(side)):
                    yield quantity(left), letter


def _closing(text: str, start: int) -> int | None:
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return None
