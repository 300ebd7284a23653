"""Exact numbers on paper: doubles, fractions, certified digits, and tolerances rounded up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from flint import ctx

from verify.conformance.vectors.model import Expected, Number, Numbers
from verify.truth.algebra.numbers import PRECISION, Real, UncertifiedError, double, str_fraction

DIGITS = 30
"""Decimal digits shown of a number that is irrational or too long to spell."""
LONGEST = 160
"""Longest spelling of a fraction, in characters."""
TOLERANCE_DIGITS = 3


def number(value: Fraction) -> Number:
    """One input number."""
    return Number(value=double(value), exact=str(value))


def numbers(values: Iterable[Fraction]) -> Numbers:
    """Input numbers."""
    listed = tuple(values)
    return Numbers(value=tuple(double(v) for v in listed), exact=tuple(str(v) for v in listed))


def expected(values: Sequence[Real], tolerance: Iterable[float]) -> Expected:
    """A block that must come out."""
    doubles = tuple(double(value) for value in values)
    limits = tuple(round_up(limit) for limit in tolerance)
    if all(isinstance(value, Fraction) and len(str(value)) <= LONGEST for value in values):
        return Expected(value=doubles, exact=tuple(str(value) for value in values), tolerance=limits)
    return Expected(value=doubles, digits=tuple(decimals(value) for value in values), tolerance=limits)


def decimals(value: Real) -> str:
    """Thirty digits, each certified but the last within one unit."""
    if isinstance(value, Fraction):
        if value == 0:
            return "0"
        made = Context(prec=DIGITS).divide(Decimal(value.numerator), Decimal(value.denominator))
        return format(made.normalize(Context(prec=DIGITS)), "e").replace("e+", "e").removesuffix("e0")
    with ctx.workprec(PRECISION):
        low, high = str_fraction(value.lower()), str_fraction(value.upper())
        middle = str_fraction(value.mid())
    shown = decimals(middle)
    if abs(high - low) * 10**DIGITS > abs(middle):
        raise UncertifiedError(f"{value} has no {DIGITS} certified digits")
    return shown


def round_up(value: float) -> float:
    """The same size or a little more, in three digits, so that files do not depend on last bits."""
    if value == 0:
        return 0.0
    shown = Context(prec=TOLERANCE_DIGITS, rounding=ROUND_CEILING).create_decimal(Decimal(value))
    return float(shown)


def round_down(value: float, digits: int = 2) -> float:
    """The same size or a little less, in a few digits."""
    return float(Context(prec=digits, rounding="ROUND_FLOOR").create_decimal(Decimal(value)))
