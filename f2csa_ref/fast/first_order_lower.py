"""Line 3 by products with g_yy alone on one quadratic problem, again and again: nothing of f or g is factorised.

A product g_yy v is the difference of two gradients of g. Over few dense rows, conjugate gradients solve for the
minimiser without rows, from the last one, and for g_yy⁻¹Bᵀ once for all; the multipliers are then a problem of as many
unknowns as rows.
Over bounds and many rows, the accelerated gradients of :mod:`f2csa_ref.lower_level.first_order`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from f2csa_ref.bounds import Indices
from f2csa_ref.fast.conjugate_gradients import EPS, minimise
from f2csa_ref.fast.operators import Operator
from f2csa_ref.fast.prepared_lower import DUAL_ROWS, Prepared, holding
from f2csa_ref.lower_level.first_order import TARGET, FirstOrder, FirstOrderPair
from f2csa_ref.lower_level.pivoting import BlockPivoting
from f2csa_ref.lower_level.solution import LowerLevelError
from f2csa_ref.objectives import QuadraticObjectives
from spec.exact import Matrix, Vector

Solved = tuple[Vector, Vector, int, Vector]
"""y*, (m,), the multipliers, (p,), gradients of g that were taken, and the gradient at y*, (m,)."""
STALLED = 2
"""Rounds of conjugate gradients, each on what the last left, after which only rounding is left."""


_spreads: WeakKeyDictionary[QuadraticObjectives, tuple[Matrix, int, int]] = WeakKeyDictionary()
"""g_yy⁻¹Bᵀ of a problem, (m, p), with the products and the bytes that it took: oracles of one problem share it."""


def forget(q: QuadraticObjectives) -> None:
    """Drop what oracles of one problem share, so that the next one's preparation is its own."""
    _spreads.pop(q, None)
    vars(q).pop("g_yy_factor", None)


class GradientLower:
    """Line 3 by gradients, from the last call's pair, to a distance of ``tol`` from y*."""

    first_order = True

    def __init__(self, oracle: Prepared, tol: float, steps: int) -> None:
        q = self.q = oracle.q
        self.g_yy, self.tol, self.steps = oracle.g_yy, tol, steps
        self.solver, self.pair = FirstOrder(q, q.bounds), FirstOrderPair(np.zeros(q.m), np.zeros(q.p))

    def solve(self, x: Vector, c: Vector, r: Vector) -> Solved:  # noqa: ARG002  # x: the protocol's
        """The pair where grad_y g is g_yy y + c and the rows are B y >= r.

        Raises:
            InvalidInputError: If the ends of a box cross.
            LowerLevelError: If ``steps`` gradients do not reach it.
        """

        def grad(y: Vector) -> Vector:
            return self.g_yy.forth(y) + c

        tol = reachable(self.tol, c, self.q.C_g)
        self.pair = self.solver.solve(grad, r, self.pair, tol=tol, steps=self.steps)
        if self.pair.gradients >= self.steps:
            raise LowerLevelError(f"gradients did not reach {tol:.1e} within lower_level_steps = {self.steps}")
        return self.pair.y, self.pair.lam, self.pair.gradients + 1, grad(self.pair.y)

    def memory(self) -> dict[str, Any]:
        return {"y": self.pair.y.tolist(), "lam": self.pair.lam.tolist()}

    def recall(self, memory: Mapping[str, Any]) -> None:
        self.pair = FirstOrderPair(np.array(memory["y"]), np.array(memory["lam"]))


