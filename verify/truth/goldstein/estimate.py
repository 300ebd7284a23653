"""The Goldstein distance in more than four dimensions: an upper bound from gradients, a lower bound as an estimate.

Pieces of F are discovered from the points that undercut the current combination; pieces never met can only lower the
truth, so the lower number is an estimate and is labelled so.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from spec import InvalidInputError, Quadratic
from spec.exact import FloatArray
from verify.truth.algebra.rationals import Vector
from verify.truth.enclosures.pair import solve_any
from verify.truth.goldstein.minima import Rays, least, shortest
from verify.truth.lower_level.lower_level import rows_in_doubles

MAX_ROUNDS = 60
MAX_PIECES = 64
MAX_CUT_DIMENSION = 200
"""Largest n at which pieces are cut by their rows; beyond, a projection costs seconds and only the ball is used."""
MAX_PROVEN_SIZE = 600
"""Largest n + m + p whose final gradients are enclosed in balls by default; beyond they are as good as doubles."""
INSIDE = 1.0 - 1e-9
"""Points are kept this far inside the ball, so that rounding cannot carry them out."""
MARGIN = 1e-9
PULLS = (0.0, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0)
"""How far lowest points are pulled back into their piece."""
MAX_PROBES = 64
"""Axes and random directions tried before the search ends, each."""
ACROSS = 1e-4
"""Step across a row, in radii, with which a neighbouring piece is looked for."""


@dataclass(frozen=True)
class GoldsteinDistance:
    """Bounds of dist(0, ∂_δF(x) + N_X(x)), rounded outwards.

    Args:
        certified: Whether the lower bound is proven; the upper one always is, up to the method's rounding.
        method: ``interval`` (n = 1, exact), ``cells`` (n <= 4) or ``bundle`` (estimate).
        exact: The distance itself where it is known as a rational.
        points: Points of the ball whose gradients combine to the upper bound, exact, with nonnegative weights that add
            to 1.
        direction: Direction along which the lower bound was proven, shape (n,).
        cells: Pieces of F that meet the ball (found, for ``bundle``).
    """

    lower: float
    upper: float
    certified: bool
    method: Literal["interval", "cells", "bundle"]
    exact: Fraction | None
    points: tuple[Vector, ...]
    gradients: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    direction: tuple[float, ...]
    cells: int


Seen: TypeAlias = tuple[FloatArray, FloatArray]
"""A point of the ball and a gradient of F there."""


@dataclass(frozen=True)
class GradientPiece:
    """One quadratic piece of F in doubles: M z <= q, gradient H z + c; nowhere where a row without z is broken."""

    M: FloatArray
    q: FloatArray
    H: FloatArray
    c: FloatArray
    is_nowhere: bool = False


class Pieces:
    """Pieces of F met so far, by the rows held as equations; the radius serves what is said where F ends."""

    def __init__(self, problem: Quadratic, radius: Fraction | None = None) -> None:
        self.a, self.radius = problem.arrays, radius
        self.known: dict[tuple[int, ...], GradientPiece] = {}
        self.witness: dict[tuple[int, ...], FloatArray] = {}
        a = self.a
        solved = np.linalg.solve(a.g_yy, np.column_stack([a.B.T, a.g_xy.T, a.g_y]))
        p, n = a.A.shape
        self.Z, self.Y, self.y_0 = solved[:, :p], -solved[:, p : p + n], -solved[:, -1]
        self.W = a.B @ self.Z
        self.slope, self.offset = a.A - a.B @ self.Y, -a.B @ self.y_0 - a.b

    def at(self, z: FloatArray) -> tuple[int, ...]:
        """Rows that carry a multiplier at z; refused where the lower level is infeasible."""
        S = rows_in_doubles(self.a, z)
        if S is None:
            raise InvalidInputError("radius", "must keep the ball where the lower level is feasible", self.radius)
        if S not in self.known and len(self.known) < MAX_PIECES:
            self.known[S], self.witness[S] = self.piece(S), z
        elif S in self.known:
            # Cells are convex: means of their points move inside.
            self.witness[S] = 0.75 * self.witness[S] + 0.25 * z
        return S

    def gradient(self, z: FloatArray) -> FloatArray:
        """Gradient of F at z, of one adjoining piece at a kink."""
        S = self.at(z)
        piece = self.known.get(S) or self.piece(S)
        return np.asarray(piece.H @ z + piece.c)

    def piece(self, S: tuple[int, ...]) -> GradientPiece:
        """The piece that holds the rows S."""
        a, rows = self.a, list(S)
        others = [i for i in range(len(a.b)) if i not in S]
        W_SS = self.W[np.ix_(rows, rows)]
        lam_slope = np.linalg.solve(W_SS, self.slope[rows]) if rows else np.zeros((0, a.A.shape[1]))
        lam_offset = np.linalg.solve(W_SS, self.offset[rows]) if rows else np.zeros(0)
        W_RS = self.W[np.ix_(others, rows)]
        M = np.vstack([-lam_slope, self.slope[others] - W_RS @ lam_slope])
        q = np.r_[lam_offset, -(self.offset[others] - W_RS @ lam_offset)]
        J, r = self.Y + self.Z[:, rows] @ lam_slope, self.y_0 + self.Z[:, rows] @ lam_offset
        H = a.f_xx + a.f_xy @ J + J.T @ a.f_xy.T + J.T @ a.f_yy @ J
        c = a.f_x + a.f_xy @ r + J.T @ (a.f_y + a.f_yy @ r)
        nonzero = np.linalg.norm(M, axis=1) > 1e-12
        return GradientPiece(M[nonzero], q[nonzero], (H + H.T) / 2, c, bool((q[~nonzero] < -MARGIN).any()))


def estimate(
    problem: Quadratic,
    x: Vector,
    radius: Fraction,
    rays: Rays,
    tolerance: float,
    *,
    proven_size: int = MAX_PROVEN_SIZE,
) -> GoldsteinDistance:
    """Bound the distance from above and estimate it from below; arguments as for ``goldstein.distance``."""
    centre, r = np.array([float(v) for v in x]), float(radius) * INSIDE
    pieces = Pieces(problem, radius)
    if rows_in_doubles(pieces.a, centre) is None:
        rule = "the lower level is infeasible here: no y satisfies A x - B y - b <= 0"
        raise InvalidInputError("x", rule, ", ".join(map(str, x)))
    points, gradients = [centre], [pieces.gradient(centre)]
    probes = _probes(centre, r)
    lower, direction = 0.0, np.zeros(len(centre))
    for _ in range(MAX_ROUNDS):
        _, p = shortest(np.array(gradients), rays)
        size = float(np.linalg.norm(p))
        if size <= tolerance:
            break
        seen = len(pieces.known)
        candidates: list[Seen] = []
        component = np.inf
        for S, piece in list(pieces.known.items()):
            lowest_points, least_here = _lowest(pieces, S, piece, p, centre, r)
            candidates += lowest_points
            component = min(component, least_here)
        fresh = _improving(candidates, p, tolerance)
        if not fresh and len(pieces.known) == seen:
            probed = [(z, pieces.gradient(z)) for z in (centre - r * p / size, *probes)]
            fresh = _improving(probed, p, tolerance)[:8]
        if not fresh and len(pieces.known) == seen:
            lower, direction = max(0.0, component / size), p
            break
        points += [z for z, _ in fresh]
        gradients += [gradient for _, gradient in fresh]
    weights, _ = shortest(np.array(gradients), rays)
    support = [i for i in range(len(points)) if weights[i] > 1e-12]
    share = weights[support] / weights[support].sum()
    enclosed = problem if problem.n + problem.m + problem.p <= proven_size else None
    upper, used = _enclosed(enclosed, [points[i] for i in support], [gradients[i] for i in support], share, rays)
    return GoldsteinDistance(
        lower=min(lower, upper), upper=upper, certified=False, method="bundle", exact=None,
        points=tuple(tuple(Fraction(float(v)) for v in points[i]) for i in support),
        gradients=tuple(tuple(g.tolist()) for g in used),
        weights=tuple(share.tolist()), direction=tuple(direction.tolist()), cells=len(pieces.known),
    )  # fmt: skip


def _probes(centre: FloatArray, r: float) -> list[FloatArray]:
    """Points on the sphere along both directions of every axis, then in fixed pseudo-random directions."""
    n = len(centre)
    axes = np.eye(n)[: MAX_PROBES // 2]
    others = np.random.default_rng(0).standard_normal((MAX_PROBES, n))
    directions = np.vstack([axes, -axes, others / np.linalg.norm(others, axis=1)[:, None]])
    return [centre + r * direction for direction in directions]


def _improving(candidates: list[Seen], p: FloatArray, tolerance: float) -> list[Seen]:
    """Candidates whose gradient is shorter along p than p itself, the lowest first."""
    scored = [(float(gradient @ p), i) for i, (_, gradient) in enumerate(candidates)]
    size = float(np.linalg.norm(p))
    return [candidates[i] for value, i in sorted(scored) if value < size * (size - tolerance / 4)]


def _lowest(
    pieces: Pieces, S: tuple[int, ...], piece: GradientPiece, p: FloatArray, centre: FloatArray, r: float
) -> tuple[list[Seen], float]:
    """Points where this piece's gradient is lowest along p, or a neighbour's may be, and the piece's lowest value."""
    a = piece.H @ p
    length = float(np.linalg.norm(a))
    witness = pieces.witness[S]
    across = centre - r * a / length if length > 0 else witness
    if len(centre) > MAX_CUT_DIMENSION:
        return [(across, pieces.gradient(across))], float((piece.H @ across + piece.c) @ p)
    z, w = least(a, piece.M, piece.q, centre, r, witness)
    points = [(across, pieces.gradient(across))]
    # Pulled towards a point where the piece was met, until the rows hold by more than the solver's tolerance.
    for share in PULLS:
        inside = _into(z + share * (witness - z), centre, r)
        if (piece.M @ inside <= piece.q - MARGIN * np.linalg.norm(piece.M, axis=1)).all():
            points.append((inside, piece.H @ inside + piece.c))
            break
    for i in np.flatnonzero(w > 0)[:4]:
        # Behind the rows that hold the minimum lie the neighbours.
        behind = _into(z + ACROSS * r * piece.M[i] / np.linalg.norm(piece.M[i]), centre, r)
        points.append((behind, pieces.gradient(behind)))
    return points, float((piece.H @ z + piece.c) @ p)


def _into(z: FloatArray, centre: FloatArray, r: float) -> FloatArray:
    distance = float(np.linalg.norm(z - centre))
    return z if distance <= r else centre + (r / distance) * (z - centre)


def _enclosed(
    problem: Quadratic | None, points: list[FloatArray], gradients: list[FloatArray], weights: FloatArray, rays: Rays
) -> tuple[float, list[FloatArray]]:
    """Length of the combination of true gradients, their error added; the doubles' where balls cannot decide.

    With no problem the doubles' serve throughout.
    """
    used, error = [], 0.0
    for z, gradient in zip(points, gradients, strict=True):
        truth = None if problem is None else solve_any(problem, z.tolist())
        if truth is None or truth.hypergradient is None:
            # Each adjoining piece's gradient is an element of Clarke's subdifferential at a kink.
            used.append(gradient)
            error = max(error, 1e-12 * (1.0 + float(np.abs(gradient).max())) * len(z))
        else:
            used.append(truth.hypergradient)
            error = max(error, truth.error)
    p = rays.without((weights @ np.array(used)).tolist())
    rounding = (error + 1e-15 * float(np.abs(np.array(used)).max())) * np.sqrt(len(p))
    return float(np.linalg.norm(p)) + float(rounding), used
