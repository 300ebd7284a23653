r"""What is known of one estimate's error on one piece of y*, and how far the rest can go.

The identity is that of :mod:`f2csa_ref.certificate.error_certificate`. It holds for any rows I that are held as
equations, with y* the solution y_I(x) on them and F that piece's F_I(x) = f(x, y_I(x)): whether they are the active
ones decides only whether F_I is F near x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from f2csa_ref.certificate.active_piece import EPS, Pair, Piece, Saddle
from f2csa_ref.certificate.map_constants import MapConstants
from f2csa_ref.objectives import Objectives, QuadraticObjectives
from f2csa_ref.penalty import PenaltyLagrangian
from f2csa_ref.second_derivatives.curvature import curvature
from spec.exact import Vector


@dataclass(frozen=True, eq=False)
class Findings:
    """What is known of one call's error, and how far the rest can go."""

    L: PenaltyLagrangian
    w: Vector
    dual: Vector
    pair: Pair
    saddle: Saddle | None
    c: MapConstants

    @property
    def counts(self) -> dict[str, int]:
        """Gradients and factorisations beyond the oracle call's own."""
        q, trials = self.L.objectives, self.pair.trials
        change = 1 if isinstance(q, QuadraticObjectives) else 2
        counts = {"grad_x_f": 2, "grad_y_f": 2, "grad_y_g": change + trials}
        return counts | ({"factorisations": trials} if self.saddle else {"grad_x_g": change})

    @cached_property
    def weighted(self) -> Vector:
        """``alpha_2 rho h`` as the estimate has it, shape (p,)."""
        L = self.L
        return L.alpha.alpha_2 * (L.rho * (L.h_star - self.w @ L.objectives.B.T))

    @cached_property
    def inactive(self) -> Vector:
        """The same on inactive rows alone."""
        off = self.weighted.copy()
        off[list(self.pair.piece.rows)] = 0.0
        return off

    @cached_property
    def of_f(self) -> tuple[Vector, Vector, Vector, Vector]:
        """Both gradients of f at the call's y, then both at y*."""
        L, q, y, star = self.L, self.L.objectives, self.L.y_star + self.w, self.pair.y
        return q.grad_x_f(L.x, y), q.grad_y_f(L.x, y), q.grad_x_f(L.x, star), q.grad_y_f(L.x, star)

    @cached_property
    def upper(self) -> tuple[Vector, Vector]:
        """Their differences, shapes (n,) and (m,)."""
        x_here, y_here, x_star, y_star = self.of_f
        return x_here - x_star, y_here - y_star

    @cached_property
    def left(self) -> Vector:
        """Gradient in y left by the minimiser, the pair's own stationarity taken off, shape (m,)."""
        L, q = self.L, self.L.objectives
        lower = L.alpha.alpha_1 * q.grad_y_g_change(L.x, L.y_star, self.w)
        return self.of_f[1] + lower - self.weighted @ q.B

    @cached_property
    def gap(self) -> Vector:
        """``alpha_1 B_I w``, shape (k,)."""
        return self.L.alpha.alpha_1 * (self.pair.piece.B @ self.w)

    @cached_property
    def _adjoint(self) -> tuple[dict[str, Vector], float]:
        """The parts of the error, and what rounding left of the adjoint systems."""
        assert self.saddle is not None  # for whoever checked
        q, zero = self.L.objectives, np.zeros(self.L.objectives.m)
        a = np.column_stack([self.upper[1], -self.left, zero, -self.inactive @ q.B])
        b = np.column_stack([np.zeros_like(self.gap)] * 2 + [self.gap] + [np.zeros_like(self.gap)])
        u, v = self.saddle.solve(a, b)
        columns = (-curvature(q, self.L.x, self.pair.y).xy @ u + self.pair.piece.A.T @ v).T
        of_a, of_b = (np.linalg.norm(part, axis=0).sum() for part in self.saddle.residual(u, v, a, b))
        parts = {
            "upper-level": self.upper[0] + columns[0], "gradient-left": columns[1], "rows": columns[2],
            "inactive-rows": self.inactive @ q.A + columns[3], "dual": self.dual,
        }  # fmt: skip
        return parts, float(self.c.L_y * of_a + self.c.L_lam * of_b)

    @property
    def parts(self) -> dict[str, Vector]:
        """The known error's parts, each of shape (n,)."""
        return self._adjoint[0]

    @cached_property
    def _tangent(self) -> tuple[Vector, Vector, float]:
        """What is known of the error (n,), the vector a (m,) of an error Y'a more, and what rounding may add.

        With w split along the rows and tangent to them, and ``Y' B' = A'`` on active rows.
        """
        L, q, piece, alpha_1 = self.L, self.L.objectives, self.pair.piece, self.L.alpha.alpha_1
        along = piece.along_rows(self.w)
        a = -self.of_f[3] - alpha_1 * q.grad_y_g_change(L.x, L.y_star + along, self.w - along)
        c = piece.on_rows(a)
        lower = alpha_1 * q.grad_x_g_change(L.x, L.y_star, along)
        known = self.upper[0] + lower + self.weighted @ q.A + self.dual + c @ piece.A
        off = self.c.L_lam * alpha_1 * length(piece.B @ (self.w - along))
        size = float(np.linalg.norm(piece.A)) + self.c.L_y * float(np.linalg.norm(piece.B))
        return known, a - c @ piece.B, off + EPS * (q.n + q.m + q.p + 16) * size * length(c)

    def known(self) -> dict[str, float]:
        """Length of what is known: all with second derivatives, else all but Dy* tangent to the active rows."""
        if self.saddle is not None:
            return {"known": length(np.sum(list(self.parts.values()), axis=0))}
        known, a, _ = self._tangent
        return {"known": length(known), "tangent": self.c.L_tangent * length(a)}

    def unknown(self) -> dict[str, float]:
        """What y* within its radius, second-order remainders and rounding may add."""
        c, alpha_1, far = self.c, self.L.alpha.alpha_1, self.pair.y_radius
        H, s = c.holder
        e = length(self.w) + far
        remainder = alpha_1 * math.hypot(1.0, c.L_y) * H * (e ** (1 + s) + far ** (1 + s)) / (1 + s)
        open_maps = 0.0
        if c.Y_radius > 0:
            on_y = length(self.upper[1] - self.left - self.inactive @ self.L.objectives.B)
            open_maps = c.Y_radius * on_y + c.Lam_radius * length(self.gap)
        return {
            "solution": (c.f_xy + c.L_y * self.L.objectives.C_f) * far,
            "remainder": remainder + open_maps,
            "rounding": self._rounding() + (self._adjoint[1] if self.saddle else self._tangent[2]),
        }

    def _rounding(self) -> float:
        """The unit of rounding times the sizes of all that is added up, times how many are."""
        L, q, c, pair = self.L, self.L.objectives, self.c, self.pair
        a_1, shift, rows = L.alpha.alpha_1, length(self.w), length(self.weighted)
        reach = np.maximum(np.abs(L.y_star + self.w), np.abs(pair.y))
        of_x, of_y = _upper_sizes(q, L.x, reach, self.of_f)
        A, B = (float(np.linalg.norm(block)) for block in (q.A, q.B))
        S, G = _second_sizes(q)
        in_x = 2 * of_x + 2 * a_1 * S * shift + A * rows + length(self.dual)
        in_y = 2 * of_y + 2 * a_1 * G * shift + B * rows
        total = in_x + c.L_y * in_y + c.L_lam * a_1 * B * shift
        # The blocks themselves are rounded, and Y and Λ with them.
        of_Y, of_Lam = pair.piece.response(G * c.L_y + S + B * c.L_lam, A + B * c.L_y)
        on_y = self._tangent[1] if self.saddle is None else self.upper[1] - self.left - self.inactive @ q.B
        total += of_Y * length(on_y) + of_Lam * length(self.gap)
        return EPS * (q.n + q.m + q.p + 16) * total


