"""Implicit gradients on one quadratic problem, again and again: prepared like F2CSA's fast oracle."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from f2csa_ref.baselines.implicit_gradient import regular_rows
from f2csa_ref.baselines.kkt_system import CG_TOL, LinearAlgebra, solve_kkt
from f2csa_ref.fast.operators import Operator, Tally
from f2csa_ref.lower_level import LowerLevelSolution
from f2csa_ref.objectives import QuadraticObjectives
from f2csa_ref.second_derivatives.curvature import Curvature
from spec.exact import Vector


@dataclass(frozen=True)
class Free:
    """A symmetric operator on some of its coordinates, by ``@``: the others are zero, and are left out after."""

    whole: Operator
    coordinates: Any

    def __matmul__(self, w: Vector) -> Vector:
        padded = np.zeros(len(self.whole.matrix))
        padded[self.coordinates] = w
        product: Vector = self.whole.forth(padded)[self.coordinates]
        return product


@dataclass(eq=False)
class FastImplicit:
    """Implicit gradients at given lower-level pairs, with structure of the blocks found once.

    Over bounds the linear system is reduced to the free coordinates before anything is computed, but for ``naive`` and
    ``standard``, which are what they are. ``matrix_products`` counts products with whole blocks that are neither zero
    nor a multiple of the identity.

    Args:
        q: Quadratic objectives.
        linear_algebra: As for :func:`implicit_gradient`.
        cg_tol: Relative residual at which conjugate gradients stop.

    Source: as :func:`implicit_gradient`, which tests hold this to.
    """

    q: QuadraticObjectives
    linear_algebra: LinearAlgebra = "best"
    cg_tol: float = CG_TOL
    tally: Tally = field(default_factory=Tally, init=False)

    def __post_init__(self) -> None:
        q = self.q
        self.f_xx, self.f_xy, self.f_yy, self.g_xy, self.g_yy, self.A = (
            Operator(block, self.tally) for block in (q.f_xx, q.f_xy, q.f_yy, q.g_xy, q.g_yy, q.A)
        )

    def __call__(self, x: Vector, lower: LowerLevelSolution) -> tuple[Vector, Counter[str]]:
        """The gradient of F at x, (n,), where the lower level's pair is given, and what it took.

        Raises:
            InvalidInputError: If y* is not known to be differentiable there.
            LinearSolveError: If the linear system is not solved.
        """
        q, y, before = self.q, lower.y_star, self.tally.products
        rows = regular_rows(lower.active, lower.weakly_active, lower.licq_margin)
        grad_x = self.f_xx.forth(x) + self.f_xy.forth(y) + q.f_x
        grad_y = self.f_xy.back(x) + self.f_yy.forth(y) + q.f_y
        if q.bounds is not None and self.linear_algebra in ("best", "cg"):
            u, v, work = self._over_bounds(rows, grad_y)
        else:
            solved = solve_kkt(Curvature(q.g_yy, q.g_xy), q.B[rows], grad_y, self.linear_algebra, self.cg_tol)
            u, v, work = solved.u, solved.v, solved.work
        gradient = grad_x - self.g_xy.forth(u)
        if self.A.multiple != 0.0:
            gradient -= v @ q.A[rows]
        work["matrix_products"] = self.tally.products - before
        return gradient, work

    def _over_bounds(self, rows: Any, c: Vector) -> tuple[Vector, Vector, Counter[str]]:
        q = self.q
        assert q.bounds is not None  # as the caller saw
        column = q.bounds.column[rows]
        free = np.ones(q.m, dtype=bool)
        free[column] = False
        at = np.flatnonzero(free)
        H = Free(self.g_yy, at) if self.linear_algebra == "cg" else q.g_yy[np.ix_(at, at)]
        none = np.zeros((0, len(at)))
        inner: LinearAlgebra = "cg" if self.linear_algebra == "cg" else "standard"
        solved = solve_kkt(Curvature(H, q.g_xy), none, c[at], inner, self.cg_tol)
        u, work = np.zeros(q.m), Counter({k: n for k, n in solved.work.items() if k != "hessian_products"})
        u[at] = solved.u
        v = np.zeros(len(rows))
        if self.A.multiple != 0.0:
            v = (self.g_yy.forth(u) - c)[column] / q.bounds.entries[rows]
        return u, v, work
