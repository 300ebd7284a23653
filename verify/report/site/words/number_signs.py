"""Signs around a number: before it whether its power is exact or fitted, behind it how it was obtained."""

from __future__ import annotations

from functools import lru_cache

from markupsafe import Markup

NARROW = 0.01
"""Widest interval of an exponent that needs no showing."""
EXACT, FITTED, ROUGH = "=", "≈", "about"
SIGNS: dict[str, str] = {
    EXACT: "the exponent is exact: derived, proven or read in a source",
    FITTED: f"the exponent is fitted to points; in brackets its interval, where wider than {NARROW}",
    ROUGH: "a fitted exponent that has not settled where the points end: the whole or half number beside it",
}
"""What stands before a power, and what it says."""
ABOVE: dict[str, str] = {
    "proven": "a machine-checked theorem, for every problem that meets its premises",
    "proven in part": "machine-checked theorems of a part of it; what they leave out stands on its page",
    "derived": "the order follows from its parts, step by step; measured is how it looks on an instance",
}
"""The words for what stands above any measurement, and what each says."""
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
    """An interval as it stands behind its number, or that it has not settled; nothing of none."""
    lead = "" if interval.startswith("[") else ", "
    return Markup('{} <span class="iv">{}</span>').format(lead.strip(), interval) if interval else Markup("")


@lru_cache(maxsize=16)
def rung_sign(rung: str) -> Markup:
    """How a number was obtained, as a word that explains itself; nothing of an unknown rung."""
    says = (ABOVE | MEANS).get(rung, "")
    return Markup(' <abbr class="rung" title="{}">{}</abbr>').format(says, rung) if says else Markup("")
