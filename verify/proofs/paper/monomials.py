"""Products of powers in a formula of plain characters, with their numerical factors."""

from __future__ import annotations

import re
from fractions import Fraction

from verify.proofs.paper.symbols import symbols

_ITEM = re.compile(
    r"\s+|(?P<op>[·/×])|(?P<power>\^(?:\{[^{}]{0,20}\}|[-\d]))|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<symbol>[A-Za-zα-ωΑ-Ωϵϕℓ][\u0302-\u0304]?\*?(?:_(?:\{[^{}]{0,60}\}|[\wα-ω*][\u0302-\u0304]?))?\*?)"
    r"|(?P<open>[({])|(?P<close>[)}])|(?P<word>«[^»]{0,40}»)"
)
_DEEPEST = 12


def powers(formula: str) -> dict[str, Fraction] | None:
    """Powers by symbol of a product, quotient or power; ``None`` for anything else. Numbers count for nothing.

    A sum in parentheses is one factor, named by its text; a logarithm is left out, as the orders that carry a tilde do.
    """
    exponents = _product(formula.strip(), 0)
    return None if exponents is None else {name: power for name, power in exponents.items() if power and name}


def factor(formula: str) -> Fraction:
    """The product of the numbers in such a product, 1 where they make no fraction or it is none."""
    exponents = _product(formula.strip(), 0) or {}
    return exponents.get(NUMBER, Fraction(1)) or Fraction(1)


NUMBER = ""
"""Under this name a product keeps its numerical factor; 0 once a number stands to a power that is no integer."""


def _product(text: str, depth: int) -> dict[str, Fraction] | None:
    exponents: dict[str, Fraction] = {NUMBER: Fraction(1)}
    at, sign = 0, 1
    if depth > _DEEPEST:
        return None
    while at < len(text):
        match = _ITEM.match(text, at)
        if match is None or match["close"] or match["power"]:
            return None
        at = match.end()
        if match["op"]:
            sign = -1 if match["op"] == "/" else 1
            continue
        if not match[0].strip():
            continue
        part: dict[str, Fraction] | None = {}
        if match["open"]:
            stop = _closing(text, match.start())
            if stop is None:
                return None
            part, at = _group(text[at:stop], depth), stop + 1
        elif match["word"]:
            if "log" not in match["word"]:
                return None
            after = re.match(r"\s*\(?", text[at:])
            stop = _closing(text, at + after.end() - 1) if after and after[0].endswith("(") else None
            at = len(text) if stop is None else stop + 1
        elif match["symbol"]:
            part = {symbols(match["symbol"])[0]: Fraction(1)}
        elif match["number"]:
            part = {NUMBER: Fraction(match["number"])}
        raised = _ITEM.match(text, at)
        exponent = Fraction(1)
        if raised and raised["power"]:
            exponent_or_none = _exponent(raised["power"])
            if exponent_or_none is None:
                return None
            exponent, at = exponent_or_none, raised.end()
        if part is None:
            return None
        exponents[NUMBER] *= _raised(part.pop(NUMBER, Fraction(1)), sign * exponent)
        for name, power in part.items():
            exponents[name] = exponents.get(name, Fraction(0)) + sign * exponent * power
        sign = 1
    return exponents


def _raised(number: Fraction, exponent: Fraction) -> Fraction:
    """A number to a power; 0 where that is no fraction, or too long a one to show."""
    if number == 1 or exponent == 1:
        return number
    if number == 0 or exponent.denominator != 1 or abs(exponent) > _DEEPEST:
        return Fraction(0)
    return number**exponent.numerator


def _group(inner: str, depth: int) -> dict[str, Fraction] | None:
    if _is_sum(inner):
        return {f"({''.join(inner.replace('«', '').replace('»', '').split())})"[:60]: Fraction(1)}
    return _product(inner, depth + 1)


def _is_sum(inner: str) -> bool:
    depth = 0
    for at, character in enumerate(inner):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(character, 0)
        if depth == 0 and at and character in "+-−":
            return True
    return False


def _closing(text: str, start: int) -> int | None:
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return None


def _exponent(power: str) -> Fraction | None:
    inner = power[1:].strip("{}").replace("−", "-").replace(" ", "")
    return Fraction(inner) if re.fullmatch(r"-?\d{1,3}(?:\.\d{1,3}|/[1-9]\d?)?", inner) else None
