"""A smooth lower level whose Hessian is only Hölder continuous."""

from __future__ import annotations

import numpy as np

from f2csa_ref.objectives.rows import AffineRows
from spec.exact import Vector
from spec.problem import Holder


class HolderObjectives(AffineRows):
    """f = y, g = y²/2 + xy + xy r^s with r = |(x, y)|: smooth, its Hessian only Hölder continuous.

    ``mu_g = 1/2`` and ``C_g = 3/2`` hold where ``3 s r**s <= 1``, as ``g_yy`` lies within ``1.5 s r**s`` of 1;
    beyond that ball ``g(x, .)`` need not be convex.

    Args:
        problem: The specified instance.
    """

    mu_g, C_g, C_f = 0.5, 1.5, 0.0

    def __init__(self, problem: Holder) -> None:
        rows = problem.constraints
        self.A, self.B, self.b = rows.A.to_numpy(), rows.B.to_numpy(), rows.b.to_numpy()
        self.noise = problem.noise
        self.s = float(problem.s)

    def _radius_powers(self, x: Vector, y: Vector) -> tuple[Vector, Vector]:
        """r^s and s r^(s-2), the latter 0 at the origin where it only ever meets factors r²."""
        r = np.hypot(x, y)
        inner = np.zeros_like(r)
        np.divide(self.s * r**self.s, r * r, out=inner, where=r > 0)
        return r**self.s, inner

    def f(self, x: Vector, y: Vector) -> float:  # noqa: ARG002  # f = y
        return float(y[0])

    def g(self, x: Vector, y: Vector) -> float:
        outer, _ = self._radius_powers(x, y)
        return float((y * y / 2 + x * y * (1 + outer))[0])

    def grad_x_f(self, x: Vector, y: Vector) -> Vector:  # noqa: ARG002  # f = y
        return np.zeros(1)

    def grad_y_f(self, x: Vector, y: Vector) -> Vector:  # noqa: ARG002  # f = y
        return np.ones(1)

    def grad_x_g(self, x: Vector, y: Vector) -> Vector:
        outer, inner = self._radius_powers(x, y)
        return y * (1 + outer + inner * x * x)

    def grad_y_g(self, x: Vector, y: Vector) -> Vector:
        outer, inner = self._radius_powers(x, y)
        return y + x * (1 + outer + inner * y * y)

    def grad_x_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self.grad_x_g(x, y + w) - self.grad_x_g(x, y)

    def grad_y_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self.grad_y_g(x, y + w) - self.grad_y_g(x, y)
