r"""Exact laws of the lower level's stochastic iterations, once the active rows are settled.

With the active rows I fixed, one primal-dual step on a quadratic g is linear in the errors
:math:`e = (y - y^*, \lambda_I - \lambda^*_I)`:

.. math:: e_y' = (I - \eta_y H) e_y + \eta_y B_I^\top e_\lambda - \eta_y z,\qquad
          e_\lambda' = e_\lambda - \eta_\lambda B_I e_y',

so under Gaussian noise z the mean and the covariance follow by linear algebra. Shares no code with any subject.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy

from spec import Problem
from spec.exact import Vector
from verify.truth.enclosures.pair import Truth
from verify.truth.geometry import quadratic_of

KEPT_LAWS = 256
"""Laws kept: every reading and several steps of one claim ask for the same."""


@dataclass(frozen=True, eq=False)
class LinearIteration:
    """One step ``e -> M e + sigma N z``, z standard normal, for step sizes scaled by a factor.

    H is the curvature of g (m, m), B the active rows (a, m), sigma the standard deviation of each component of the
    gradient's noise, ``start`` the error before the first step (m + a,). Two are equal if all their numbers are.
    """

    H: Vector
    B: Vector
    eta_y: float
    eta_lam: float
    sigma: float
    start: Vector

    @cached_property
    def _numbers(self) -> tuple[Hashable, ...]:
        arrays = ((array.shape, array.tobytes()) for array in (self.H, self.B, self.start))
        return (*arrays, self.eta_y, self.eta_lam, self.sigma)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearIteration) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    @property
    def m(self) -> int:
        """Components of y."""
        return len(self.H)

    def step(self, shrink: float = 1.0) -> tuple[Vector, Vector]:
        """M and sigma N, shapes (m + a, m + a) and (m + a, m)."""
        m, a = self.m, len(self.B)
        eta_y, eta_lam = shrink * self.eta_y, shrink * self.eta_lam
        top = np.hstack([np.eye(m) - eta_y * self.H, eta_y * self.B.T])
        M = np.vstack([top, np.hstack([np.zeros((a, m)), np.eye(a)]) - eta_lam * self.B @ top])
        N = -eta_y * self.sigma * np.vstack([np.eye(m), -eta_lam * self.B])
        return M, N

    @property
    def radius(self) -> float:
        """Contraction factor a step of the noise-free iteration."""
        return float(np.max(np.abs(np.linalg.eigvals(self.step()[0]))))

    def sized(self, size: float) -> LinearIteration:
        """The same with both step sizes multiplied."""
        return replace(self, eta_y=size * self.eta_y, eta_lam=size * self.eta_lam)

    def floor(self) -> Vector:
        """Stationary covariance at constant step size, shape (m + a, m + a)."""
        M, N = self.step()
        return np.asarray(scipy.linalg.solve_discrete_lyapunov(M, N @ N.T), dtype=np.float64)

    def constant(self, steps: int) -> tuple[Vector, Vector]:
        """Mean and covariance of the error after a number of steps of constant size."""
        M, _ = self.step()
        power = np.linalg.matrix_power(M, steps)
        floor = self.floor()
        return power @ self.start, floor - power @ floor @ power.T

    def averaged(self, steps: int, shrink: Callable[[int], float]) -> tuple[Vector, Vector]:
        """Mean and covariance of the error's average over the last half of ``steps`` shrinking steps."""
        mean, covariance = _averaged(self, steps, shrink)
        return mean.copy(), covariance.copy()


@lru_cache(maxsize=KEPT_LAWS)
def _averaged(iteration: LinearIteration, steps: int, shrink: Callable[[int], float]) -> tuple[Vector, Vector]:
    k = len(iteration.start)
    mean, total, tail = iteration.start.copy(), np.zeros(k), 0
    own, cross, spread = np.zeros((k, k)), np.zeros((k, k)), np.zeros((k, k))
    # A step is quadratic in its factor: the dual part sees it twice.
    (M_0, _), (M_1, N_1), (M_2, N_2) = (iteration.step(factor) for factor in (0.0, 1.0, 2.0))
    M_square, N_square = (M_2 - 2 * M_1 + M_0) / 2, (N_2 - 2 * N_1) / 2
    M_plain, N_plain = M_1 - M_0 - M_square, N_1 - N_square
    for t in range(steps):
        s = shrink(t)
        M, N = M_0 + s * (M_plain + s * M_square), s * (N_plain + s * N_square)
        mean = M @ mean
        own = M @ own @ M.T + N @ N.T
        if 2 * (t + 1) > steps:
            tail += 1
            total = total + mean
            cross = cross @ M.T
            spread = spread + cross + cross.T + own
            cross = cross + own
    return total / tail, spread / tail**2


