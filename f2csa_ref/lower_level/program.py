"""One strictly convex quadratic program with multipliers, scaled so that tolerances mean something."""

from __future__ import annotations

import daqp
import numpy as np

from f2csa_ref.lower_level.solution import LowerLevelError
from f2csa_ref.vectors import Matrix, Vector
from spec.errors import InvalidInputError

PRIMAL_TOL = 1e-12
"""Infeasibility daqp accepts, relative to the scaled rows; its default 1e-6 loses active rows."""
SINGULAR_TOL = 1e-16
"""Squared distance below which daqp takes a row for dependent; its default mistakes near for exact dependence."""
_OPTIMAL, _INFEASIBLE = 1, -1


def solve_program(H: Matrix, c: Vector, B: Matrix, r: Vector, *, size: float, x: Vector) -> tuple[Vector, Vector]:
    """Minimise ½ yᵀHy + cᵀy over B y >= r.

    Args:
        H: Shape (m, m), positive definite, of norm about 1.
        c: Shape (m,).
        B: Shape (p, m).
        r: Shape (p,).
        size: Expected size of y, > 0, by which the problem is scaled.
        x: Upper variable, only named in errors.

    Returns:
        y of shape (m,) and multipliers of shape (p,) with H y + c = Bᵀ lam.

    Raises:
        InvalidInputError: If no y satisfies the rows.
        LowerLevelError: If daqp gives up.
    """
    lengths = np.linalg.norm(B, axis=1)
    empty = lengths == 0
    if (empty & (r > 0)).any():
        raise _infeasible(x)
    scale = np.where(empty, 1.0, lengths)
    upper = np.where(empty, 1.0, -r / (scale * size))
    y, _, flag, info = daqp.solve(H, c / size, -B / scale[:, None], upper, primal_tol=PRIMAL_TOL, sing_tol=SINGULAR_TOL)
    if flag == _INFEASIBLE:
        raise _infeasible(x)
    if flag != _OPTIMAL:
        raise LowerLevelError(f"daqp stopped with exit flag {flag} after {info['iterations']} iterations")
    lam = np.asarray(info["lam"], dtype=np.float64)
    return np.asarray(y, dtype=np.float64) * size, lam * size / scale


def _infeasible(x: Vector) -> InvalidInputError:
    rule = "lower-level problem is infeasible here: no y satisfies A x - B y - b <= 0"
    return InvalidInputError("x", rule, x.tolist())
