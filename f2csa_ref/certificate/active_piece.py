r"""The piece of y*(x) on which given rows hold as equations: how it moves, and how far it is from a pair at hand.

With G between mu_g and C_g and rows B of smallest singular value :math:`\sigma > 0`, the solution of
:math:`Gu - B^T v = -s,\ Bu = t` has

.. math:: \|u\|^2 \le \|s\|^2/\mu^2 + \kappa\|t\|^2/\sigma^2, \qquad
          \|v\| \le C_g\|t\|/\sigma^2 + \sqrt\kappa\,\|s\|/\sigma, \qquad \kappa = C_g/\mu:

the part due to t and the part due to s are orthogonal in G's inner product. With s and t the blocks of g and of A it
bounds the derivatives of y* and of the multipliers; with s and t what a pair leaves of the optimality conditions it
bounds the distance from the pair to the solution, also where G is the mean Hessian on the segment between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from f2csa_ref.bounds import at_right_angles
from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.libraries.eigenvalues import extreme_eigenvalues
from f2csa_ref.objectives import Objectives, QuadraticObjectives
from spec.exact import Matrix, Vector

EPS = float(np.finfo(np.float64).eps)
FAR = 1e-6
"""Distance of a pair from the solution, in units of 1 + its size, beyond which it is the pair that is in question."""
DEPENDENT = 1e-10
"""Rows are dependent where their smallest singular value is at most this fraction of their largest."""


def spectral(block: Matrix) -> float:
    """Spectral norm, up to rounding from above."""
    if not block.size:
        return 0.0
    gram = block @ block.T if block.shape[0] <= block.shape[1] else block.T @ block
    return math.sqrt(max(0.0, extreme_eigenvalues(gram)[1])) * (1 + len(gram) * EPS)


@dataclass(frozen=True, eq=False)
class Piece:
    """The rows held as equations, indices in increasing order."""

    q: Objectives
    rows: tuple[int, ...]

    @cached_property
    def A(self) -> Matrix:  # noqa: N802  # the paper's letter
        return self.q.A[list(self.rows)]

    @cached_property
    def B(self) -> Matrix:  # noqa: N802  # the paper's letter
        return self.q.B[list(self.rows)]

    @cached_property
    def sigma(self) -> float:
        """Smallest singular value of the rows, 0 where they are dependent, inf where there is none."""
        if not self.rows:
            return math.inf
        if len(self.rows) > self.q.m:
            return 0.0
        if at_right_angles(self.B):
            return float(np.abs(self.B).max(axis=1).min())
        values = np.linalg.svd(self.B, compute_uv=False)
        return float(values[-1]) if values[-1] > DEPENDENT * values[0] else 0.0

    def response(self, s: float, t: float) -> tuple[float, float]:
        """Bounds on u and v from the norms of s and t."""
        mu, C_g = self.q.mu_g, self.q.C_g
        if not self.rows:
            return s / mu, 0.0
        kappa, sigma = C_g / mu, self.sigma
        return math.hypot(s / mu, math.sqrt(kappa) * t / sigma), C_g * t / sigma**2 + math.sqrt(kappa) * s / sigma

    @cached_property
    def _basis(self) -> tuple[Matrix, Matrix]:
        """``B' = Q R`` with Q (m, k) orthonormal."""
        Q, R = np.linalg.qr(self.B.T)
        return Q, R

    def along_rows(self, w: Vector) -> Vector:
        """The part of w in the span of the rows, shape (m,); ``B`` maps the rest to zero."""
        Q = self._basis[0]
        return np.asarray(Q @ (Q.T @ w))

    def on_rows(self, a: Vector) -> Vector:
        """The combination of rows closest to a, shape (k,)."""
        Q, R = self._basis
        return np.asarray(sp.solve_triangular(R, Q.T @ a))

    def tangent_norm(self, g_xy: Matrix | float) -> float:
        r"""A bound of the norm of N' Dy*, columns of N a basis of the directions that the rows leave free.

        It solves :math:`N^TGN(N^TY) = -N^T(g_{xy}^T + GB^+A)`, where G may be taken off by any multiple of I.
        """
        mu, C_g = self.q.mu_g, self.q.C_g
        if not self.rows:
            return (g_xy if isinstance(g_xy, float) else spectral(g_xy)) / mu
        Q, R = self._basis
        free = g_xy if isinstance(g_xy, float) else spectral(g_xy - (g_xy @ Q) @ Q.T)
        return (free + (C_g - mu) / 2 * spectral(sp.solve_triangular(R, self.A, trans="T"))) / mu

    def saddle(self, G: Matrix) -> Saddle:
        """The system with this Hessian of g, factorised."""
        return Saddle(G, self.B, self.q.g_yy_factor if isinstance(self.q, QuadraticObjectives) else None)


