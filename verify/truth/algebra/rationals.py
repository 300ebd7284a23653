"""Exact rational linear algebra: matrices of a problem over the rationals, and back to fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Generic, TypeAlias, TypeVar

from flint import fmpq, fmpq_mat

from spec import ExactArray, InvalidInputError, Quadratic
from spec.exact import Entry
from verify.truth.algebra.kept_answers import kept

M = TypeVar("M")

Number: TypeAlias = Rational | float
"""A rational number; a float stands for the dyadic rational it is."""
Vector: TypeAlias = tuple[Fraction, ...]
"""An exact vector."""


@dataclass(frozen=True, eq=False)
class Blocks(Generic[M]):
    """Every block of a quadratic problem that the hypergradient depends on, as matrices of one kind.

    ``g.xx`` and ``g.x`` drop out.
    """

    f_xx: M
    f_xy: M
    f_yy: M
    f_x: M
    f_y: M
    g_xy: M
    g_yy: M
    g_y: M
    A: M
    B: M
    b: M

    @classmethod
    def of(cls, problem: Quadratic, matrix_of: Callable[[ExactArray], M]) -> Blocks[M]:
        """The blocks of a problem, each turned into a matrix."""
        f, g, rows = problem.f, problem.g, problem.constraints
        arrays = (f.xx, f.xy, f.yy, f.x, f.y, g.xy, g.yy, g.y, rows.A, rows.B, rows.b)
        return cls(*(matrix_of(array) for array in arrays))


RationalBlocks: TypeAlias = Blocks[fmpq_mat]


@kept(1)
def blocks(problem: Quadratic) -> RationalBlocks:
    """All blocks as rational matrices; vectors are columns."""
    return Blocks.of(problem, matrix)


def matrix(array: ExactArray) -> fmpq_mat:
    """Rational matrix of an exact array; a vector becomes a column."""
    listed = fmpq_mat([[_entry(value) for value in row] for row in array.rows])
    return listed.transpose() if array.ndim == 1 else listed


def column(values: Iterable[Number]) -> fmpq_mat:
    """Rational column of numbers."""
    return fmpq_mat([[rational(value)] for value in values])


def diagonal(values: Sequence[Number]) -> fmpq_mat:
    """Rational diagonal matrix."""
    square = fmpq_mat(len(values), len(values))
    for i, value in enumerate(values):
        square[i, i] = rational(value)
    return square


def rational(value: Number) -> fmpq:
    """Rational number from a Python one."""
    exact = value if isinstance(value, Fraction | int) else Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def fraction(value: fmpq) -> Fraction:
    """Python fraction from a rational number."""
    return Fraction(int(value.p), int(value.q))


def fractions(values: fmpq_mat) -> Vector:
    """Python fractions of a column."""
    return tuple(fraction(value) for value in values.entries())


def select(values: fmpq_mat, rows: Sequence[int], columns: Sequence[int] | None = None) -> fmpq_mat:
    """The given rows (and columns) of a matrix; either may be empty."""
    chosen = range(values.ncols()) if columns is None else columns
    return fmpq_mat(len(rows), len(chosen), [values[i, j] for i in rows for j in chosen])


def beside(*parts: fmpq_mat) -> fmpq_mat:
    """Matrices of equal height, side by side."""
    listed = [part.tolist() for part in parts]
    height = parts[0].nrows()
    flat = [value for i in range(height) for rows in listed for value in rows[i]]
    return fmpq_mat(height, sum(part.ncols() for part in parts), flat)


def is_positive_definite(symmetric: fmpq_mat) -> bool:
    """Whether all pivots of exact symmetric elimination are positive."""
    work = symmetric.tolist()
    size = len(work)
    for k in range(size):
        pivot = work[k][k]
        if pivot <= 0:
            return False
        for i in range(k + 1, size):
            factor = work[i][k] / pivot
            if factor != 0:
                for j in range(k + 1, i + 1):
                    work[i][j] -= factor * work[j][k]
    return True


def point(values: Sequence[Number], length: int, argument: str) -> Vector:
    """Exact coordinates of a point given by a caller, refused if the length is wrong or one is not a finite number."""
    if len(values) != length:
        raise InvalidInputError(argument, f"must have length {length}", len(values))
    return tuple(number(value, f"{argument}[{i}]") for i, value in enumerate(values))


def number(value: Number, argument: str) -> Fraction:
    """Exact value of a number given by a caller, refused if it is not finite."""
    try:
        return Fraction(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(argument, "must be a finite number", value) from None


def _entry(value: Entry) -> fmpq | int:
    if type(value) is int:
        return value
    exact = value if isinstance(value, Fraction | int) else Fraction(value)
    return fmpq(exact.numerator, exact.denominator)
