"""Line 5 of Algorithm 1 on quadratic problems: conjugate gradients on the penalty Lagrangian, preconditioned.

One gradient of L a step, as products with M = f_yy + alpha_1 g_yy, which is formed once, and with the rows. The
preconditioner is M's diagonal and the known rows' part alpha_2 B' rho B: over bounds that is diagonal, too; of dense
rows the Gram matrix of those with rho > 0 is factorised. Where the lower level factorises g_yy for dense rows, M is
factorised once, too, and stands for its diagonal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from f2csa_ref.bounds import Indices
from f2csa_ref.fast.operators import Operator, Rows
from f2csa_ref.libraries import scipy_late as sp
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector

EPS = float(np.finfo(np.float64).eps)
KEPT = 1e-2
"""Relative change of a row's weight that a preconditioner of dense rows stays good for."""
RESTARTS = 3
"""Times the recursion is started again where its residual and the true one have parted."""

Product = Callable[[Vector], Vector]


@dataclass(frozen=True)
class Minimiser:
    """The shift w = y - y*, the norm of grad_y L there, computed anew, and the steps it took."""

    w: Vector
    gradient_norm: float
    steps: int


@dataclass(eq=False)
class HessianParts:
    """Products with the Hessian of L and with the inverse of its preconditioner, from call to call.

    A preconditioner need not be exact: that of dense rows is kept while their weights stay within ``KEPT`` of those it
    was made for.
    """

    M: Operator
    rows: Rows
    least: Vector
    """Shape (m,), > 0: what a diagonal entry of the preconditioner is at least, for M alone may be indefinite."""
    factorised: bool = False
    """Whether M may be factorised, where that serves dense rows."""
    weights: Vector | None = None
    _precondition: Any = None

    def __post_init__(self) -> None:
        self.dtype = self.M.matrix.dtype
        self.diagonal = np.maximum(self.M.diagonal.astype(np.float64), self.least)
        self.inverse = (1.0 / self.diagonal).astype(self.dtype)
        self.solved: Product = lambda v: self.inverse * v
        self.has_factor = False
        if self.rows.bounds is None:
            self._spread = self.rows.q.B / self.diagonal
            if self.factorised and self.dtype == np.float64:
                self._factorise()

    def _factorise(self) -> None:
        factor, indefinite = sp.dpotrf(self.M.matrix, lower=1)
        if indefinite:
            return
        tally = self.rows.tally
        tally.hessian_factorisations += 1
        self.has_factor = True

        def solved(v: Vector) -> Vector:
            tally.bytes_read += factor.nbytes
            solution: Vector = sp.dpotrs(factor, v, lower=1)[0]
            return solution

        self.solved, self._spread = solved, np.ascontiguousarray(sp.dpotrs(factor, self.rows.q.B.T, lower=1)[0].T)

    def at(self, weights: Vector) -> tuple[Product, Product]:
        """Both products where the rows weigh alpha_2 rho, shape (p,)."""
        M, bounds = self.M, self.rows.bounds
        if bounds is not None:
            ends = bounds.curvature(weights)
            inverse, own = (1.0 / (self.diagonal + ends)).astype(self.dtype), ends.astype(self.dtype)
            return lambda v: M.forth(v) + own * v, lambda v: inverse * v
        used = weights.nonzero()[0]
        if not len(used):
            return M.forth, self.solved
        R = self._wide(weights, used).astype(self.dtype, copy=False)
        made_for = self.weights
        if made_for is None or not (np.abs(weights - made_for) <= KEPT * np.minimum(weights, made_for)).all():
            self.weights, self._precondition = weights, self._woodbury(weights, used)
        return lambda v: M.forth(v) + R.dot(v).dot(R), self._precondition

    def prepare(self, weights: Vector | None) -> None:
        """Make the preconditioner of dense rows for these weights, shape (p,); ``None`` forgets it."""
        self.weights = weights
        self._precondition = None if weights is None else self._woodbury(weights, weights.nonzero()[0])

    def _wide(self, weights: Vector, used: Indices) -> Matrix:
        wide: Matrix = np.sqrt(weights[used])[:, None] * self.rows.q.B[used]
        return wide

    def _woodbury(self, weights: Vector, used: Indices) -> Product:
        """(D + RᵀR)⁻¹ = D⁻¹ - UᵀU with U = K⁻¹ R D⁻¹, KKᵀ = I + R D⁻¹ Rᵀ; D is M or its diagonal."""
        spread = np.sqrt(weights[used])[:, None] * self._spread[used]
        gram = spread @ self._wide(weights, used).T
        gram.flat[:: len(gram) + 1] += 1.0 + EPS * gram.trace()
        K, broken = sp.dpotrf(gram, lower=1)
        if broken:
            # Rounding alone: weights beyond it. Without its rows the preconditioner still is one.
            return self.solved
        self.rows.tally.row_factorisations += 1
        U = sp.dtrtrs(K, spread, lower=1)[0].astype(self.dtype)
        solved = self.solved
        return lambda v: solved(v) - U.dot(v).dot(U)


def minimise(
    product: Product, precondition: Product, slope: Vector, start: Vector, *, tol: float, steps: int
) -> Minimiser:
    """Minimise ½ wᵀHw + slopeᵀw until the gradient's norm is at most ``tol``, or rounding or the budget end it.

    Raises:
        InvalidInputError: If H turns out not to be positive definite.
    """
    w, taken = start, 0
    residual = -slope - product(w) if w.any() else -slope
    norm = reached = math.sqrt(residual.dot(residual))
    for _ in range(RESTARTS):
        z = precondition(residual)
        p, rz = z, float(residual.dot(z))
        while norm > tol and taken < steps:
            Hp = product(p)
            curved = float(p.dot(Hp))
            if not curved > 0:
                raise InvalidInputError("alpha", "must make the penalty Lagrangian strongly convex: lower it")
            step = rz / curved
            w = w + step * p
            residual -= step * Hp
            taken += 1
            norm = math.sqrt(residual.dot(residual))
            if norm <= tol:
                break
            z = precondition(residual)
            rz, before = float(residual.dot(z)), rz
            if not rz < 1e8 * before:
                break
            p = z + (rz / before) * p
        if not taken:
            break
        residual = -slope - product(w)
        norm, before_norm = math.sqrt(residual.dot(residual)), reached
        reached = norm
        if norm <= tol or taken >= steps or norm > 0.5 * before_norm:
            break
    return Minimiser(w, norm, taken)
