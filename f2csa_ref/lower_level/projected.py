"""The lower level of any smooth strongly convex g: accelerated projected gradients."""

from __future__ import annotations

import math

import numpy as np

from f2csa_ref.lower_level.exact import solve_program
from f2csa_ref.lower_level.solution import LowerLevelError, LowerLevelSolution, describe, kkt_residual, sizes
from f2csa_ref.objectives.model import Objectives
from spec.exact import Vector

TARGET_RESIDUAL = 1e-12
ACCEPTED_RESIDUAL = 1e-9
"""Scaled KKT residual that is aimed at, and the largest that counts as solved where rounding forbids the aim."""
STALL_WINDOW = 100
"""Steps without a smaller residual after which the best pair is judged."""


def solve_smooth(objectives: Objectives, x: Vector, *, steps: int) -> LowerLevelSolution:
    """Minimise g(x, .) over the rows; multipliers come from the last projection.

    y ← proj(v - ∇g(v) / C_g) with Nesterov's momentum, dropped whenever it points uphill.

    Args:
        objectives: Gradients, rows, and C_g bounding the curvature of ``g(x, .)``.
        x: Upper variable, shape (n,).
        steps: Budget, >= 1.

    Raises:
        InvalidInputError: If the rows admit no y at this x.
        LowerLevelError: If the budget ends or progress stops at a KKT residual above 1e-9.

    Source: Algorithm 1, line 3. Differs from the paper: deterministic, solved to rounding instead of by SGD.
    """
    q = objectives
    r = q.A @ x - q.b
    eye = np.eye(q.m)
    lengths = np.linalg.norm(q.B, axis=1)
    reach = float(np.divide(np.abs(r), lengths, out=np.zeros_like(r), where=lengths > 0).max())
    y = v = np.zeros(q.m)
    momentum, since_best = 1.0, 0
    best: tuple[float, Vector, Vector] = (math.inf, y, np.zeros(q.p))
    taken = 0
    while taken < steps:
        taken += 1
        grad = q.grad_y_g(x, v)
        free = v - grad / q.C_g
        size = float(np.linalg.norm(free)) + reach
        y_next, multipliers = solve_program(eye, -free, q.B, r, size=size if size > 0 else 1.0, x=x)
        lam = q.C_g * multipliers
        residual = _residual(q, x, y_next, lam)
        since_best += 1
        if residual < best[0]:
            best, since_best = (residual, y_next, lam), 0
        if residual <= TARGET_RESIDUAL or since_best > STALL_WINDOW or not math.isfinite(residual):
            break
        if (v - y_next) @ (y_next - y) > 0:
            momentum, v = 1.0, y_next
        else:
            momentum_next = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum))
            v = y_next + ((momentum - 1.0) / momentum_next) * (y_next - y)
            momentum = momentum_next
        y = y_next
    residual, y, lam = best
    if not residual <= ACCEPTED_RESIDUAL:
        rule = "check that C_g bounds the curvature of g(x, .), or raise lower_level_steps"
        raise LowerLevelError(f"projected gradients stopped at KKT residual {residual:.1e} after {taken} steps; {rule}")
    measure = sizes(q, x, y, lam, _gradient_size(q, x, y))
    return describe(q, x, y, lam, measure, method="projected-gradient", steps=taken, gradient_samples=taken)


def _gradient_size(q: Objectives, x: Vector, y: Vector) -> float:
    return float(np.linalg.norm(q.grad_y_g(x, y))) + q.C_g * float(np.linalg.norm(y))


def _residual(q: Objectives, x: Vector, y: Vector, lam: Vector) -> float:
    return kkt_residual(q, x, y, lam, q.h(x, y), sizes(q, x, y, lam, _gradient_size(q, x, y)))
