r"""Two small convex programs, in doubles and exactly: the shortest vector of a hull, the least value in a ball.

The hull is convex, a cone of axis rays added. In the ball a linear function is least on a polyhedron, and weak duality
proves a bound:

.. math:: \min\{a^T z : Mz \le q, \|z-x\| \le r\} \ge (a + M^T w)^T x - w^T q - r\|a + M^T w\| \quad (w \ge 0).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import daqp
import numpy as np
from flint import fmpq_mat

from spec import InvalidInputError
from spec.exact import FloatArray
from verify.truth.algebra.rationals import Number, Vector, column, fraction, number, rational
from verify.truth.algebra.roots import root_above

R = TypeVar("R", Fraction, float)
Box = tuple[Sequence[Number | None], Sequence[Number | None]]
"""Lower and upper ends of X, component by component; ``None`` where there is none."""


@dataclass(frozen=True)
class Rays:
    """The normal cone of a box at a point: +e_i for components at the upper end of X, -e_i for those at the lower."""

    up: tuple[int, ...] = ()
    down: tuple[int, ...] = ()

    def matrix(self, n: int) -> FloatArray:
        """Rays as columns, shape (n, number of rays)."""
        eye = np.eye(n)
        return np.column_stack([eye[:, self.up], -eye[:, self.down]])

    def without(self, u: Sequence[R]) -> tuple[R, ...]:
        """The vector with components that the cone can cancel, or make arbitrarily negative, set to zero."""
        blocked = [(i in self.up and v < 0) or (i in self.down and v > 0) for i, v in enumerate(u)]
        return tuple(v * 0 if no else v for no, v in zip(blocked, u, strict=True))


NO_RAYS = Rays()


def normal_rays(x: Vector, box: Box | None, n: int) -> Rays:
    """Rays of the normal cone of a box at x, refused if the box does not fit, is empty, or x lies outside."""
    if box is None:
        return NO_RAYS
    up, down = [], []
    for name, ends in zip(("lower", "upper"), box, strict=True):
        if len(ends) != n:
            raise InvalidInputError(f"box.{name}", f"must have length {n}", len(ends))
    for i, (low, high) in enumerate(zip(*box, strict=True)):
        least = None if low is None else number(low, f"box.lower[{i}]")
        most = None if high is None else number(high, f"box.upper[{i}]")
        if least is not None and most is not None and least > most:
            raise InvalidInputError(f"box.lower[{i}]", f"must be at most the upper end {most}", least)
        if (least is not None and x[i] < least) or (most is not None and x[i] > most):
            raise InvalidInputError(f"x[{i}]", "must lie in the box", x[i])
        if most is not None and x[i] == most:
            up.append(i)
        if least is not None and x[i] == least:
            down.append(i)
    return Rays(tuple(up), tuple(down))


def shortest(gradients: FloatArray, rays: Rays) -> tuple[FloatArray, FloatArray]:
    r"""Weights (k,), adding to 1, and value (n,) of the shortest convex combination of rows (k, n), rays added.

    Minimising :math:`\|G^T s\|^2 + (1^T s - 1)^2` over s >= 0 gives a multiple of it: along a ray of s the two
    terms trade off the same way for every combination.
    """
    from scipy.optimize import nnls  # slow to import, rarely asked

    k, n = gradients.shape
    scale = max(1.0, float(np.abs(gradients).max()))
    cone = rays.matrix(n)
    columns = np.block([[gradients.T / scale, cone], [np.ones((1, k)), np.zeros((1, cone.shape[1]))]])
    solution, _ = nnls(columns, np.r_[np.zeros(n), 1.0])
    total = solution[:k].sum()
    weights = solution[:k] / total
    return weights, scale * (gradients.T @ weights / scale + cone @ solution[k:] / total)


def shortest_exactly(gradients: Sequence[Vector], weights: FloatArray, rays: Rays) -> tuple[Fraction, Vector]:
    """Squared length and value of a short convex combination, in rational arithmetic.

    The combination is the shortest of the gradients' affine hull where that has nonnegative weights, else that of the
    given weights near the best ones.
    """
    candidates = [_normalised(weights)]
    affine = _affine_weights(gradients, rays)
    if affine is not None:
        candidates.append(affine)
    return min((_squared(gradients, chosen, rays) for chosen in candidates), key=lambda pair: pair[0])


def _squared(gradients: Sequence[Vector], weights: Sequence[Fraction], rays: Rays) -> tuple[Fraction, Vector]:
    n = len(gradients[0])
    sums = [sum((w * g[i] for w, g in zip(weights, gradients, strict=True)), Fraction(0)) for i in range(n)]
    value = rays.without(sums)
    return sum((v * v for v in value), Fraction(0)), value


def _normalised(weights: FloatArray) -> list[Fraction]:
    exact = [Fraction(max(0.0, float(w))) for w in weights]
    total = sum(exact, Fraction(0))
    return [w / total for w in exact]


def _affine_weights(gradients: Sequence[Vector], rays: Rays) -> list[Fraction] | None:
    """Weights of the shortest vector of the affine hull, components the cone covers left out; ``None`` if negative."""
    n, k = len(gradients[0]), len(gradients)
    covered = {*rays.up, *rays.down}
    G = fmpq_mat(n, k)
    for j, gradient in enumerate(gradients):
        for i in range(n):
            G[i, j] = rational(Fraction(0) if i in covered else gradient[i])
    system = fmpq_mat(k + 1, k + 1)
    normal = G.transpose() * G
    for i in range(k):
        for j in range(k):
            system[i, j] = normal[i, j]
        system[i, k] = system[k, i] = rational(1)
    right = fmpq_mat(k + 1, 1)
    right[k, 0] = rational(1)
    try:
        entries = system.solve(right).entries()[:k]
    except ZeroDivisionError:
        return None
    weights = [fraction(value) for value in entries]
    return weights if all(value >= 0 for value in weights) else None


MAX_STEPS = 60
FARTHEST = 1e8
"""Where the path of projections is given up, in radii: the ball then decides nothing."""


def least(
    a: FloatArray, M: FloatArray, q: FloatArray, x: FloatArray, r: float, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Approximate minimiser z and weights w of the rows, following the projections of x - tau a as tau grows.

    ``start`` is any point of the polyhedron in the ball, returned where nothing better is found. z is feasible but for
    rounding and w >= 0; both are only as good as doubles: what they prove is for :func:`proven_bound` to say.
    """
    length = float(np.linalg.norm(a))
    if length == 0.0:
        return start, np.zeros(len(q))
    d = a / length
    low, high, tau = 0.0, math.inf, r
    best, weights = start, np.zeros(len(q))
    for _ in range(MAX_STEPS):
        projection = _project(x - tau * d, M, q)
        if projection is None:
            break
        z, nu = projection
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
    """Exact lower bound of the minimum that weights, one a row, prove; negative ones count as zero."""
    w = column([max(0.0, float(value)) for value in weights]) if len(weights) else fmpq_mat(0, 1)
    tilted = a + M.transpose() * w if len(weights) else a
    value = fraction((tilted.transpose() * x)[0, 0])
    if len(weights):
        value -= fraction((w.transpose() * q)[0, 0])
    return value - radius * root_above(fraction((tilted.transpose() * tilted)[0, 0]))
