r"""The least value of a linear function on a polyhedron cut by a ball, with a bound proven by weak duality.

.. math:: \min\{a^T z : Mz \le q, \|z-x\| \le r\} \ge (a + M^T w)^T x - w^T q - r\|a + M^T w\| \quad (w \ge 0).
"""

from __future__ import annotations

import math
from fractions import Fraction

import daqp
import numpy as np
from flint import fmpq_mat

from spec.exact import FloatArray
from verify.truth.algebra.rationals import column, fraction
from verify.truth.algebra.roots import root_above

MAX_STEPS = 60
FARTHEST = 1e8
"""Where the path of projections is given up, in radii: the ball then decides nothing."""


def least(
    a: FloatArray, M: FloatArray, q: FloatArray, x: FloatArray, r: float, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Approximate minimiser z and weights w of the rows, following the projections of x - tau a as tau grows.

    Args:
        a: Linear function, shape (n,).
        M: Shape (k, n), no zero row.
        q: Shape (k,).
        x: Centre of the ball, shape (n,).
        r: Radius, > 0.
        start: Any point of the polyhedron in the ball; returned where nothing better is found.

    Returns:
        z, shape (n,), feasible but for rounding, and w >= 0, shape (k,). Both are only as good as doubles: what
        they prove is for :func:`proven_bound` to say.
    """
    length = float(np.linalg.norm(a))
    if length == 0.0:
        return start, np.zeros(len(q))
    d = a / length
    low, high, tau = 0.0, math.inf, r
    best, weights = start, np.zeros(len(q))
    for _ in range(MAX_STEPS):
        found = _project(x - tau * d, M, q)
        if found is None:
            break
        z, nu = found
        distance = float(np.linalg.norm(z - x))
        working = nu > 0
        w_W, *_ = np.linalg.lstsq(M[working].T, -d, rcond=None) if working.any() else (np.zeros(0),)
        null = d + M[working].T @ w_W
        slope = float(np.linalg.norm(null))
        if distance <= r * (1 + 1e-13):
            best, weights, low = z, nu / tau, tau
            if slope <= 1e-9 and (w_W >= 0).all():
                # The rows alone hold the minimum; the ball is slack.
                weights = np.zeros(len(q))
                weights[working] = w_W
                break
            if distance >= r * (1 - 1e-13):
                break
        else:
            high = tau
            weights = nu / tau
        # While the working rows stay the same, |z - x|^2 = |foot|^2 + tau^2 |null|^2.
        foot = z - x + tau * null
        room = r * r - float(foot @ foot)
        following = math.sqrt(room) / slope if room > 0 and slope > 1e-12 else math.inf
        if not low < following < high:
            following = 4 * tau if math.isinf(high) else 0.5 * (low + high)
        if following > FARTHEST * r or abs(following - tau) <= 1e-15 * tau:
            break
        tau = following
    return best, length * np.maximum(weights, 0.0)


def _project(point: FloatArray, M: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Projection onto M z <= q, and its multipliers."""
    if not len(q):
        return point, np.zeros(0)
    n = len(point)
    z, _, flag, info = daqp.solve(np.eye(n), -point, M, q, np.full(len(q), -np.inf))
    if flag < 1:
        return None
    return np.asarray(z), np.asarray(info["lam"])[-len(q) :]


def proven_bound(a: fmpq_mat, M: fmpq_mat, q: fmpq_mat, weights: FloatArray, x: fmpq_mat, radius: Fraction) -> Fraction:
    """Exact lower bound of the minimum that nonnegative weights prove.

    Args:
        a: Shape (n, 1).
        M: Shape (p, n).
        q: Shape (p, 1).
        weights: Shape (p,); negative ones count as zero.
        x: Shape (n, 1).
        radius: Radius, > 0.
    """
    w = column([max(0.0, float(value)) for value in weights]) if len(weights) else fmpq_mat(0, 1)
    tilted = a + M.transpose() * w if len(weights) else a
    value = fraction((tilted.transpose() * x)[0, 0])
    if len(weights):
        value -= fraction((w.transpose() * q)[0, 0])
    return value - radius * root_above(fraction((tilted.transpose() * tilted)[0, 0]))
