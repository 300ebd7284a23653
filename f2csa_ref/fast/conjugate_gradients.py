"""Line 5 of Algorithm 1 on quadratic problems: conjugate gradients on the penalty Lagrangian, preconditioned.

One gradient of L a step, as products with M = f_yy + alpha_1 g_yy, which is formed once, and with the rows. The
preconditioner is M's diagonal and the known rows' part alpha_2 B' rho B: over bounds that is diagonal, too; of dense
rows the Gram matrix of those with rho > 0 is factorised.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpotrs

from f2csa_ref.fast.operators import Operator, Rows
from spec.errors import InvalidInputError
from spec.exact import Vector

EPS = float(np.finfo(np.float64).eps)
RESTARTS = 3
"""Times the recursion is started again where its residual and the true one have parted."""

Product = Callable[[Vector], Vector]


@dataclass(frozen=True)
class Minimiser:
    """The shift w = y - y*, the norm of grad_y L there, computed anew, and the steps it took."""

    w: Vector
    gradient_norm: float
    steps: int


def hessian_parts(M: Operator, rows: Rows, weights: Vector) -> tuple[Product, Product]:
    """Products with the Hessian of L and with the inverse of its preconditioner; ``weights`` is alpha_2 rho, (p,)."""
    dtype = M.matrix.dtype
    diagonal = M.diagonal.astype(np.float64)
    if rows.bounds is not None:
        ends = rows.bounds.curvature(weights)
        inverse, own = (1.0 / (diagonal + ends)).astype(dtype), ends.astype(dtype)
        return lambda v: M.forth(v) + own * v, lambda v: inverse * v
    used = np.flatnonzero(weights)
    inverse = (1.0 / diagonal).astype(dtype)
    if not len(used):
        return M.forth, lambda v: inverse * v
    wide = np.sqrt(weights[used])[:, None] * rows.q.B[used]
    spread = wide / diagonal
    gram = spread @ wide.T
    gram[np.diag_indices_from(gram)] += 1.0 + EPS * np.trace(gram)
    factor, lower = scipy.linalg.cho_factor(gram, check_finite=False)
    rows.tally.row_factorisations += 1
    R, S = wide.astype(dtype), spread.astype(dtype)

    def precondition(v: Vector) -> Vector:
        inner, _ = dpotrs(factor, S @ v, lower=lower)
        moved: Vector = inverse * v - inner.astype(dtype, copy=False) @ S
        return moved

    return lambda v: M.forth(v) + (R @ v) @ R, precondition


def minimise(
    product: Product, precondition: Product, slope: Vector, start: Vector, *, tol: float, steps: int
) -> Minimiser:
    """Minimise ½ wᵀHw + slopeᵀw until the gradient's norm is at most ``tol``, or rounding or the budget end it.

    Raises:
        InvalidInputError: If H turns out not to be positive definite.
    """
    w, taken = start, 0
    residual = -slope - product(w) if w.any() else -slope
    norm = reached = math.sqrt(float(residual @ residual))
    for _ in range(RESTARTS):
        z = precondition(residual)
        p, rz = z, float(residual @ z)
        while norm > tol and taken < steps:
            Hp = product(p)
            curved = float(p @ Hp)
            if not curved > 0:
                raise InvalidInputError("alpha", "must make the penalty Lagrangian strongly convex: lower it")
            step = rz / curved
            w = w + step * p
            residual = residual - step * Hp
            taken += 1
            norm = math.sqrt(float(residual @ residual))
            if norm <= tol:
                break
            z = precondition(residual)
            rz, before = float(residual @ z), rz
            if not rz < 1e8 * before:
                break
            p = z + (rz / before) * p
        if not taken:
            break
        residual = -slope - product(w)
        norm, before_norm = math.sqrt(float(residual @ residual)), reached
        reached = norm
        if norm <= tol or taken >= steps or norm > 0.5 * before_norm:
            break
    return Minimiser(w, norm, taken)
