"""Real numbers made of rationals by + - * /, square roots and eigenvalues, whose signs are decided exactly.

Each carries an enclosure at any precision and a bound below which it can only be zero, so that an equality is decided
as surely as an inequality.

Source: C. Burnikel, S. Funke, K. Mehlhorn, S. Schirra and S. Schmitt, "A strong and easily computable separation bound
for arithmetic expressions involving radicals", Algorithmica 55 (2009): an expression of degree D whose numerator and
denominator have conjugates of at most u and l is 0, or at least ``1 / (u**(D - 1) * l)`` away from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import cast

from flint import acb, arb, ctx, fmpq, fmpq_mat, fmpz_poly

from verify.truth.algebra.rationals import rational
from verify.truth.algebra.roots import rational_root

START = 128
"""Bits of the first enclosure; doubled until the sign is sure."""
SHOWN = 400
"""Bits behind the double that is shown."""
MOST_BITS = 2**20
"""Bits after which a sign is given up: no place of the catalogue comes near."""


class UndecidedSignError(ArithmeticError):
    """A sign that would take more bits than are spent on one."""


@dataclass(frozen=True, eq=False)
class ExactReal:
    """One real algebraic number.

    ``enclosure`` makes a ball of it at flint's precision of the moment; ``top`` and ``bottom`` are the binary
    logarithms of u and l; ``roots`` are the radicals and eigenvalues in it, each with the factor by which it raises the
    degree; ``rational`` is its value where that is known to be rational, ``squared`` what it is the square root of.
    """

    enclosure: Callable[[], arb] = field(repr=False)
    top: float
    bottom: float
    roots: frozenset[tuple[int, int]] = frozenset()
    rational: Fraction | None = None
    squared: ExactReal | None = None

    @classmethod
    def of(cls, value: Fraction | int | fmpq) -> ExactReal:
        """A rational number."""
        exact = Fraction(int(value.p), int(value.q)) if isinstance(value, fmpq) else Fraction(value)
        as_flint = rational(exact)
        return cls(
            lambda: arb(as_flint), abs(exact.numerator).bit_length(), exact.denominator.bit_length(), rational=exact
        )

    def __add__(self, other: ExactReal) -> ExactReal:
        if self.rational is not None and other.rational is not None:
            return ExactReal.of(self.rational + other.rational)
        top = max(self.top + other.bottom, other.top + self.bottom) + 1
        return self._joined(other, lambda: self.enclosure() + other.enclosure(), top, self.bottom + other.bottom)

    def __neg__(self) -> ExactReal:
        return ExactReal.of(-1) * self

    def __sub__(self, other: ExactReal) -> ExactReal:
        return self + -other

    def __mul__(self, other: ExactReal) -> ExactReal:
        if self.rational is not None and other.rational is not None:
            return ExactReal.of(self.rational * other.rational)
        if self.rational == 0 or other.rational == 0:
            return ExactReal.of(0)
        if self is other and self.squared is not None:
            return self.squared
        top, bottom = self.top + other.top, self.bottom + other.bottom
        return self._joined(other, lambda: self.enclosure() * other.enclosure(), top, bottom)

    def __truediv__(self, other: ExactReal) -> ExactReal:
        if other.sign == 0:
            raise ZeroDivisionError("a quotient by 0")
        if self.rational is not None and other.rational is not None:
            return ExactReal.of(self.rational / other.rational)
        top, bottom = self.top + other.bottom, self.bottom + other.top
        return self._joined(other, lambda: self.enclosure() / other.enclosure(), top, bottom)

    def __pow__(self, power: int) -> ExactReal:
        if power < 0:
            return ExactReal.of(1) / self ** (-power)
        if self.squared is not None and power >= 2:
            even = self.squared ** (power // 2)
            return even * self if power % 2 else even
        product = ExactReal.of(1)
        for _ in range(power):
            product = product * self
        return product

    def __float__(self) -> float:
        if self.rational is not None:
            return _double(self.rational)
        with ctx.workprec(SHOWN):
            return float(self.enclosure().mid())

    def sqrt(self) -> ExactReal:
        """The square root; of a number that is not negative."""
        if self.sign < 0:
            raise ValueError("a square root of a negative number")
        if self.rational is not None and (exact := rational_root(self.rational)) is not None:
            return ExactReal.of(exact)

        def enclosure() -> arb:
            inside = self.enclosure()
            # A ball that reaches below 0 holds the 0 it may be.
            return inside.sqrt() if inside >= 0 else inside.max(arb(0)).sqrt()

        roots = self.roots | {(id(enclosure), 2)}
        return ExactReal(enclosure, (self.top + self.bottom) / 2, self.bottom, roots, squared=self)

    @cached_property
    def sign(self) -> int:
        """-1, 0 or 1, exactly."""
        if self.rational is not None:
            return (self.rational > 0) - (self.rational < 0)
        degree = math.prod(factor for _, factor in self.roots)
        enough = math.ceil((degree - 1) * self.top + self.bottom) + 8
        bits = START
        while bits <= MOST_BITS:
            with ctx.workprec(bits):
                value = self.enclosure()
                if value > 0:
                    return 1
                if value < 0:
                    return -1
                if value.is_finite() and abs(value) < arb(2) ** -enough:
                    return 0
            bits *= 2
        raise UndecidedSignError(f"a sign takes more than {MOST_BITS} bits")

    def _joined(self, other: ExactReal, enclosure: Callable[[], arb], top: float, bottom: float) -> ExactReal:
        return ExactReal(enclosure, top, bottom, self.roots | other.roots)


def largest(values: Iterable[ExactReal]) -> ExactReal:
    """The largest of one number or more."""
    first, *others = values
    for value in others:
        if (value - first).sign > 0:
            first = value
    return first


def extreme_eigenvalue(symmetric: fmpq_mat, *, smallest: bool = False) -> ExactReal:
    """The largest, or smallest, eigenvalue of a symmetric rational matrix: a root of its characteristic polynomial."""
    if symmetric.nrows() == 1:
        return ExactReal.of(symmetric[0, 0])
    polynomial: fmpz_poly = symmetric.charpoly().numer()
    coefficients = [int(value) for value in polynomial.coeffs()]
    lead = abs(coefficients[-1]).bit_length()
    height = max(abs(value) for value in coefficients).bit_length() + 1

    def enclosure() -> arb:
        # flint's own types call the list of roots a number.
        roots = cast(list[tuple[acb, int]], polynomial.complex_roots())
        return (min if smallest else max)((root.real for root, _ in roots), key=lambda value: value.mid())

    # All roots are real, and the conjugates of one are others of them: the polynomial's height bounds each.
    return ExactReal(enclosure, max(height, lead), lead, frozenset({(id(enclosure), len(coefficients) - 1)}))


def frobenius_norm(matrix: fmpq_mat) -> ExactReal:
    """Root of the sum of the squared entries: of a vector, its Euclidean norm."""
    return ExactReal.of(sum((value * value for value in matrix.entries()), fmpq(0))).sqrt()


def spectral_norm(matrix: fmpq_mat) -> ExactReal:
    """The largest singular value; 0 of an empty matrix."""
    if 0 in (matrix.nrows(), matrix.ncols()):
        return ExactReal.of(0)
    if 1 in (matrix.nrows(), matrix.ncols()):
        return frobenius_norm(matrix)
    wide = matrix.nrows() <= matrix.ncols()
    gram = matrix * matrix.transpose() if wide else matrix.transpose() * matrix
    return extreme_eigenvalue(gram).sqrt()


def _double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
