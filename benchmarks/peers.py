"""What ours is held against: the shortest numpy for Algorithm 1."""

from __future__ import annotations

import daqp
import numpy as np

from spec import Generated, Quadratic
from spec.exact import Vector


def numpy_prototype(
    problem: Quadratic | Generated, x: Vector, alpha: float, N_g: int, rng: np.random.Generator
) -> Vector:
    """Algorithm 1 as one would first write it: daqp, a dense solve, no checks, additive noise with common draws."""
    a, noise = problem.arrays, problem.noise
    c, r = a.g_xy.T @ x + a.g_y, a.A @ x - a.b
    y, _, _, info = daqp.solve(a.g_yy.copy(), c, -a.B, -r)  # it takes no read-only array
    lam = np.asarray(info["lam"])
    h = r - a.B @ y
    rho = np.clip(1 + h / alpha**3, 0, 1) * np.clip(lam / 0.1, 0, 1)
    H = a.f_yy + alpha**-2 * a.g_yy + alpha**-4 * (a.B.T * rho) @ a.B
    slope = a.f_xy.T @ x + a.f_yy @ y + a.f_y + alpha**-2 * (a.g_yy @ y + c - a.B.T @ lam) - alpha**-4 * (rho * h) @ a.B
    w = -np.linalg.solve(H, slope)
    gradient = a.f_xx @ x + a.f_xy @ (y + w) + a.f_x + alpha**-2 * (a.g_xy @ w)
    gradient += alpha**-4 * (rho * (h - a.B @ w)) @ a.A
    drawn: Vector = gradient + float(noise.sigma_f) * rng.standard_normal((N_g, problem.n)).mean(axis=0)
    return drawn
