"""How the lower-level solution and its multipliers move with x: second derivatives, which the method does without."""

from __future__ import annotations

import numpy as np

from f2csa_ref.lower_level.exact import solve_quadratic
from f2csa_ref.objectives import Objectives, QuadraticObjectives
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector


def solution_maps(q: Objectives, x: Vector) -> tuple[Matrix, Matrix]:
    """Derivatives of y* (m, n) and of the multipliers (p, n) at x, rows that carry a multiplier held as equations.

    Only readings that take ``y*`` or the multipliers in the penalty Lagrangian for maps of x need them.

    Raises:
        InvalidInputError: If the problem is not quadratic, or the rows that carry a multiplier are dependent.

    Source: implicit function theorem on the optimality conditions of the lower level.
    """
    rule = "must be frozen or cancelled"
    if not isinstance(q, QuadraticObjectives):
        raise InvalidInputError("reading.dual_term", f"{rule} where the problem gives no second derivatives")
    rows = np.flatnonzero(solve_quadratic(q, x).lam > 0)
    B, k = q.B[rows], len(rows)
    if k and np.linalg.matrix_rank(B) < k:
        raise InvalidInputError("reading.dual_term", f"{rule} where the active rows are dependent")
    saddle = np.block([[q.g_yy, -B.T], [B, np.zeros((k, k))]])
    slopes = np.linalg.solve(saddle, np.vstack([-q.g_xy.T, q.A[rows]]))
    of_lam = np.zeros((q.p, q.n))
    of_lam[rows] = slopes[q.m :]
    return slopes[: q.m], of_lam
