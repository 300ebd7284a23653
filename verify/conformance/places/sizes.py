"""Sizes of what a problem's formulas add up, in a fixed order: no library may round them differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TypeAlias

import numpy as np
from flint import fmpq_mat

from spec.blocks.quadratic import QuadraticArrays
from spec.exact import FloatArray
from verify.truth.algebra.numbers import Real, double
from verify.truth.stages import ExactSetting

Sizes: TypeAlias = FloatArray
"""Numbers >= 0, entry by entry."""
U = 2.0**-53
"""Unit roundoff of doubles."""
FACTOR = 4
"""Roundings allowed for each term of a sum."""


@dataclass(frozen=True)
class Allowance:
    """What an implementation is allowed.

    Factors on the rounding of one evaluation as it is written and on the penalty minimiser's stopping rule; a relative
    residual of a lower-level solver; errors of a weight beside its rounding, and of an estimate whose parts are zero.
    """

    roundings: float = 1.0
    residual: float = 0.0
    stop: float = 1.0
    weights: float = 0.0
    estimate: float = 0.0


ONE_EVALUATION = Allowance()
"""What published vectors allow: each formula evaluated once."""
ANY_PROGRAM = Allowance(roundings=1.5, residual=1e-7, stop=1.5, weights=1e-9, estimate=128 * U)
"""What honest programs need, whatever their solvers: ten times a solver's usual residual of 1e-8, other orders of
summation, fused products, a stop that is tested on a gradient of its own."""


@dataclass(frozen=True)
class Sizing:
    """Sizes of what a problem's formulas add up at a point, for implementations with an allowance."""

    setting: ExactSetting
    allowance: Allowance = ONE_EVALUATION

    @cached_property
    def gamma(self) -> float:
        """The relative error allowed to one sum."""
        q = self.setting.problem
        return self.allowance.roundings * FACTOR * (q.n + q.m + q.p + 4) * U

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
    def blocks(self) -> QuadraticArrays:
        """Sizes of the entries of every block of the problem."""
        a = self.setting.problem.arrays
        return QuadraticArrays(**{block.name: np.abs(getattr(a, block.name)) for block in fields(a)})

    @cached_property
    def g_at_x(self) -> Sizes:
        """Sizes of what depends on x alone in the gradient of g in x."""
        return times(self.blocks.g_xx, self.x) + self.blocks.g_x

    def rows(self, y: Sizes) -> Sizes:
        """Sizes of what is added up in ``A x - B y - b``."""
        q = self.blocks
        return times(q.A, self.x) + times(q.B, y) + q.b

    def grad_x_f(self, y: Sizes) -> Sizes:
        """Sizes of what is added up in the gradient of f in x."""
        q = self.blocks
        return q.f_x + times(q.f_xx, self.x) + times(q.f_xy, y)

    def grad_y_f(self, y: Sizes) -> Sizes:
        """Sizes of what is added up in the gradient of f in y."""
        q = self.blocks
        return q.f_y + times(q.f_xy.T, self.x) + times(q.f_yy, y)

    def stationarity(self, y: Sizes, lam: Sizes) -> Sizes:
        """Sizes of what is added up in the gradient of g in y less ``B' lam``."""
        q = self.blocks
        return q.g_y + times(q.g_xy.T, self.x) + times(q.g_yy, y) + times(q.B.T, lam)


def sizes(values: Sequence[Real]) -> Sizes:
    """Sizes of a vector's entries, exact or in balls."""
    return np.array([abs(double(value)) for value in values], dtype=np.float64)


def absolute(values: fmpq_mat) -> Sizes:
    """Sizes of a matrix's entries."""
    flat = [abs(int(value.p) / int(value.q)) for value in values.entries()]  # correctly rounded
    return np.array(flat, dtype=np.float64).reshape(values.nrows(), values.ncols())


def times(rows: Sizes, vector: Sizes) -> Sizes:
    """Matrix times vector, from left to right."""
    return sum((rows[:, j] * vector[j] for j in range(len(vector))), np.zeros(len(rows)))


def lengths(values: fmpq_mat) -> Sizes:
    """Euclidean lengths of the rows."""
    squares = absolute(values) ** 2
    return np.sqrt(times(squares, np.ones(squares.shape[1])))