def primal_dual(problem: Problem, truth: Truth, *, eta_y: float, eta_lam: float, sigma: float) -> LinearIteration:
    """The iteration from zero on a problem, its active rows those of the truth."""
    a = quadratic_of(problem).arrays
    active = truth.active > 0
    start = -np.concatenate([truth.y_star, truth.lam[active]])
    return LinearIteration(a.g_yy, a.B[active], eta_y, eta_lam, sigma, start)


def projected(problem: Problem, x: Vector, *, eta_y: float, eta_lam: float, steps: int) -> tuple[Vector, Vector]:
    """The noise-free iteration from zero on all rows, multipliers kept at or above 0: its last pair, (m,) and (p,)."""
    a = quadratic_of(problem).arrays
    slope, offset = a.g_y + a.g_xy.T @ x, a.A @ x - a.b
    y, lam = np.zeros(len(a.g_y)), np.zeros(len(a.b))
    for _ in range(steps):
        y = y - eta_y * (slope + a.g_yy @ y - a.B.T @ lam)
        lam = np.maximum(0.0, lam + eta_lam * (offset - a.B @ y))
    return y, lam


@lru_cache(maxsize=KEPT_LAWS)
def best_constant(iteration: LinearIteration, steps: int) -> tuple[float, LinearIteration]:
    """Smallest mean square that a constant step size reaches in so many steps, and the iteration with that size."""
    from scipy.optimize import minimize_scalar

    def reached(logarithm: float) -> float:
        return math.log(mean_square(*iteration.sized(math.exp(logarithm)).constant(steps)))

    grid = np.linspace(math.log(1e-6), math.log(1.9), 60)
    best = float(min(grid, key=reached))
    width = float(grid[1] - grid[0])
    minimum = minimize_scalar(reached, bounds=(best - width, min(best + width, grid[-1])), method="bounded",
                            options={"xatol": 1e-6})  # fmt: skip
    return math.exp(float(minimum.fun)), iteration.sized(math.exp(float(minimum.x)))


def mean_square(mean: Vector, covariance: Vector) -> float:
    """Expected squared length."""
    return float(mean @ mean + np.trace(covariance))


def averaged_mean_square(curvature: float, eta: float, sigma: float, start: float, steps: int) -> float:
    """Mean squared error of one unconstrained coordinate's average over the last half of shrinking steps."""
    mean, total, own, cross, spread, tail = start, 0.0, 0.0, 0.0, 0.0, 0
    for t in range(steps):
        rate = eta * shrinking(t)
        M = 1 - rate * curvature
        mean, own, cross = M * mean, M * M * own + (rate * sigma) ** 2, M * cross
        if 2 * (t + 1) > steps:
            tail += 1
            total += mean
            spread += 2 * cross + own
            cross += own
    return (total / tail) ** 2 + spread / tail**2


def shrinking(t: int) -> float:
    """Factor of step t under the averaged solver."""
    return math.exp(-2 / 3 * math.log1p(t / 10))


def best_radius(H: Vector, B: Vector) -> tuple[float, float, float]:
    """Smallest contraction factor over both step sizes, with the sizes; by search on a grid and from its best point."""
    return _best_radius(H.shape, H.tobytes(), B.shape, B.tobytes())


@lru_cache(maxsize=KEPT_LAWS)
def _best_radius(
    square: tuple[int, int], H_bytes: bytes, rows: tuple[int, int], B_bytes: bytes
) -> tuple[float, float, float]:
    from scipy.optimize import minimize

    H, B = np.frombuffer(H_bytes).reshape(square), np.frombuffer(B_bytes).reshape(rows)
    scale_y, scale_lam = 1 / np.linalg.eigvalsh(H)[-1], np.linalg.eigvalsh(H)[-1] / np.linalg.norm(B, 2) ** 2

    def radius(logs: Vector) -> float:
        steps = scale_y * math.exp(logs[0]), scale_lam * math.exp(logs[1])
        return LinearIteration(H, B, *steps, 0.0, np.zeros(0)).radius

    starts = [(u, v) for u in np.linspace(-5, 0.5, 12).tolist() for v in np.linspace(-2, 5, 15).tolist()]
    best = np.array(min(starts, key=lambda pair: radius(np.array(pair))))
    for size in (0.5, 0.1, 0.02):
        simplex = best + size * np.array([[0, 0], [1, 0], [0, 1]])
        options: Any = {"initial_simplex": simplex, "xatol": 1e-7, "fatol": 1e-9, "maxiter": 200}
        minimum = minimize(radius, best, method="Nelder-Mead", options=options)
        best = np.asarray(minimum.x, dtype=np.float64)
    return radius(best), scale_y * math.exp(best[0]), scale_lam * math.exp(best[1])
