"""Signs around a number: before it whether its power is exact or fitted, behind it how it was obtained."""

from __future__ import annotations

from functools import lru_cache

from markupsafe import Markup

NARROW = 0.01
"""Widest interval of an exponent that needs no showing."""
EXACT, FITTED = "=", "≈"
SIGNS: dict[str, str] = {
    EXACT: "the exponent is exact: derived, proven or read in a source",
    FITTED: f"the exponent is fitted to points; in brackets its interval, where wider than {NARROW}",
}
"""What stands before a power, and what it says."""
MEANS: dict[str, str] = {
    "certified": "for every value in an interval, by exact algebra",
    "symbolic": "the leading term is derived exactly",
    "numeric": "a sweep in floating point, its rounding bounded",
    "statistical": "by samples, with a stated law, error and power",
    "cited": "read in the named source",
}
"""The word behind a number is the weakest evidence that its verdict rests on; what each says."""


def signed(sign: str, number: Markup) -> Markup:
    """A number behind its sign, which explains itself; without a sign, the number."""
    if sign not in SIGNS:
        return number
    return Markup('<span class="sign" title="{}">{}</span>\u00a0{}').format(SIGNS[sign], sign, number)


def bracketed(interval: str) -> Markup:
    """An interval as it stands behind its number; nothing of none."""
    return Markup(' <span class="iv">{}</span>').format(interval) if interval else Markup("")


@lru_cache(maxsize=16)
def rung_sign(rung: str) -> Markup:
    """How a number was obtained, as a word that explains itself; nothing of an unknown rung."""
    return Markup(' <abbr class="rung" title="{}">{}</abbr>').format(MEANS[rung], rung) if rung in MEANS else Markup("")
