r"""The linear system behind an implicit gradient, with four kinds of linear algebra.

.. math:: \begin{pmatrix} H & -B^T \\ -B & 0 \end{pmatrix} \begin{pmatrix} u \\ v \end{pmatrix} =
          \begin{pmatrix} c \\ 0 \end{pmatrix}, \qquad H = \nabla^2_{yy} g, \quad B \text{ the active rows.}

``naive`` factorises the whole matrix, ``standard`` the whole of H, ``best`` only H on the coordinates that no row of a
single entry fixes (the free block of a box); ``cg`` factorises nothing of H. All four solve the same system.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.second_derivatives.curvature import Curvature
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector

LinearAlgebra = Literal["naive", "standard", "best", "cg"]

CG_TOL = 1e-13
"""Residual, relative to the right-hand side, at which conjugate gradients stop."""
CG_ACCEPTED = 1e-8
"""Largest relative residual of a solution that counts, where rounding forbids the aim."""


class LinearSolveError(RuntimeError):
    """The system was not solved: conjugate gradients spent their budget, or H is not positive definite."""


@dataclass(frozen=True)
class KKTSolution:
    """Solution u (m,), v (one a row), and its work.

    ``work`` counts ``hessian_products`` (H times a vector) and each factorisation by kind and size, as
    ``cholesky(50)`` or ``lu(70)``.
    """

    u: Vector
    v: Vector
    work: Counter[str]


def solve_kkt(
    curvature: Curvature, B: Matrix, c: Vector, linear_algebra: LinearAlgebra = "best", cg_tol: float = CG_TOL
) -> KKTSolution:
    """Solve the system; H positive definite, rows of B (k, m) independent, c (m,).

    Raises:
        InvalidInputError: If the kind of linear algebra is unknown, or a factorisation is asked of products alone.
        LinearSolveError: If H is not positive definite, or conjugate gradients do not converge.
    """
    if linear_algebra not in get_args(LinearAlgebra):
        raise InvalidInputError(
            "linear_algebra", f"must be one of {', '.join(get_args(LinearAlgebra))}", linear_algebra
        )
    try:
        if linear_algebra == "naive":
            return _naive(curvature.dense_yy, B, c)
        if linear_algebra == "standard":
            return _standard(curvature.dense_yy, B, c)
        H = curvature.yy if linear_algebra == "cg" else curvature.dense_yy
        return _on_free_block(H, B, c, linear_algebra, cg_tol)
    except np.linalg.LinAlgError as error:
        raise LinearSolveError(f"the Hessian of g in y must be positive definite here ({error})") from None


def _naive(H: Matrix, B: Matrix, c: Vector) -> KKTSolution:
    """LU of the whole matrix."""
    k, m = B.shape
    whole = np.block([[H, -B.T], [-B, np.zeros((k, k))]])
    factor = sp.lu_factor(whole)
    both = sp.lu_solve(factor, np.concatenate([c, np.zeros(k)]))
    return KKTSolution(both[:m], both[m:], Counter({f"lu({m + k})": 1}))


def _standard(H: Matrix, B: Matrix, c: Vector) -> KKTSolution:
    """Cholesky of H, then of the Schur complement S = B H⁻¹ Bᵀ: S v = -B H⁻¹ c, u = H⁻¹ (c + Bᵀ v)."""
    k, m = B.shape
    work = Counter({f"cholesky({m})": 1})
    factor = sp.cho_factor(H)
    u = sp.cho_solve(factor, c)
    v = np.zeros(k)
    if k:
        spread = sp.cho_solve(factor, B.T)
        v = -sp.cho_solve(sp.cho_factor(B @ spread), B @ u)
        u = u + spread @ v
        work[f"cholesky({k})"] += 1
    return KKTSolution(u, v, work)


def _on_free_block(H: Any, B: Matrix, c: Vector, linear_algebra: LinearAlgebra, cg_tol: float) -> KKTSolution:
    """Rows of one entry say u_j = 0: solve on the other coordinates, then read those rows' v off."""
    m = len(c)
    if not m:
        return KKTSolution(c, np.zeros(len(B)), Counter())
    entries = np.count_nonzero(B, axis=1)
    single = entries == 1
    fixed = np.abs(B[single]).argmax(axis=1)
    free = np.setdiff1d(np.arange(m), fixed)
    u, v = np.zeros(m), np.zeros(len(B))
    work: Counter[str] = Counter()
    rows = B[~single][:, free]
    if len(free):
        if linear_algebra == "cg":

            def product(w: Vector) -> Vector:
                padded = np.zeros(m)
                padded[free] = w
                turned: Vector = np.asarray(H @ padded)[free]
                return turned

            inner = _projected_cg(product, rows, c[free], cg_tol)
        else:
            inner = _standard(H[np.ix_(free, free)] if len(fixed) else H, rows, c[free])
        u[free], v[~single], work = inner.u, inner.v, inner.work
    if len(fixed):
        excess = np.asarray(H @ u) - v[~single] @ B[~single] - c
        v[single] = excess[fixed] / B[single, fixed]
        work["hessian_products"] += 1
    return KKTSolution(u, v, work)


def _projected_cg(product: Callable[[Vector], Vector], B: Matrix, c: Vector, cg_tol: float) -> KKTSolution:
    """Conjugate gradients on the null space of B, with products by H alone; only B Bᵀ is factorised.

    Source: Gould, Hribar, Nocedal: On the solution of equality constrained quadratic programming problems arising in
    optimization, SIAM Journal on Scientific Computing 23, 2001.
    """
    k, m = B.shape
    gram = sp.cho_factor(B @ B.T) if k else None
    work = Counter({f"cholesky({k})": 1} if k else {})

    def onto_rows(r: Vector) -> Vector:
        return np.zeros(0) if gram is None else np.asarray(sp.cho_solve(gram, B @ r))

    def project(r: Vector) -> Vector:
        once: Vector = r - onto_rows(r) @ B
        twice: Vector = once - onto_rows(once) @ B  # what rounding left of the rows goes too
        return twice

    u, r = np.zeros(m), -c
    g = project(r)
    d, square = -g, float(g @ g)
    tol, best = cg_tol * float(np.linalg.norm(c)), (math.inf, u)
    for _ in range(20 * m + 100):
        if math.sqrt(square) < best[0]:
            best = (math.sqrt(square), u)
        if math.sqrt(square) <= tol:
            break
        Hd = product(d)
        work["hessian_products"] += 1
        bend = float(d @ Hd)
        if not bend > 0:
            raise LinearSolveError("the Hessian of g in y must be positive definite here")
        u = u + square / bend * d
        r = r + square / bend * Hd
        g = project(r)
        square, before = float(g @ g), square
        d = project(-g + square / before * d)
    reached, u = best
    if reached > max(CG_ACCEPTED, cg_tol) * float(np.linalg.norm(c)):
        rule = 'take linear_algebra "best"'
        raise LinearSolveError(f"conjugate gradients stopped at residual {reached:.1e}, aiming at {tol:.1e}; {rule}")
    # H u - c lies in the span of the rows: their v.
    work["hessian_products"] += bool(k)
    return KKTSolution(u, onto_rows(product(u) - c) if k else np.zeros(0), work)
