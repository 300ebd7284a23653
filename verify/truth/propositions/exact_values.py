"""Formulas over the rationals: matrices of flint, numbers with the square roots and eigenvalues that norms bring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_mat

from spec.formulas.tree import Shape
from verify.truth.algebra.rationals import Number, beside, column, rational, select
from verify.truth.algebra.reals import ExactReal, extreme_eigenvalue, frobenius_norm, largest, spectral_norm
from verify.truth.propositions.arithmetic import NoValueError, holds


class ExactArithmetic:
    """Rational matrices; numbers are real algebraic ones, their signs decided."""

    def number(self, value: Fraction) -> ExactReal:
        return ExactReal.of(value)

    def vector(self, entries: Sequence[Number]) -> fmpq_mat:
        return column(entries)

    def matrix(self, rows: Sequence[Sequence[Number]], width: int) -> fmpq_mat:
        return fmpq_mat(len(rows), width, [rational(value) for row in rows for value in row])

    def plus(self, a: ExactReal, b: ExactReal) -> ExactReal:
        return a + b

    def times(self, a: ExactReal, b: ExactReal) -> ExactReal:
        return a * b

    def power(self, a: ExactReal, exponent: Fraction) -> ExactReal:
        if exponent < 0 and a.sign == 0:
            raise NoValueError("a quotient by 0")
        if exponent.denominator == 1:
            return a ** int(exponent)
        if a.sign < 0:
            raise NoValueError("a root of a negative number")
        return a.sqrt() ** exponent.numerator

    def add(self, u: fmpq_mat, v: fmpq_mat) -> fmpq_mat:
        return u + v

    def scale(self, factor: ExactReal, v: fmpq_mat) -> fmpq_mat:
        if factor.rational is None:
            raise NoValueError("an irrational number times a vector has no exact value")
        return v * rational(factor.rational)

    def matmul(self, left: fmpq_mat, right: fmpq_mat) -> fmpq_mat:
        return left * right

    def transpose(self, matrix: fmpq_mat) -> fmpq_mat:
        return matrix.transpose()

    def entries(self, matrix: fmpq_mat) -> list[ExactReal]:
        return [ExactReal.of(value) for value in matrix.entries()]

    def entrywise(self, u: fmpq_mat, v: fmpq_mat) -> fmpq_mat:
        return fmpq_mat(u.nrows(), 1, [s * t for s, t in zip(u.entries(), v.entries(), strict=True)])

    def select(self, matrix: fmpq_mat, rows: Sequence[int]) -> fmpq_mat:
        return select(matrix, rows)

    def beside(self, left: fmpq_mat, right: fmpq_mat) -> fmpq_mat:
        return beside(left, right)

    def is_zero(self, matrix: fmpq_mat) -> bool:
        return all(value == 0 for value in matrix.entries())

    def farthest(self, fixed: fmpq_mat, matrix: fmpq_mat) -> ExactReal:
        if not self.is_zero(fixed):
            raise NoValueError("a largest value is exact where what does not move with the error is 0")
        return spectral_norm(matrix)

    def function(self, name: str, args: Sequence[Any], shapes: Sequence[Shape]) -> Any:
        match name, args:
            case "norm", [matrix]:
                return frobenius_norm(matrix) if len(shapes[0]) == 1 else spectral_norm(matrix)
            case "eig_min" | "eig_max", [matrix]:
                return extreme_eigenvalue(matrix, smallest=name == "eig_min")
            case "det", [matrix]:
                return ExactReal.of(matrix.det())
            case "rank", [matrix]:
                return ExactReal.of(matrix.rank() if matrix.nrows() and matrix.ncols() else 0)
            case "row_squares", [matrix]:
                return fmpq_mat(matrix.nrows(), 1, [sum((v * v for v in row), fmpq(0)) for row in matrix.tolist()])
            case "sum", [vector]:
                return ExactReal.of(sum(vector.entries(), fmpq(0)))
            case "clip", [vector]:
                return fmpq_mat(vector.nrows(), 1, [min(max(value, fmpq(0)), fmpq(1)) for value in vector.entries()])
            case "inside", [vector]:
                return fmpq_mat(vector.nrows(), 1, [int(0 < value < 1) for value in vector.entries()])
            case "positive", [vector]:
                return fmpq_mat(vector.nrows(), 1, [max(value, fmpq(0)) for value in vector.entries()])
            case "diag", [vector]:
                size, listed = vector.nrows(), vector.entries()
                return fmpq_mat(size, size, [listed[i] if i == j else 0 for i in range(size) for j in range(size)])
            case "solve", [matrix, right]:
                if matrix.det() == 0:
                    raise NoValueError("a linear system is singular here")
                return matrix.solve(right)
            case "beside", [left, right]:
                return beside(left, right)
            case "above", [top, bottom]:
                return beside(top.transpose(), bottom.transpose()).transpose()
            case "sqrt", [number]:
                return self.power(number, Fraction(1, 2))
            case "abs", [number]:
                return number if number.sign >= 0 else -number
            case "ceil", [number]:
                return ExactReal.of(_ceiling(number))
            case "floor", [number]:
                return ExactReal.of(-_ceiling(-number))
            case "min" | "max", _:
                numbers = self.entries(args[0]) if len(args) == 1 else list(args)
                if not numbers:
                    raise NoValueError(f"{name} of no numbers")
                return largest(numbers) if name == "max" else -largest([-number for number in numbers])
        raise NoValueError(f"{name} has no exact value")

    def compare(self, relation: str, a: ExactReal, b: ExactReal) -> bool:
        return holds(relation, (a - b).sign)

    def order(self, name: str, left: ExactReal, right: ExactReal) -> None:  # noqa: ARG002  # the protocol's
        raise NoValueError(f"{name}(...) is about a limit, not about one place")


def _ceiling(number: ExactReal) -> int:
    if number.rational is not None:
        return math.ceil(number.rational)
    near = round(float(number))
    for candidate in (near - 1, near, near + 1):
        if (number - ExactReal.of(candidate)).sign <= 0:
            return candidate
    raise NoValueError("a rounded number is too large")
