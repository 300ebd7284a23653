"""Square roots and doubles rounded in a stated direction."""

from __future__ import annotations

import math
from fractions import Fraction

BITS = 80
"""Fractional bits of a root, beyond those of a double."""


def root_below(value: Fraction) -> Fraction:
    """A rational at most the square root of a value >= 0; exact where the root is rational."""
    exact = _rational_root(value)
    if exact is not None:
        return exact
    shift = max(0, BITS + (value.denominator.bit_length() - value.numerator.bit_length()) // 2 + 1)
    return Fraction(math.isqrt((value.numerator << (2 * shift)) // value.denominator), 1 << shift)


def root_above(value: Fraction) -> Fraction:
    """A rational at least the square root of a value >= 0; exact where the root is rational."""
    exact = _rational_root(value)
    if exact is not None:
        return exact
    shift = max(0, BITS + (value.denominator.bit_length() - value.numerator.bit_length()) // 2 + 1)
    return Fraction(math.isqrt((value.numerator << (2 * shift)) // value.denominator) + 1, 1 << shift)


def _rational_root(value: Fraction) -> Fraction | None:
    p, q = math.isqrt(value.numerator), math.isqrt(value.denominator)
    return Fraction(p, q) if p * p == value.numerator and q * q == value.denominator else None


def double_below(value: Fraction) -> float:
    """The largest double not above a rational, or its neighbour."""
    made = float(value)
    return math.nextafter(made, -math.inf) if Fraction(made) > value else made


def double_above(value: Fraction) -> float:
    """The smallest double not below a rational, or its neighbour."""
    made = float(value)
    return math.nextafter(made, math.inf) if Fraction(made) < value else made
