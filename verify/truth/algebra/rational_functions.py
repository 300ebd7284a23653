"""Vectors of rational functions of alpha with one common denominator, and their behaviour as alpha tends to 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Self

from flint import fmpq, fmpq_mat, fmpq_poly

from spec import InvalidInputError
from verify.truth.algebra.rationals import Vector, fraction, rational


@dataclass(frozen=True)
class Leading:
    """The first term of an expansion at alpha = 0.

    Args:
        exponent: Power of alpha; ``None`` if the function is identically zero.
        coefficient: Coefficient of that power, exact.
    """

    exponent: int | None
    coefficient: Vector

    @property
    def norm_squared(self) -> Fraction:
        """Squared Euclidean norm of the coefficient."""
        return sum((value * value for value in self.coefficient), Fraction(0))


@dataclass(frozen=True)
class RationalVector:
    """Rational functions ``numerators / denominator`` of alpha.

    Args:
        numerators: Polynomials in alpha, one per component.
        denominator: Not zero.
    """

    numerators: tuple[fmpq_poly, ...]
    denominator: fmpq_poly

    @classmethod
    def constant(cls, values: Sequence[Fraction]) -> Self:
        """The same vector at every alpha."""
        return cls(tuple(fmpq_poly([rational(value)]) for value in values), fmpq_poly([1]))

    def __call__(self, alpha: Fraction | int) -> Vector:
        """Exact value at a rational alpha.

        Raises:
            InvalidInputError: If alpha is a pole.
        """
        at = rational(Fraction(alpha))
        bottom = self.denominator(at)
        if bottom == 0:
            raise InvalidInputError("alpha", "must not be a pole", str(alpha))
        return tuple(fraction(numerator(at) / bottom) for numerator in self.numerators)

    def __add__(self, other: RationalVector) -> RationalVector:
        common = self.denominator.gcd(other.denominator)
        mine, theirs = other.denominator // common, self.denominator // common
        pairs = zip(self.numerators, other.numerators, strict=True)
        return RationalVector(tuple(a * mine + b * theirs for a, b in pairs), self.denominator * mine).reduced()

    def __sub__(self, other: RationalVector) -> RationalVector:
        return self + other.times(-1)

    def times(self, factor: Fraction | int, power: int = 0) -> RationalVector:
        """The vector times ``factor * alpha**power``; the power may be negative."""
        scaled = tuple(numerator * monomial(max(power, 0), factor) for numerator in self.numerators)
        return RationalVector(scaled, self.denominator * monomial(max(-power, 0)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RationalVector):
            return NotImplemented
        pairs = zip(self.numerators, other.numerators, strict=True)
        return all(a * other.denominator == b * self.denominator for a, b in pairs)

    def __hash__(self) -> int:
        made = self.reduced()
        return hash((tuple(map(str, made.numerators)), str(made.denominator)))

    @property
    def is_zero(self) -> bool:
        return all(numerator.is_zero() for numerator in self.numerators)

    def reduced(self) -> RationalVector:
        """Lowest terms: no common polynomial factor, integer coefficients without a common divisor."""
        if self.is_zero:
            return RationalVector(self.numerators, fmpq_poly([1]))
        common = self.denominator
        for numerator in self.numerators:
            common = common.gcd(numerator)
        parts = [part // common for part in (*self.numerators, self.denominator)]
        scale = fmpq(1)
        for part in parts:
            scale = scale * (part * scale).denom()
        content = 0
        for part in parts:
            for value in (part * scale).coeffs():
                content = gcd(content, int(value.p))
        factor = scale / content * (1 if parts[-1][parts[-1].degree()] > 0 else -1)
        parts = [part * factor for part in parts]
        return RationalVector(tuple(parts[:-1]), parts[-1])

    def leading(self) -> Leading:
        """Exponent and coefficient of the first term as alpha tends to 0."""
        orders = [valuation(numerator) for numerator in self.numerators if not numerator.is_zero()]
        if not orders:
            return Leading(None, (Fraction(0),) * len(self.numerators))
        low, base = min(orders), valuation(self.denominator)
        coefficient = tuple(fraction(numerator[low] / self.denominator[base]) for numerator in self.numerators)
        return Leading(low - base, coefficient)

    def norm_squared(self) -> RationalVector:
        """The squared Euclidean norm, a vector of one component."""
        total = sum((numerator * numerator for numerator in self.numerators), fmpq_poly([]))
        return RationalVector((total,), self.denominator * self.denominator)


def valuation(polynomial: fmpq_poly) -> int:
    """Power of alpha that divides a nonzero polynomial."""
    return next(k for k, value in enumerate(polynomial.coeffs()) if value != 0)


def interpolate(points: Sequence[int], values: Sequence[Sequence[fmpq]]) -> list[fmpq_poly]:
    """The polynomials of degree below ``len(points)`` through given values.

    Args:
        points: Distinct integers.
        values: One row per point, one column per polynomial.
    """
    size = len(points)
    if not values[0]:
        return []
    vandermonde = fmpq_mat(size, size, [point**k for point in points for k in range(size)])
    solved = vandermonde.solve(fmpq_mat([list(row) for row in values]))
    return [fmpq_poly([solved[k, j] for k in range(size)]) for j in range(solved.ncols())]


def monomial(exponent: int, coefficient: Fraction | fmpq | int = 1) -> fmpq_poly:
    """``coefficient * alpha**exponent``, exponent >= 0."""
    value = coefficient if isinstance(coefficient, fmpq) else rational(Fraction(coefficient))
    return fmpq_poly([value]).left_shift(exponent)


def in_alpha(in_square: fmpq_poly) -> fmpq_poly:
    """Substitute alpha**2 for the variable."""
    return in_square(monomial(2))
