"""Whether a rational polyhedron has an interior, proven either way, and a point of it inside a ball."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

from verify.truth.algebra.rationals import Vector, column, fraction, select

MAX_HALVINGS = 200


@dataclass(frozen=True)
class Interior:
    """What could be proven.

    Args:
        empty: The interior is proven empty.
        point: A proven interior point of the polyhedron, strictly inside the ball unless the ball only touches the
            polyhedron; ``None`` where neither could be proven.
    """

    empty: bool
    point: Vector | None


def interior_point(M: fmpq_mat, q: fmpq_mat, nearest: Vector, centre: Vector, radius: Fraction) -> Interior:
    """Find an interior point of M z <= q near its point nearest to the centre.

    Args:
        M: Shape (p, n).
        q: Shape (p, 1).
        nearest: Point of the polyhedron nearest to the centre, within the closed ball.
        centre: Centre of the ball.
        radius: Radius of the ball, > 0.

    Returns:
        Proof by a point with exactly positive slacks, or by weights that combine the rows to "0 <= 0 or less".
    """
    rows = [i for i in range(M.nrows()) if any(M[i, j] != 0 for j in range(M.ncols()))]
    if not rows:
        return Interior(empty=False, point=centre)
    kept, bound = select(M, rows), select(q, rows)
    slopes = np.array([[float(fraction(v)) for v in row] for row in kept.tolist()])
    slack = np.array([float(fraction(v)) for v in (bound - kept * column(nearest)).entries()])
    norms = np.linalg.norm(slopes, axis=1)
    # Largest margin t around nearest + radius d with |d| <= 2: the cell is convex, so its interior reaches there.
    n, unit = M.ncols(), float(radius)
    found = linprog(
        np.r_[np.zeros(n), -1.0],
        A_ub=np.c_[slopes / norms[:, None], np.ones(len(rows))],
        b_ub=slack / norms / unit,
        bounds=[(-2.0, 2.0)] * n + [(None, 2.0)],
        method="highs",
    )
    if found.x is not None:
        candidate = tuple(v + radius * Fraction(float(d)) for v, d in zip(nearest, found.x[:n], strict=True))
        if all(value > 0 for value in (bound - kept * column(candidate)).entries()):
            return Interior(empty=False, point=_into_ball(candidate, nearest, centre, radius))
        if _proves_empty(kept, bound, -np.asarray(found.ineqlin.marginals) / norms):
            return Interior(empty=True, point=None)
    return Interior(empty=False, point=None)


def _into_ball(candidate: Vector, nearest: Vector, centre: Vector, radius: Fraction) -> Vector:
    """Move an interior point towards the nearest one until it is strictly inside the ball."""
    share = Fraction(1)
    for _ in range(MAX_HALVINGS):
        z = tuple(a + share * (b - a) for a, b in zip(nearest, candidate, strict=True))
        if sum((v - w) ** 2 for v, w in zip(z, centre, strict=True)) < radius**2:
            return z
        share /= 2
    return nearest


def _proves_empty(M: fmpq_mat, q: fmpq_mat, weights: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """Whether the rows that carry weight combine exactly to M'w = 0 and q'w <= 0 with w >= 0, w != 0."""
    support = [i for i, w in enumerate(weights) if w > 1e-9 * max(1e-300, float(np.abs(weights).max()))]
    if not support:
        return False
    M_S, q_S = select(M, support), select(q, support)
    null, rank = _left_null(M_S)
    if len(support) - rank != 1:
        return False
    w = null if sum(1 for v in null if v > 0) >= sum(1 for v in null if v < 0) else [-v for v in null]
    if any(v < 0 for v in w):
        return False
    return sum((v * q_S[i, 0] for i, v in enumerate(w)), fmpq(0)) <= 0


def _left_null(M: fmpq_mat) -> tuple[list[fmpq], int]:
    """A vector w with w'M = 0 (the last one, from the reduced echelon form) and the rank of M."""
    reduced, rank = M.transpose().rref()
    k = M.nrows()
    pivots = [next(j for j in range(k) if reduced[i, j] != 0) for i in range(rank)]
    free = next((j for j in range(k) if j not in pivots), None)
    w = [fmpq(0)] * k
    if free is not None:
        w[free] = fmpq(1)
        for i, j in enumerate(pivots):
            w[j] = -reduced[i, free]
    return w, rank
