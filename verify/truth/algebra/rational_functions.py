"""Vectors of rational functions of alpha with one common denominator, and their behaviour as alpha tends to 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Self

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly

from spec import InvalidInputError
from spec.exact import FloatArray
from verify.truth.algebra.rationals import Number, Vector, beside, fraction, rational


@dataclass(frozen=True)
class Leading:
    """The first term of an expansion at alpha = 0: ``coefficient * alpha**exponent``, exact, row by row for a matrix.

    The exponent is ``None`` if the function is identically zero; a matrix has ``width`` columns.
    """

    exponent: int | None
    coefficient: Vector
    width: int = 1

    @property
    def array(self) -> FloatArray:
        """The coefficient as a matrix of doubles."""
        return np.array([float(value) for value in self.coefficient]).reshape(-1, self.width)

    @property
    def norm_squared(self) -> Fraction:
        """Squared Euclidean norm of the coefficient."""
        return sum((value * value for value in self.coefficient), Fraction(0))


@dataclass(frozen=True)
class RationalVector:
    """Rational functions ``numerators / denominator`` of alpha: a vector, or the rows of a matrix, ``width`` long."""

    numerators: tuple[fmpq_poly, ...]
    denominator: fmpq_poly
    width: int = 1

    @classmethod
    def constant(cls, values: Sequence[Number], width: int = 1) -> Self:
        """The same entries at every alpha."""
        return cls(tuple(fmpq_poly([rational(value)]) for value in values), fmpq_poly([1]), width)

    def __call__(self, alpha: Fraction | int) -> Vector:
        """Exact value at a rational alpha, which must be no pole."""
        at = rational(Fraction(alpha))
        bottom = self.denominator(at)
        if bottom == 0:
            raise InvalidInputError("alpha", "must not be a pole", str(alpha))
        return tuple(fraction(numerator(at) / bottom) for numerator in self.numerators)

    def __add__(self, other: RationalVector) -> RationalVector:
        if self.denominator == other.denominator:
            sums = tuple(a + b for a, b in zip(self.numerators, other.numerators, strict=True))
            return RationalVector(sums, self.denominator, self.width).reduced()
        common = self.denominator.gcd(other.denominator)
        mine, theirs = other.denominator // common, self.denominator // common
        pairs = zip(self.numerators, other.numerators, strict=True)
        return RationalVector(
            tuple(a * mine + b * theirs for a, b in pairs), self.denominator * mine, self.width
        ).reduced()

    def __sub__(self, other: RationalVector) -> RationalVector:
        return self + other.times(-1)

    def __mul__(self, other: RationalVector) -> RationalVector:
        """One function times all entries of another."""
        (factor,) = self.numerators
        scaled = tuple(factor * numerator for numerator in other.numerators)
        return RationalVector(scaled, self.denominator * other.denominator, other.width)

    def __pow__(self, power: int) -> RationalVector:
        """A power of one function; it may be negative."""
        top, bottom = self.numerators[0] ** abs(power), self.denominator ** abs(power)
        return RationalVector((top,), bottom) if power >= 0 else RationalVector((bottom,), top)

    def __matmul__(self, other: RationalVector) -> RationalVector:
        columns = [other.numerators[j :: other.width] for j in range(other.width)]
        entries = tuple(
            sum((a * b for a, b in zip(row, column, strict=True) if a and b), fmpq_poly([]))
            for row in self.rows for column in columns
        )  # fmt: skip
        return RationalVector(entries, self.denominator * other.denominator, other.width)

    @property
    def rows(self) -> list[tuple[fmpq_poly, ...]]:
        """The numerators row by row."""
        return [self.numerators[i : i + self.width] for i in range(0, len(self.numerators), self.width)]

    @property
    def T(self) -> RationalVector:  # noqa: N802  # the name numpy gives it
        """The transposed matrix."""
        turned = tuple(value for j in range(self.width) for value in self.numerators[j :: self.width])
        return RationalVector(turned, self.denominator, len(self.rows))

    def times(self, factor: Fraction | int, power: int = 0) -> RationalVector:
        """The vector times ``factor * alpha**power``; the power may be negative."""
        scaled = tuple(numerator * monomial(max(power, 0), factor) for numerator in self.numerators)
        return RationalVector(scaled, self.denominator * monomial(max(-power, 0)), self.width)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RationalVector):
            return NotImplemented
        pairs = zip(self.numerators, other.numerators, strict=True)
        return all(a * other.denominator == b * self.denominator for a, b in pairs)

    def __hash__(self) -> int:
        lowest = self.reduced()
        return hash((tuple(map(str, lowest.numerators)), str(lowest.denominator)))

    @property
    def is_zero(self) -> bool:
        return all(numerator.is_zero() for numerator in self.numerators)

    def reduced(self) -> RationalVector:
        """Lowest terms: no common polynomial factor, integer coefficients without a common divisor."""
        if self.is_zero:
            return RationalVector(self.numerators, fmpq_poly([1]), self.width)
        common = self.denominator
        for numerator in self.numerators:
            if common.degree() == 0:
                break
            common = common.gcd(numerator)
        parts = [*self.numerators, self.denominator]
        if common.degree() > 0:
            parts = [part // common for part in parts]
        bottoms = [int(part.denom()) for part in parts]
        scale = lcm(*bottoms)
        content = 0
        for part, bottom in zip(parts, bottoms, strict=True):
            content = gcd(content, scale // bottom * int(part.numer().content()))
            if content == 1:
                break
        factor = fmpq(scale if parts[-1].leading_coefficient() > 0 else -scale, content)
        if factor != 1:
            parts = [part * factor for part in parts]
        return RationalVector(tuple(parts[:-1]), parts[-1], self.width)

    def leading(self) -> Leading:
        """Exponent and coefficient of the first term as alpha tends to 0."""
        orders = [valuation(numerator) for numerator in self.numerators if not numerator.is_zero()]
        if not orders:
            return Leading(None, (Fraction(0),) * len(self.numerators), self.width)
        low, base = min(orders), valuation(self.denominator)
        coefficient = tuple(fraction(numerator[low] / self.denominator[base]) for numerator in self.numerators)
        return Leading(low - base, coefficient, self.width)

    def norm_squared(self) -> RationalVector:
        """The squared Euclidean norm, a vector of one component."""
        total = sum((numerator * numerator for numerator in self.numerators), fmpq_poly([]))
        return RationalVector((total,), self.denominator * self.denominator)


def valuation(polynomial: fmpq_poly) -> int:
    """Power of alpha that divides a nonzero polynomial."""
    return next(k for k, value in enumerate(polynomial.coeffs()) if value != 0)


def interpolate(points: Sequence[int], values: Sequence[Sequence[fmpq]]) -> list[fmpq_poly]:
    """The polynomials of degree below ``len(points)`` through values at distinct integers, a row a point."""
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


ALPHA = RationalVector((monomial(1),), fmpq_poly([1]))
"""The function alpha itself."""


def solve(matrix: RationalVector, right: RationalVector) -> RationalVector:
    """Solve a square linear system of rational functions, for every column on the right.

    With the numerators P of the matrix, ``adj(P) times right`` and ``det P`` are polynomials: they are found by
    solving at more integers than their degree and interpolating, in alpha**2 where P has even powers only. Refused if
    the determinant is identically zero.
    """
    size = matrix.width
    step = 2 if all(value == 0 for entry in matrix.numerators for value in entry.coeffs()[1::2]) else 1
    degree = max(entry.degree() for entry in matrix.numerators) // step
    parts = [_coefficient(matrix, step * k) for k in range(degree + 1)]
    powers = range(max(entry.degree() for entry in right.numerators) + 1)
    sides = {k: side for k in powers if any((side := _coefficient(right, k)).entries())}
    together = beside(*sides.values()) if sides else fmpq_mat(size, 0)
    points: list[int] = []
    values: list[list[fmpq]] = []
    at = singular = 0
    while len(points) < size * degree + 1:
        # 0, 1, -1, 2, -2, ...: short entries.
        here = sum((part * at**k for k, part in enumerate(parts)), fmpq_mat(size, size))
        determinant = here.det()
        if determinant != 0:
            points.append(at)
            values.append([determinant, *(here.solve(together) * determinant).entries()])
        else:
            singular += 1
            if singular > size * degree:
                raise InvalidInputError("problem", "must give a penalty Lagrangian with a unique stationary point")
        at = -at if at > 0 else 1 - at
    determinant, *adjugate = (part(monomial(step)) for part in interpolate(points, values))
    numerators = [fmpq_poly([])] * (size * right.width)
    for i in range(size):
        for j, power in enumerate(power for power in sides for _ in range(right.width)):
            entry = i * right.width + j % right.width
            numerators[entry] += adjugate[i * together.ncols() + j].left_shift(power) * matrix.denominator
    return RationalVector(tuple(numerators), determinant * right.denominator, right.width).reduced()


def _coefficient(matrix: RationalVector, power: int) -> fmpq_mat:
    return fmpq_mat(len(matrix.rows), matrix.width, [entry[power] for entry in matrix.numerators])
