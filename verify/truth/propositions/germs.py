"""Formulas as one variable tends to 0: rational functions of it, and the first terms of what norms make of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq_mat, fmpq_poly

from spec import InvalidInputError
from spec.formulas.tree import Shape
from verify.truth.algebra.rational_functions import RationalVector, interpolate, monomial, solve, valuation
from verify.truth.algebra.rationals import Number, rational
from verify.truth.algebra.reals import ExactReal, extreme_eigenvalue, spectral_norm
from verify.truth.propositions.arithmetic import NoValueError, holds

ZERO, ONE = fmpq_poly([]), fmpq_poly([1])
SYSTEMS = 4
"""Matrices of linear systems whose inverses are kept."""


@dataclass(frozen=True)
class Germ:
    """A number that depends on the variable, for all small enough values above 0.

    Args:
        order: The power of the variable that it begins with; ``None`` where it is 0.
        sign: -1, 0 or 1.
        coefficient: Of its first term, where that is known.
        function: All of it, where it is a rational function.
    """

    order: Fraction | None
    sign: int
    coefficient: ExactReal | None = None
    function: RationalVector | None = None

    @classmethod
    def of(cls, function: RationalVector) -> Germ:
        """A rational function of the variable."""
        first = function.leading()
        if first.exponent is None:
            return NOTHING
        (coefficient,) = first.coefficient
        sign = 1 if coefficient > 0 else -1
        return cls(Fraction(first.exponent), sign, ExactReal.of(coefficient), function)

    @classmethod
    def first_term(cls, order: Fraction, coefficient: ExactReal | None) -> Germ:
        """What is positive and known by its first term alone."""
        return cls(order, 1, coefficient)


NOTHING = Germ(None, 0, None, RationalVector((ZERO,), ONE))


class GermArithmetic:
    """Matrices of rational functions; numbers are :class:`Germ`."""

    def __init__(self) -> None:
        # The matrix is kept beside its inverse: its identity is the key.
        self._systems: dict[int, tuple[RationalVector, RationalVector | None]] = {}

    def number(self, value: Fraction) -> Germ:
        return Germ.of(RationalVector.constant([value]))

    def vector(self, entries: Sequence[Number]) -> RationalVector:
        return RationalVector.constant([Fraction(value) for value in entries])

    def matrix(self, rows: Sequence[Sequence[Number]], width: int) -> RationalVector:
        return RationalVector.constant([Fraction(value) for row in rows for value in row], width)

    def plus(self, a: Germ, b: Germ) -> Germ:
        if a.function is not None and b.function is not None:
            return Germ.of(a.function + b.function)
        if a.order is None or b.order is None:
            return b if a.order is None else a
        if a.order != b.order:
            first = a if a.order < b.order else b
            return Germ(first.order, first.sign, first.coefficient)
        if a.coefficient is not None and b.coefficient is not None:
            total = a.coefficient + b.coefficient
            if total.sign == 0:
                raise NoValueError("the first terms cancel, and further ones are not known")
            return Germ(a.order, total.sign, total)
        if a.sign != b.sign:
            raise NoValueError("a difference of what is known by its order has no order")
        return Germ(a.order, a.sign)

    def times(self, a: Germ, b: Germ) -> Germ:
        if a.order is None or b.order is None:
            return NOTHING
        if a.function is not None and b.function is not None:
            return Germ.of((a.function * b.function).reduced())
        known = a.coefficient is not None and b.coefficient is not None
        coefficient = a.coefficient * b.coefficient if known and a.coefficient and b.coefficient else None
        return Germ(a.order + b.order, a.sign * b.sign, coefficient)

    def power(self, a: Germ, exponent: Fraction) -> Germ:
        if a.order is None:
            if exponent <= 0:
                raise NoValueError("a quotient by 0")
            return NOTHING
        if exponent.denominator == 1 and a.function is not None:
            return Germ.of(a.function ** int(exponent))
        if exponent.denominator != 1 and a.sign < 0:
            raise NoValueError("a root of a negative number")
        sign = a.sign if exponent.numerator % 2 else 1
        return Germ(exponent * a.order, sign, None if a.coefficient is None else _power(a.coefficient, exponent))

    def add(self, u: RationalVector, v: RationalVector) -> RationalVector:
        return u + v if u.numerators else u

    def scale(self, factor: Germ, v: RationalVector) -> RationalVector:
        if factor.function is None:
            raise NoValueError("an irrational function times a vector has no exact first term")
        return (factor.function * v).reduced()

    def matmul(self, left: RationalVector, right: RationalVector) -> RationalVector:
        if left.width == 0 or not right.numerators:
            return RationalVector.constant([0] * (len(left.rows) * right.width), right.width)
        return (left @ right).reduced()

    def transpose(self, matrix: RationalVector) -> RationalVector:
        return matrix.T

    def entries(self, matrix: RationalVector) -> list[Germ]:
        return [Germ.of(RationalVector((entry,), matrix.denominator)) for entry in matrix.numerators]

    def entrywise(self, u: RationalVector, v: RationalVector) -> RationalVector:
        products = tuple(s * t for s, t in zip(u.numerators, v.numerators, strict=True))
        return RationalVector(products, u.denominator * v.denominator).reduced()

    def select(self, matrix: RationalVector, rows: Sequence[int]) -> RationalVector:
        listed = matrix.rows
        return RationalVector(tuple(entry for i in rows for entry in listed[i]), matrix.denominator, matrix.width)

    def beside(self, left: RationalVector, right: RationalVector) -> RationalVector:
        a, b = left.numerators, right.numerators
        common = left.denominator
        if left.denominator != right.denominator:
            common = left.denominator * right.denominator
            a = tuple(entry * right.denominator for entry in a)
            b = tuple(entry * left.denominator for entry in b)
        height = max(len(left.rows), len(right.rows))
        w, v = left.width, right.width
        joined = (entry for i in range(height) for entry in (*a[i * w : (i + 1) * w], *b[i * v : (i + 1) * v]))
        return RationalVector(tuple(joined), common, w + v)

    def is_zero(self, matrix: RationalVector) -> bool:
        return matrix.is_zero

    def farthest(self, fixed: RationalVector, matrix: RationalVector) -> Germ:
        alone, moved = self._norm(fixed), self._norm(matrix)
        if alone.order is None or moved.order is None:
            return moved if alone.order is None else alone
        if alone.order != moved.order:
            return alone if alone.order < moved.order else moved
        return Germ.first_term(alone.order, None)

    def function(self, name: str, args: Sequence[Any], shapes: Sequence[Shape]) -> Any:  # noqa: ARG002  # the protocol's
        match name, args:
            case "norm", [matrix]:
                return self._norm(matrix)
            case "eig_min" | "eig_max", [matrix]:
                return _eigenvalue(matrix, smallest=name == "eig_min")
            case "rank", [matrix] if all(entry.degree() <= 0 for entry in matrix.numerators):
                constant = fmpq_mat(len(matrix.rows), matrix.width, [entry[0] for entry in matrix.numerators])
                return self.number(Fraction(constant.rank() if matrix.numerators else 0))
            case "sum", [vector]:
                return Germ.of(RationalVector((sum(vector.numerators, ZERO),), vector.denominator))
            case "clip", [vector]:
                return self._cut(vector, 1)
            case "inside", [vector]:
                one = RationalVector.constant([1])
                inside = [Germ.of(entry_of(v) - one).sign < 0 < v.sign for v in self.entries(vector)]
                return self.vector([int(flag) for flag in inside])
            case "positive", [vector]:
                return self._cut(vector, None)
            case "diag", [vector]:
                size, listed = len(vector.numerators), vector.numerators
                square = tuple(listed[i] if i == j else ZERO for i in range(size) for j in range(size))
                return RationalVector(square, vector.denominator, max(size, 1))
            case "solve", [matrix, right]:
                return self._solved(matrix, right)
            case "beside", [left, right]:
                return self.beside(left, right)
            case "above", [top, bottom]:
                return self.beside(top.T, bottom.T).T
            case "sqrt", [number]:
                return self.power(number, Fraction(1, 2))
            case "abs", [number]:
                return number if number.sign >= 0 else self._minus(number)
            case "ceil", [number]:
                return self._ceiling(number)
            case "floor", [number]:
                return self._minus(self._ceiling(self._minus(number)))
            case "min" | "max", _:
                return self._extreme(name, self.entries(args[0]) if len(args) == 1 else list(args))
        raise NoValueError(f"{name} has no exact first term")

    def compare(self, relation: str, a: Germ, b: Germ) -> bool | None:
        if a.order is not None and a.order == b.order and a.sign == b.sign:
            known = a.function is not None and b.function is not None
            if not known and (a.coefficient is None or b.coefficient is None):
                return None  # of one order: constants decide, at a place
            if not known and a.coefficient and b.coefficient and (a.coefficient - b.coefficient).sign == 0:
                return None
        return holds(relation, self.plus(a, self._minus(b)).sign)

    def order(self, name: str, left: Germ, right: Germ) -> bool:
        if right.order is None:
            return left.order is None
        small = left.order is None or left.order >= right.order
        large = left.order is not None and left.order <= right.order
        return {"O": small, "Omega": large, "Theta": small and large}[name]

    def _minus(self, a: Germ) -> Germ:
        return self.times(self.number(Fraction(-1)), a)

    def _solved(self, matrix: RationalVector, right: RationalVector) -> RationalVector:
        """A linear system; a matrix that comes back is inverted once for all that follow."""
        entry = self._systems.pop(id(matrix), None)
        try:
            if entry is None:
                self._systems[id(matrix)] = (matrix, None)
                return solve(matrix, right)
            inverse = entry[1]
            if inverse is None:
                size = matrix.width
                identity = [int(i == j) for i in range(size) for j in range(size)]
                inverse = solve(matrix, RationalVector.constant(identity, size))
            self._systems[id(matrix)] = (matrix, inverse)
            return (inverse @ right).reduced()
        except InvalidInputError:
            raise NoValueError("a linear system is singular here") from None
        finally:
            while len(self._systems) > SYSTEMS:
                self._systems.pop(next(iter(self._systems)))

    def _norm(self, matrix: RationalVector) -> Germ:
        first = matrix.leading()
        if first.exponent is None:
            return NOTHING
        constant = fmpq_mat(
            len(first.coefficient) // first.width, first.width, [rational(v) for v in first.coefficient]
        )
        return Germ.first_term(Fraction(first.exponent), spectral_norm(constant))

    def _cut(self, vector: RationalVector, largest: int | None) -> RationalVector:
        cut: list[RationalVector] = []
        for entry in self.entries(vector):
            whole = RationalVector.constant([0]) if entry.sign <= 0 else entry_of(entry)
            if largest is not None and Germ.of(whole - RationalVector.constant([largest])).sign >= 0:
                whole = RationalVector.constant([largest])
            cut.append(whole)
        joined = cut[0] if cut else vector
        for part in cut[1:]:
            joined = self.beside(joined, part)
        return joined.reduced().T if len(cut) > 1 else joined

    def _ceiling(self, number: Germ) -> Germ:
        if number.order is None or number.order < 0:
            return Germ(number.order, number.sign, number.coefficient)
        if number.order > 0:
            return self.number(Fraction(int(number.sign > 0)))
        limit = number.coefficient.rational if number.coefficient is not None else None
        if limit is None:
            raise NoValueError("a rounded number is not known to enough digits")
        over = 0 if number.function is None else Germ.of(number.function - RationalVector.constant([limit])).sign
        return self.number(Fraction(math.floor(limit) + 1 if over > 0 else math.ceil(limit)))

    def _extreme(self, name: str, numbers: list[Germ]) -> Germ:
        if not numbers:
            raise NoValueError(f"{name} of no numbers")
        best = numbers[0]
        for other in numbers[1:]:
            larger = self.compare(">=", other, best)
            if larger is None:
                best = Germ(best.order, best.sign)
            elif larger == (name == "max"):
                best = other
        return best


def entry_of(germ: Germ) -> RationalVector:
    """The rational function that a number is."""
    if germ.function is None:
        raise NoValueError("a number is known by its first term alone")
    return germ.function


def _power(coefficient: ExactReal, exponent: Fraction) -> ExactReal:
    if exponent.denominator == 1:
        return coefficient ** int(exponent)
    return coefficient.sqrt() ** exponent.numerator


def _eigenvalue(matrix: RationalVector, *, smallest: bool) -> Germ:
    """The first term of an extreme eigenvalue of a symmetric matrix; its order alone where several terms decide.

    Orders are the slopes of Newton's polygon of the characteristic polynomial, and known where none is negative.
    """
    first, size = matrix.leading(), matrix.width
    if first.exponent is None:
        return NOTHING
    constant = fmpq_mat(size, size, [rational(value) for value in first.coefficient])
    extreme = extreme_eigenvalue(constant, smallest=smallest)
    if extreme.sign > 0 or (smallest and extreme.sign < 0):
        return Germ(Fraction(first.exponent), extreme.sign, extreme)
    coefficients = _characteristic(matrix)
    alternate = (entry[valuation(entry)] > 0 for entry in coefficients if not entry.is_zero())
    expected = ((size - k) % 2 == 0 for k, entry in enumerate(coefficients) if not entry.is_zero())
    if any(a != b for a, b in zip(alternate, expected, strict=True)):
        raise NoValueError("the order of an eigenvalue is known where none is negative")
    corners = [(k, valuation(entry)) for k, entry in enumerate(coefficients) if not entry.is_zero()]
    if smallest:
        low, start = corners[0]
        if low > 0:
            return NOTHING
        slope = max(Fraction(start - height, k) for k, height in corners if k > 0)
    else:
        slope = min(Fraction(height, size - k) for k, height in corners if k < size)
    return Germ.first_term(slope - valuation(matrix.denominator), None)


def _characteristic(matrix: RationalVector) -> list[fmpq_poly]:
    """Coefficients of the characteristic polynomial of the numerators, lowest first, as polynomials of the variable."""
    size = matrix.width
    degree = max(entry.degree() for entry in matrix.numerators)
    points = list(range(1, size * max(degree, 0) + 2))
    values = []
    for at in points:
        constant = fmpq_mat(size, size, [entry(rational(Fraction(at))) for entry in matrix.numerators])
        polynomial = constant.charpoly()
        values.append([polynomial[k] for k in range(size + 1)])
    return interpolate(points, values)


VARIABLE = RationalVector((monomial(1),), ONE)
"""The variable itself."""