class ConjugateLower:
    """Line 3 over few dense rows: y = y_free + g_yy⁻¹Bᵀ lam, the first by conjugate gradients from the last call's.

    What y_free is off shrinks on its way to y: y is the projection of y_free in the norm of g_yy, so that
    ‖y - y*‖ <= ‖g_yy y_free + c‖ / mu_g. Where rows depend on one another :class:`GradientLower` stands in.
    """

    first_order = True

    def __init__(self, oracle: Prepared, tol: float, steps: int) -> None:
        q = self.q = oracle.q
        self.g_yy, self.tol, self.steps = oracle.g_yy, tol, steps
        self.inverse = 1.0 / q.g_yy.diagonal()
        self.free = np.zeros(q.m)
        if q not in _spreads:
            before = oracle.tally.products, oracle.tally.bytes_read
            spread = solved_columns(self.g_yy, self.inverse, q.B.T)
            _spreads[q] = spread, oracle.tally.products - before[0], oracle.tally.bytes_read - before[1]
        else:
            oracle.tally.products += _spreads[q][1]
            oracle.tally.bytes_read += _spreads[q][2]
        self.spread = _spreads[q][0]
        gram = q.B @ self.spread
        self.pivoting = BlockPivoting((gram + gram.T) / 2)
        self.zero, self.infinite = np.zeros(q.p), np.full(q.p, np.inf)
        self.otherwise, self.stood_in = GradientLower(oracle, tol, steps), False

    def solve(self, x: Vector, c: Vector, r: Vector) -> Solved:
        """As :meth:`GradientLower.solve`."""
        tol = reachable(self.tol, c, self.q.C_g)
        minimum = minimise(self.g_yy.forth, self.preconditioned, c, self.free, tol=tol * self.q.mu_g, steps=self.steps)
        if minimum.steps >= self.steps:
            raise LowerLevelError(f"gradients did not reach {tol:.1e} within lower_level_steps = {self.steps}")
        self.free = minimum.w
        pair = self._with_rows(r, tol)
        self.stood_in = pair is None
        if pair is None:
            y, lam, gradients, slope = self.otherwise.solve(x, c, r)
            return y, lam, gradients + minimum.steps, slope
        y, lam = pair
        return y, lam, minimum.steps + 2, self.g_yy.forth(y) + c

    def _with_rows(self, r: Vector, tol: float) -> tuple[Vector, Vector] | None:
        """The pair from y_free; ``None`` where the rows depend on one another, or cannot all hold."""
        B = self.q.B
        try:
            lam, _ = self.pivoting.solve(B @ self.free - r, self.zero, self.infinite)
        except LowerLevelError:
            return None
        y = self.free + self.spread @ lam
        missed = np.maximum(0.0, r - B @ y)
        return (y, lam) if math.sqrt(missed.dot(missed)) <= tol * self.q.B_norm else None

    def adjoint(self, rows: Indices, right: Vector, tol: float) -> tuple[Vector, Vector]:
        """u, (m,), and v of the active rows: g_yy u - B_rows' v = right to a residual of ``tol``, B_rows u = 0."""
        u = minimise(self.g_yy.forth, self.preconditioned, -right, np.zeros(self.q.m), tol=tol, steps=self.steps).w
        return holding(self, rows, u)

    def preconditioned(self, v: Vector) -> Vector:
        """By the inverse of g_yy's diagonal."""
        return self.inverse * v

    def memory(self) -> dict[str, Any]:
        return self.pivoting.memory() | {"free": self.free.tolist(), "pair": self.otherwise.memory()}

    def recall(self, memory: Mapping[str, Any]) -> None:
        self.free = np.array(memory["free"])
        self.pivoting.recall(memory)
        self.otherwise.recall(memory["pair"])


def first_order_lower(oracle: Prepared, tol: float, steps: int) -> GradientLower | ConjugateLower:
    """The one that suits the rows, to a distance of ``tol`` from y*, by at most so many gradients a call."""
    q = oracle.q
    few = q.bounds is None and 0 < q.p <= min(DUAL_ROWS, q.m)
    return (ConjugateLower if few else GradientLower)(oracle, tol, steps)


def reachable(tol: float, c: Vector, C_g: float) -> float:
    """``tol``, but no less than rounding leaves to gain."""
    return max(tol, TARGET * (1.0 + float(np.linalg.norm(c)) / C_g))


def solved_columns(G: Operator, inverse: Vector, right: Matrix) -> Matrix:
    """G⁻¹ times each column of ``right``, (m, p), to rounding, by conjugate gradients on all columns at once."""
    solution = np.zeros(right.shape)
    left = right.copy()
    for _ in range(STALLED):
        solution += _steps(G, inverse, left)
        left = right - G.columns(solution)
    return solution


def _steps(G: Operator, inverse: Vector, right: Matrix) -> Matrix:
    solution, left = np.zeros(right.shape), right.copy()
    enough = (EPS * np.linalg.norm(right, axis=0)) ** 2
    towards = inverse[:, None] * left
    slope = (left * towards).sum(axis=0)
    going = slope > 0
    for _ in range(2 * len(inverse)):
        product = G.columns(towards)
        step = np.divide(slope, (towards * product).sum(axis=0), out=np.zeros_like(slope), where=going)
        solution += step * towards
        left -= step * product
        going = (left * left).sum(axis=0) > enough
        if not going.any():
            break
        z = inverse[:, None] * left
        slope, before = (left * z).sum(axis=0), slope
        towards = z + np.divide(slope, before, out=np.zeros_like(slope), where=going) * towards
    return solution
