"""Sizes of what a problem adds up, in plain Python and a fixed order: no library may round them differently."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import fmpq_mat

from verify.truth.algebra.rationals import fraction, matrix
from verify.truth.stages import Setting

U = 2.0**-53
"""Unit roundoff of doubles."""
FACTOR = 4
"""Roundings allowed for each term of a sum."""
Sizes = list[float]
Rows = list[list[float]]


@dataclass(frozen=True)
class Sizing:
    """Sizes of a problem's parts at a point.

    Args:
        setting: Problem, point and alpha.
    """

    setting: Setting

    @cached_property
    def gamma(self) -> float:
        """The relative error allowed to one sum."""
        q = self.setting.problem
        return FACTOR * (q.n + q.m + q.p + 4) * U

    @cached_property
    def alpha_1(self) -> float:
        return float(self.setting.alpha**-2)

    @cached_property
    def alpha_2(self) -> float:
        return float(self.setting.alpha**-4)

    @cached_property
    def x(self) -> Sizes:
        return sizes(self.setting.x)

    @cached_property
    def A(self) -> Rows:  # noqa: N802  # the paper's letter
        return absolute(self.setting.rows.A)

    @cached_property
    def B(self) -> Rows:  # noqa: N802  # the paper's letter
        return absolute(self.setting.rows.B)

    @cached_property
    def g_yy(self) -> Rows:
        return absolute(self.setting.rows.g_yy)

    @cached_property
    def g_xy(self) -> Rows:
        return absolute(self.setting.rows.g_xy)

    @cached_property
    def f_xy(self) -> Rows:
        return absolute(self.setting.rows.f_xy)

    @cached_property
    def g_at_x(self) -> Sizes:
        """Sizes of what depends on x alone in the gradient of g in x."""
        form = self.setting.problem.g
        return total(product(absolute(matrix(form.xx)), self.x), column_sizes(matrix(form.x)))

    def rows_at(self, y: Sequence[Fraction]) -> Sizes:
        """Sizes of what is added up in ``A x - B y - b``."""
        return total(product(self.A, self.x), product(self.B, sizes(y)), column_sizes(self.setting.rows.b))

    def grad_x_f(self, y: Sequence[Fraction]) -> Sizes:
        """Sizes of what is added up in the gradient of f in x."""
        r = self.setting.rows
        return total(column_sizes(r.f_x), product(absolute(r.f_xx), self.x), product(self.f_xy, sizes(y)))

    def grad_y_f(self, y: Sequence[Fraction]) -> Sizes:
        """Sizes of what is added up in the gradient of f in y."""
        r = self.setting.rows
        parts = product(transposed(self.f_xy, len(self.g_yy)), self.x), product(absolute(r.f_yy), sizes(y))
        return total(column_sizes(r.f_y), *parts)

    def stationarity(self, y: Sequence[Fraction], lam: Sequence[Fraction]) -> Sizes:
        """Sizes of what is added up in the gradient of g in y less ``B' lam``."""
        r, m = self.setting.rows, len(self.g_yy)
        parts = product(transposed(self.g_xy, m), self.x), product(self.g_yy, sizes(y))
        return total(column_sizes(r.g_y), *parts, product(transposed(self.B, m), sizes(lam)))


def absolute(values: fmpq_mat) -> Rows:
    """Sizes of a matrix's entries."""
    return [[abs(float(fraction(value))) for value in row] for row in values.tolist()]


def sizes(values: Sequence[Fraction]) -> Sizes:
    """Sizes of a vector's entries."""
    return [abs(float(value)) for value in values]


def column_sizes(column: fmpq_mat) -> Sizes:
    """Sizes of a column's entries."""
    return [abs(float(fraction(value))) for value in column.entries()]


def product(rows: Rows, vector: Sequence[float]) -> Sizes:
    """Matrix times vector."""
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in rows]


def transposed(rows: Rows, width: int) -> Rows:
    """The transpose; the width is told, for a matrix without rows."""
    return [[row[j] for row in rows] for j in range(width)]


def total(*parts: Sizes) -> Sizes:
    """Entrywise sum."""
    return [sum(values) for values in zip(*parts, strict=True)]


def scaled(factor: float, values: Sizes) -> Sizes:
    """A multiple."""
    return [factor * value for value in values]


def lengths(values: fmpq_mat) -> Sizes:
    """Euclidean lengths of the rows."""
    return [math.sqrt(sum(value * value for value in row)) for row in absolute(values)]
