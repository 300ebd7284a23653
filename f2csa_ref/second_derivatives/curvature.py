"""Second derivatives of g, which implicit gradients need and F2CSA does without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from f2csa_ref.objectives import HolderObjectives, Objectives, QuadraticObjectives
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Curvature:
    """``yy``, the Hessian of g in y, (m, m), and ``xy``, its derivative in x and y, (n, m), both at one point.

    Each is an array, or for matrix-free work anything that multiplies a vector by ``@``.
    """

    yy: Any
    xy: Any

    @property
    def dense_yy(self) -> Matrix:
        """The Hessian as an array, which a factorisation needs."""
        if not isinstance(self.yy, np.ndarray):
            rule = "must be an array where it is factorised; linear_algebra cg takes products alone"
            raise InvalidInputError("problem.hess_yy_g", rule, type(self.yy).__name__)
        return self.yy


def curvature(q: Objectives, x: Vector, y: Vector) -> Curvature:
    """Second derivatives of g at (x, y).

    Quadratic and Hölder problems have them; any other offers ``hess_yy_g(x, y)`` and ``hess_xy_g(x, y)``.

    Raises:
        InvalidInputError: If the problem offers none, or their shapes do not fit.
    """
    if isinstance(q, QuadraticObjectives):
        return Curvature(q.g_yy, q.g_xy)
    if isinstance(q, HolderObjectives):
        return _holder(q, float(x[0]), float(y[0]))
    parts = {}
    for name, shape in (("hess_yy_g", (q.m, q.m)), ("hess_xy_g", (q.n, q.m))):
        function = getattr(q, name, None)
        if function is None:
            raise InvalidInputError(f"problem.{name}", "must be given for a method that uses second derivatives")
        parts[name] = function(x, y)
        if getattr(parts[name], "shape", None) != shape:
            raise InvalidInputError(f"problem.{name}", f"must return shape {shape}", np.shape(parts[name]))
    return Curvature(parts["hess_yy_g"], parts["hess_xy_g"])


def _holder(q: HolderObjectives, x: float, y: float) -> Curvature:
    """Of y²/2 + xy + xy q(r), r = |(x, y)|."""
    square, s = x * x + y * y, q.s
    if square == 0:
        return Curvature(np.ones((1, 1)), np.ones((1, 1)))
    r = square**0.5
    power, share = (square ** (s / 2), 1.0) if r <= q.reach else (q.reach**s, q.reach / r)
    # r q'(r), and r² q''(r) in units of it, less 1.
    slope, bend = s * power * share, (s if share == 1 else -1.0) - 2
    cosine, sine = x / r, y / r
    yy = 1 + slope * cosine * sine * (3 + bend * sine * sine)
    xy = 1 + power * (1 + s * (1 - share)) + slope * (1 + bend * cosine * cosine * sine * sine)
    return Curvature(np.full((1, 1), yy), np.full((1, 1), xy))
