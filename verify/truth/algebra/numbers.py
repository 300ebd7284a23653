"""Real numbers as certified balls, rounded to doubles only where every digit is sure."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from flint import arb, ctx

from verify.truth.algebra.rationals import rational
from verify.truth.algebra.roots import rational_root

PRECISION = 320
"""Bits of the balls: enough for 30 digits after every cancellation that a useful tolerance allows."""


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
    exact = rational_root(value)
    if exact is not None:
        return exact
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


Real: TypeAlias = Fraction | arb
"""A number known exactly, or enclosed in a ball."""
