"""What ours is held against: the shortest numpy for Algorithm 1, and the implicit gradient from given stages."""

from __future__ import annotations

import daqp
import numpy as np
import scipy.linalg

from f2csa_ref import objectives_of
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


def implicit_gradient(problem: Quadratic | Generated, x: Vector, y: Vector, lam: Vector) -> Vector:
    """The gradient of F from the lower level's pair: Cholesky of the free block, or Schur complement on active rows.

    One adjoint solve, not one a coordinate of x.
    """
    a, q = problem.arrays, objectives_of(problem)
    grad_y = a.f_xy.T @ x + a.f_yy @ y + a.f_y
    active = lam > 0
    bounds = q.bounds  # type: ignore[attr-defined]  # quadratic
    if bounds is not None:
        free = np.ones(q.m, dtype=bool)
        free[bounds.column[active]] = False
        adjoint = np.zeros(q.m)
        adjoint[free] = scipy.linalg.cho_solve(scipy.linalg.cho_factor(a.g_yy[np.ix_(free, free)]), grad_y[free])
        pushed = np.zeros(q.p)
        fixed = bounds.column[active]
        pushed[active] = (grad_y - a.g_yy @ adjoint)[fixed] / bounds.entries[active]
    else:
        factor, B = scipy.linalg.cho_factor(a.g_yy), a.B[active]
        solved = scipy.linalg.cho_solve(factor, np.column_stack([grad_y, B.T]))
        adjoint, pushed = solved[:, 0], np.zeros(q.p)
        if len(B):
            push = np.linalg.solve(B @ solved[:, 1:], B @ adjoint)
            adjoint, pushed[active] = adjoint - solved[:, 1:] @ push, push
    gradient: Vector = a.f_xx @ x + a.f_xy @ y + a.f_x - a.g_xy @ adjoint + a.A.T @ pushed
    return gradient
