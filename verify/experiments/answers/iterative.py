"""The implicit gradient without a factorisation: the rival's best where F2CSA's first-order oracle is ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from f2csa_ref.baselines.fast_implicit import Free
from f2csa_ref.baselines.kkt_system import solve_kkt
from f2csa_ref.fast.first_order_lower import ConjugateLower, first_order_lower
from f2csa_ref.fast.operators import Operator, Rows, Tally
from f2csa_ref.objectives import QuadraticObjectives
from f2csa_ref.second_derivatives.curvature import Curvature
from spec.exact import Vector
from verify.experiments.answers.answering import Answer, Effort, Work
from verify.experiments.answers.ours import IMPLICIT, OfThisPackage, counted, since, within_the_domain

STEPS = 100_000
SHARES = (1e-3, 1e-2, 0.1, 1.0)
"""Errors of y* tried, in units of the one that alone would make the wanted error."""


@dataclass(frozen=True)
class IterativeImplicit(OfThisPackage):
    """Lower level by gradients, from the last pair; the adjoint by conjugate gradients, with products by g_yy alone."""

    name = "implicit gradient, iterative"
    method = IMPLICIT
    implementation = "gradients for the lower level, conjugate gradients for the adjoint: nothing is factorised"

    def ladders(self, wanted: float, scale: float) -> tuple[tuple[Effort, ...], ...]:
        # As for F2CSA's minimiser: an error of y* that makes the wanted one, and the adjoint's beside it.
        return (tuple({"tol": share * wanted * scale, "residual": min(0.1, share * wanted)} for share in SHARES),)

    def prepare(self, q: QuadraticObjectives, effort: Effort) -> _Iterative:
        return _Iterative(q, effort)


class _Products:
    """An operator as ``@``, each product counted."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator

    def __matmul__(self, v: Vector) -> Vector:
        return self.operator.forth(v)


@dataclass
class _Iterative:
    q: QuadraticObjectives
    effort: Effort

    def __post_init__(self) -> None:
        q = self.q
        self.tally, self.preparation = Tally(), Work(0.0, 0.0, 0, 0)
        self.f_xx, self.f_xy, self.f_yy = (Operator(block, self.tally) for block in (q.f_xx, q.f_xy, q.f_yy))
        self.g_xy, self.g_yy, self.rows = (
            Operator(q.g_xy, self.tally),
            Operator(q.g_yy, self.tally),
            Rows(q, self.tally),
        )
        # A distance of y from y*: residuals over the least curvature.
        self.lower = first_order_lower(self, self.effort["tol"] / q.mu_g, STEPS)
        self.preparation = counted(self.tally, q)

    def at(self, x: Vector, rng: np.random.Generator | None = None) -> Answer:  # noqa: ARG002  # it draws nothing
        """As :class:`verify.experiments.answers.answering.Answering`."""
        q, before = self.q, Tally(**vars(self.tally))
        with within_the_domain():
            y, lam, *_ = self.lower.solve(x, self.g_xy.back(x) + q.g_y, self.rows.reach(x))
            rows = np.flatnonzero(lam > 0)
            slope = self.f_xy.back(x) + self.f_yy.forth(y) + q.f_y
            u, v = self._adjoint(rows, slope)
        gradient = self.f_xx.forth(x) + self.f_xy.forth(y) + q.f_x - self.g_xy.forth(u)
        if self.rows.A.multiple != 0.0:
            gradient = gradient - v @ q.A[rows]
        return Answer(gradient, counted(since(self.tally, before), q))

    def _adjoint(self, rows: Any, slope: Vector) -> tuple[Vector, Vector]:
        q, residual = self.q, self.effort["residual"]
        if isinstance(self.lower, ConjugateLower) and not self.lower.stood_in:
            return self.lower.adjoint(rows, slope, residual * float(np.linalg.norm(slope)))
        if q.bounds is None:
            solved = solve_kkt(Curvature(_Products(self.g_yy), q.g_xy), q.B[rows], slope, "cg", residual)
            self.tally.row_factorisations += bool(len(rows))
            return solved.u, solved.v
        free = np.ones(q.m, dtype=bool)
        free[q.bounds.column[rows]] = False
        at, u, v = np.flatnonzero(free), np.zeros(q.m), np.zeros(len(rows))
        none = np.zeros((0, len(at)))
        u[at] = solve_kkt(Curvature(Free(self.g_yy, at), q.g_xy), none, slope[at], "cg", residual).u
        if self.rows.A.multiple != 0.0:
            v = (self.g_yy.forth(u) - slope)[q.bounds.column[rows]] / q.bounds.entries[rows]
        return u, v
