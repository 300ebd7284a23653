"""Exact numbers on paper: doubles, fractions, certified digits, and tolerances rounded up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TypeAlias

from flint import arb, ctx

from verify.exact.rationals import rational
from verify.vectors.model import Expected, Number, Numbers

Real: TypeAlias = Fraction | arb
"""A number known exactly, or enclosed in a ball."""

DIGITS = 30
"""Decimal digits shown of a number that is irrational or too long to spell."""
LONGEST = 160
"""Longest spelling of a fraction, in characters."""
PRECISION = 320
"""Bits of the balls: enough for 30 digits after every cancellation that a useful tolerance allows."""
TOLERANCE_DIGITS = 3


class UncertifiedError(ArithmeticError):
    """A ball is too wide to certify the digits asked for."""


def ball(value: Real) -> arb:
    """The number as a ball."""
    with ctx.workprec(PRECISION):
        return arb(rational(value)) if isinstance(value, Fraction) else value


def add(a: Real, b: Real) -> Real:
    """The sum, exact where both are."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b
    with ctx.workprec(PRECISION):
        return ball(a) + ball(b)


def times(a: Real, b: Real) -> Real:
    """The product, exact where both are or one is 0."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a * b
    if a == 0 or b == 0:
        return Fraction(0)
    with ctx.workprec(PRECISION):
        return ball(a) * ball(b)


def root(value: Fraction) -> Real:
    """The square root of a number >= 0, exact where it is rational."""
    p, q = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if p * p == value.numerator and q * q == value.denominator:
        return Fraction(p, q)
    with ctx.workprec(PRECISION):
        return ball(value).sqrt()


def normal_cdf(value: Fraction) -> Real:
    """The standard normal distribution function."""
    if value == 0:
        return Fraction(1, 2)
    with ctx.workprec(PRECISION):
        return (1 + (ball(value) / arb(2).sqrt()).erf()) / 2


def double(value: Real) -> float:
    """The nearest double."""
    if isinstance(value, Fraction):
        return float(value) + 0.0  # no negative zero
    with ctx.workprec(PRECISION):
        low, high = float(Fraction(str_fraction(value.lower()))), float(Fraction(str_fraction(value.upper())))
    if low != high:
        raise UncertifiedError(f"{value} does not round to one double")
    return low


def str_fraction(value: arb) -> Fraction:
    """An exact ball (radius 0) as the fraction it is."""
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def dyadic(value: float) -> Fraction:
    """The number a double is."""
    return Fraction(value)


def number(value: Fraction) -> Number:
    """One input number."""
    return Number(value=double(value), exact=str(value))


def numbers(values: Iterable[Fraction]) -> Numbers:
    """Input numbers."""
    listed = tuple(values)
    return Numbers(value=tuple(double(v) for v in listed), exact=tuple(str(v) for v in listed))


def rounded(values: Iterable[Fraction]) -> tuple[Fraction, ...]:
    """The nearest doubles, as the fractions they are."""
    return tuple(Fraction(float(value)) for value in values)


def expected(values: Sequence[Real], tolerance: Sequence[float]) -> Expected:
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