def newton(L: PenaltyLagrangian, piece: Piece, saddle: Saddle) -> tuple[Vector, Vector]:
    """The solution with these rows held as equations, up to rounding; a full multiplier vector."""
    q, rows = L.objectives, list(piece.rows)
    y, lam = L.y_star, np.zeros(q.p)
    lam[rows] = L.lam[rows]
    s, t = q.grad_y_g(L.x, y) - lam @ q.B, q.h(L.x, y)[rows]
    u, v = saddle.solve(-s[:, None], -t[:, None])
    lam[rows] -= v[:, 0]
    return y + u[:, 0], lam


def _upper_sizes(q: Objectives, x: Vector, y: Vector, seen: tuple[Vector, ...]) -> tuple[float, float]:
    """Sizes of the parts of both gradients of f at |y|; of strangers' gradients, those ``seen``, as far as it shows."""
    if isinstance(q, QuadraticObjectives):
        at_x, at_y = np.abs(q.f_xx) @ np.abs(x) + np.abs(q.f_x), np.abs(x) @ np.abs(q.f_xy) + np.abs(q.f_y)
        return length(at_x + np.abs(q.f_xy) @ y), length(at_y + np.abs(q.f_yy) @ y)
    reach = q.C_f * length(y)
    return length(seen[0]) + length(seen[2]) + reach, length(seen[1]) + length(seen[3]) + reach


def _second_sizes(q: Objectives) -> tuple[float, float]:
    """Frobenius norms of g_xy and g_yy, or what bounds them."""
    if isinstance(q, QuadraticObjectives):
        return float(np.linalg.norm(q.g_xy)), float(np.linalg.norm(q.g_yy))
    size = math.sqrt(q.m) * q.C_g
    return size, size


def length(vector: Vector) -> float:
    return float(np.linalg.norm(vector))
