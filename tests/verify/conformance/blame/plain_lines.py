"""Line 6 and the penalty minimiser written out plainly, for subjects with a mistake planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spec.exact import Vector


@dataclass(frozen=True)
class Given:
    """What a line sees, with short names."""

    q: Any
    x: Vector
    y: Vector
    ys: Vector
    lam: Vector
    rho: Vector
    alpha: float
    N: int

    @property
    def a1(self) -> float:
        return self.alpha**-2

    @property
    def a2(self) -> float:
        return self.alpha**-4

    def h(self, y: Vector | None = None) -> Vector:
        return np.asarray(self.q.A @ self.x - self.q.B @ (self.y if y is None else y) - self.q.b)

    def but(self, **changes: Any) -> Given:
        return replace(self, **changes)


Line = Callable[[Given], Vector]


def line_6(c: Given, a1: float | None = None, a2: float | None = None, h: Vector | None = None) -> Vector:
    q, first, second = c.q, c.a1 if a1 is None else a1, c.a2 if a2 is None else a2
    upper = q.f_xx @ c.x + q.f_xy @ c.y + q.f_x
    lower = q.g_xy @ c.y - q.g_xy @ c.ys
    return np.asarray(upper + first * lower + second * (q.A.T @ (c.rho * (c.h() if h is None else h))))


def minimiser(c: Given, a1: float | None = None, a2: float | None = None, f: float = 1.0, extra: Any = 0.0) -> Vector:
    q, first, second = c.q, c.a1 if a1 is None else a1, c.a2 if a2 is None else a2
    H = f * q.f_yy + first * q.g_yy + second * (q.B.T * c.rho) @ q.B
    slope = f * (q.f_xy.T @ c.x + q.f_y) + first * (q.g_xy.T @ c.x + q.g_y - q.B.T @ c.lam)
    return np.asarray(np.linalg.solve(H, second * q.B.T @ (c.rho * (q.A @ c.x - q.b)) - slope - extra))


@dataclass
class PlainLine:
    """A subject with one of the two lines."""

    line: Line
    name: str = "plain line"

    def _given(self, problem: Any, x: Any, call: Any) -> Given:
        y = call.y_star if call.y_penalty is None else call.y_penalty
        return Given(problem.arrays, x, y, call.y_star, call.lam, call.rho, call.alpha, call.parameters.N_g)


class PlainLine6(PlainLine):
    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:  # no noise
        return self.line(self._given(problem, x, call))


class PlainMinimiser(PlainLine):
    def penalty_minimiser(self, problem: Any, x: Any, call: Any, tol: Any) -> Any:  # solved to rounding
        return self.line(self._given(problem, x, call))
