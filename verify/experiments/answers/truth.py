"""The gradient of F to more digits than doubles have, with what it may be off: what answers are held against.

The active rows are guessed in doubles; y*, the multipliers and the adjoint solve linear systems, refined with residuals
in extended precision until they stand still; then the guess is proven by the signs of all multipliers and rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from f2csa_ref.baselines.implicit_oracle import ImplicitOracle
from f2csa_ref.fast.operators import multiple_of_identity
from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.objectives import QuadraticObjectives
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector

Extended = np.ndarray[Any, np.dtype[np.longdouble]]
ROUNDS = 8
"""Refinements after which a solution that still moves is given up."""
SIGNS = 1e-9
"""A multiplier, or a row's value, is told from zero where it exceeds this part of the largest."""
BLOCK = 256
"""Rows that are widened to extended precision at a time."""


@dataclass(frozen=True)
class BoardTruth:
    """∇F(x), (n,), in extended precision; ``error`` bounds what the last refinement still moved, relative to it."""

    x: Vector
    gradient: Extended
    error: float

    @property
    def length(self) -> float:
        """‖∇F(x)‖."""
        return float(np.sqrt((self.gradient**2).sum()))

    def error_of(self, answer: Vector) -> float:
        """‖answer - ∇F‖ / ‖∇F‖; infinite of an answer that is not finite."""
        if not np.isfinite(answer).all():
            return float("inf")
        return float(np.sqrt(((answer - self.gradient) ** 2).sum())) / self.length


class TrueGradients:
    """Gradients of F at one point after another of one quadratic problem.

    Raises:
        InvalidInputError: At a point where F is not known to be differentiable.
    """

    def __init__(self, q: QuadraticObjectives) -> None:
        self.q, self.guess = q, ImplicitOracle(q)
        self.f_xx, self.f_xy, self.f_yy, self.g_xy = (Wide(M) for M in (q.f_xx, q.f_xy, q.f_yy, q.g_xy))
        self.A, self.B, self.row_lengths = Wide(q.A), Wide(q.B), np.linalg.norm(q.B, axis=1)
        self._rows: Any = None
        self._saddle: _Saddle

    def __call__(self, x: Vector) -> BoardTruth:
        q, rows = self.q, self.guess(x).rows
        if self._rows is None or not np.array_equal(rows, self._rows):
            self._rows, self._saddle = rows, _Saddle(q.g_yy, q.B[rows])
        wide = x.astype(np.longdouble)
        c: Any = self.g_xy.back(wide) + q.g_y
        r: Any = self.A.forth(wide) - q.b
        y, lam, moved = self._saddle.solved(-c, r[rows])
        self._prove(y, lam, r)
        slope: Any = self.f_xy.back(wide) + self.f_yy.forth(y) + q.f_y
        u, v, moved_too = self._saddle.solved(slope, np.zeros(len(rows), dtype=np.longdouble))
        gradient = self.f_xx.forth(wide) + self.f_xy.forth(y) + q.f_x - self.g_xy.forth(u)
        if self.A.multiple != 0.0:
            gradient = gradient - times(q.A[rows].T, v)
        return BoardTruth(x, gradient, 4 * max(moved, moved_too))

    def _prove(self, y: Extended, lam: Extended, r: Extended) -> None:
        """By the KKT conditions, strictly: a minimiser of a strictly convex program is the only one."""
        q = self.q
        h = r - (self.B.forth(y) if q.bounds is None else q.bounds.entries * y[q.bounds.column])
        inactive = np.ones(q.p, dtype=bool)
        inactive[self._rows] = False
        slack = SIGNS * float(np.abs(y).max(initial=1.0))
        if (lam <= SIGNS * lam.max(initial=0.0)).any() or (h[inactive] > -slack * self.row_lengths[inactive]).any():
            raise InvalidInputError("x", "must be where the active rows can be told")


class _Saddle:
    """[G, -B'; B, 0][y; lam] = [right; reach], factorised in doubles once."""

    def __init__(self, G: Matrix, B: Matrix) -> None:
        self.G, self.B = G, B
        single = len(B) and (np.count_nonzero(B, axis=1) == 1).all()
        self.held = np.argmax(B != 0, axis=1) if single else np.zeros(0, dtype=np.intp)
        self.free = np.setdiff1d(np.arange(len(G)), self.held)
        self.single = bool(single)
        self.entries = B[np.arange(len(self.held)), self.held]
        block = G[np.ix_(self.free, self.free)] if self.single else G
        self.factor = sp.cho_factor(block, lower=True)
        if not self.single and len(B):
            self.spread = sp.cho_solve(self.factor, B.T)
            self.gram = sp.cho_factor(B @ self.spread, lower=True)

    def solved(self, right: Extended, reach: Extended) -> tuple[Extended, Extended, float]:
        """Both parts, and by how much the last refinement moved them, relatively."""
        y, lam = np.zeros(len(self.G), dtype=np.longdouble), np.zeros(len(self.B), dtype=np.longdouble)
        moved = float("inf")
        for _ in range(ROUNDS):
            left, short = right - times(self.G, y), reach - self._rows_times(y)
            if self.single:
                left[self.held] += self.entries * lam
            else:
                left += times(self.B.T, lam)
            step, turn = self._once(left.astype(np.float64), short.astype(np.float64))
            y, lam = y + step, lam + turn
            sizes = max(float(np.abs(y).max()), 1e-300), max(float(np.abs(lam).max(initial=0.0)), 1e-300)
            before, moved = moved, max(
                float(np.abs(step).max()) / sizes[0], float(np.abs(turn).max(initial=0.0)) / sizes[1]
            )  # fmt: skip
            if moved < float(np.finfo(np.longdouble).eps) or moved > before / 2:
                break
        return y, lam, moved

    def _rows_times(self, y: Extended) -> Extended:
        return self.entries * y[self.held] if self.single else times(self.B, y)

    def _once(self, left: Vector, short: Vector) -> tuple[Vector, Vector]:
        if self.single:
            y = np.zeros(len(self.G))
            y[self.held] = short / self.entries
            y[self.free] = sp.cho_solve(self.factor, (left - self.G @ y)[self.free])
            return y, (self.G @ y - left)[self.held] / self.entries
        y = sp.cho_solve(self.factor, left)
        if not len(self.B):
            return y, np.zeros(0)
        lam = sp.cho_solve(self.gram, short - self.B @ y)
        return y + self.spread @ lam, lam


class Wide:
    """A block times vectors in extended precision; zero and multiples of the identity are not multiplied out."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix, self.multiple = matrix, multiple_of_identity(matrix)

    def forth(self, v: Extended) -> Extended:
        """Block times v."""
        return self._times(self.matrix, v)

    def back(self, v: Extended) -> Extended:
        """Transpose times v."""
        return self._times(self.matrix.T, v)

    def _times(self, M: Matrix, v: Extended) -> Extended:
        if self.multiple is None:
            return times(M, v)
        return self.multiple * v if self.multiple else np.zeros(len(M), dtype=np.longdouble)


def times(M: Matrix, v: Extended) -> Extended:
    """M v with every product and sum in extended precision, some rows of M at a time."""
    parts = [M[at : at + BLOCK].astype(np.longdouble) @ v for at in range(0, len(M), BLOCK)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.longdouble)