class Saddle:
    """The system ``G u + B' v = a``, ``-B u = b``, factorised once: m³/3 operations for G, and k³/3 for k rows.

    Raises:
        numpy.linalg.LinAlgError: If G is not positive definite or the rows are dependent.
    """

    def __init__(self, G: Matrix, B: Matrix, factor: Any = None) -> None:
        self.G, self.B = G, B
        self._factor = sp.cho_factor(G, lower=True) if factor is None else factor
        self._Z = sp.cho_solve(self._factor, B.T)
        self._schur = sp.cho_factor(B @ self._Z, lower=True) if len(B) else None

    def solve(self, a: Matrix, b: Matrix) -> tuple[Matrix, Matrix]:
        """Both solutions, u (m, r) and v (k, r), refined once."""
        u, v = self._once(a, b)
        again = self._once(*self.residual(u, v, a, b))
        return u + again[0], v + again[1]

    def residual(self, u: Matrix, v: Matrix, a: Matrix, b: Matrix) -> tuple[Matrix, Matrix]:
        """What u and v leave of both right-hand sides."""
        return a - self.G @ u - self.B.T @ v, b + self.B @ u

    def _once(self, a: Matrix, b: Matrix) -> tuple[Matrix, Matrix]:
        u: Matrix = sp.cho_solve(self._factor, a)
        if self._schur is None:
            return u, np.zeros((0, a.shape[1]))
        v: Matrix = sp.cho_solve(self._schur, b + self.B @ u)
        return u - self._Z @ v, v


@dataclass(frozen=True, eq=False)
class Pair:
    """A pair y (m,), lam (p,), zero off the piece's rows, and what is proven of it, up to rounding.

    The solution is within ``y_radius`` and its multipliers within ``lam_radius`` of it, if the piece's rows are the
    active ones; ``undecided`` are the rows whose sign that leaves open, so that none means they are, each with a
    positive multiplier. ``trials`` guesses of the rows it took.
    """

    piece: Piece
    y: Vector
    lam: Vector
    y_radius: float
    lam_radius: float
    undecided: tuple[int, ...]
    trials: int = 1

    def why_undecided(self) -> str:
        """What leaves rows undecided: dependence, the pair's own distance from the solution, or neither."""
        q, rows = self.piece.q, list(self.undecided)
        names = f"row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:5]))}"
        is_ = "are" if len(rows) > 1 else "is"
        together = Piece(q, tuple(sorted({*self.piece.rows, *rows})))
        size = 1 + float(np.abs(self.y).max(initial=0.0))
        if self.y_radius > FAR * size:
            return (
                f"the pair is too far from the solution to tell active rows: y* lies within {self.y_radius:.2g} of it, "
                f"which leaves {names} open"
            )
        if not together.sigma > 0:
            return f"{names} {is_} at the bound, weakly active or linearly dependent on other active rows"
        return f"{names} cannot be told active or not: F may have a kink here"


def judged(piece: Piece, x: Vector, y: Vector, lam: Vector) -> Pair:
    """A pair held against the optimality conditions on the piece's rows, rounding included."""
    q, on = piece.q, np.zeros(piece.q.p, dtype=bool)
    on[list(piece.rows)] = True
    lam = np.where(on, lam, 0.0)
    h = q.h(x, y)
    slope = q.grad_y_g(x, y)
    left = float(np.linalg.norm(slope - lam @ q.B))
    count = q.n + q.m + q.p + 8
    gradient = float(np.linalg.norm(_gradient_size(q, x, y, slope) + np.abs(lam) @ np.abs(q.B)))
    rows = np.abs(q.A) @ np.abs(x) + np.abs(q.B) @ np.abs(y) + np.abs(q.b)
    row_rounding = count * EPS * rows
    gap = float(np.linalg.norm(np.abs(h[on]) + row_rounding[on]))
    y_radius, lam_radius = piece.response(left + count * EPS * gradient, gap)
    reach = np.linalg.norm(q.B, axis=1) * y_radius + row_rounding
    certain = np.where(on, lam > lam_radius, h < -reach)
    return Pair(piece, y, lam, y_radius, lam_radius, tuple(np.flatnonzero(~certain).tolist()))


def likely_rows(q: Objectives, x: Vector, y: Vector, lam: Vector) -> tuple[int, ...]:
    """Rows that a pair near the solution says are active: the multiplier outweighs the slack."""
    lengths = np.linalg.norm(q.B, axis=1)
    weigh = np.divide(q.mu_g, lengths**2, out=np.zeros_like(lengths), where=lengths > 0)
    return tuple(np.flatnonzero((lengths > 0) & (lam + weigh * q.h(x, y) > 0)).tolist())


def _gradient_size(q: Objectives, x: Vector, y: Vector, slope: Vector) -> Vector:
    """Sizes of the parts added up in ``grad_y g``, here ``slope``; of strangers' gradients as far as it shows."""
    if isinstance(q, QuadraticObjectives):
        return np.asarray(np.abs(x) @ np.abs(q.g_xy) + np.abs(q.g_yy) @ np.abs(y) + np.abs(q.g_y))
    return np.abs(slope) + q.C_g * np.abs(y)
