"""Factors that are almost 1: printed with the digits that tell them from it, and called what a solver leaves."""

from __future__ import annotations

import math

ALMOST = 1e-5
"""Difference from 1 up to which a factor is what an iteration leaves rather than a mistake of its own."""
DIGITS = 6
"""Of every other number."""


def spelt_plainly(value: float) -> str:
    """A number of few digits, or of as many as tell it from 1 or -1."""
    off = abs(abs(value) - 1.0)
    if not 0 < off < 10.0 ** (1 - DIGITS):
        return f"{value:.{DIGITS}g}"
    return f"{value:.{min(17, 1 - math.floor(math.log10(off)))}g}"


def is_almost_one(value: float) -> bool:
    """Whether a factor is 1 but for what an iteration leaves."""
    return 0 < abs(value - 1.0) <= ALMOST


def left_words(value: float, name: str) -> str:
    """What a factor that is almost 1 says: ``its solver leaves 2e-07 of y₀``."""
    return f"its solver {'leaves' if value < 1 else 'adds'} {abs(value - 1.0):.1g} of {name}"
