"""The lower level of any smooth strongly convex g: accelerated projected gradients."""

from __future__ import annotations

import math

import numpy as np

from f2csa_ref.lower_level.exact import distance_to_rows, solve_program
from f2csa_ref.lower_level.solution import Candidate, LowerLevelError, LowerLevelSolution, sizes
from f2csa_ref.objectives import Objectives
from f2csa_ref.penalty_minimiser import accelerated
from spec.exact import Vector

TARGET_RESIDUAL = 1e-12
ACCEPTED_RESIDUAL = 1e-9
"""Scaled KKT residual that is aimed at, and the largest that counts as solved where rounding forbids the aim."""
STALL_WINDOW = 100
"""Steps without a smaller residual after which the best pair is judged."""


def solve_smooth(objectives: Objectives, x: Vector, *, steps: int) -> LowerLevelSolution:
    """Minimise g(x, .) over the rows; multipliers come from the last projection.

    y ← proj(v - ∇g(v) / C_g) with Nesterov's momentum, dropped whenever it points uphill.
    A budget or progress that ends at a KKT residual above 1e-9 is a :class:`LowerLevelError`.

    Source: Algorithm 1, line 3. Differs from the paper: deterministic, solved to rounding instead of by SGD.
    """
    q = objectives
    r = q.A @ x - q.b
    eye = np.eye(q.m)
    reach = distance_to_rows(q, r)
    y = v = np.zeros(q.m)
    momentum, since_best = 1.0, 0
    best: Candidate | None = None
    taken = 0
    while taken < steps:
        taken += 1
        grad = q.grad_y_g(x, v)
        free = v - grad / q.C_g
        size = float(np.linalg.norm(free)) + reach
        y_next, multipliers = solve_program(eye, -free, q.B, r, size=size if size > 0 else 1.0, x=x)
        lam = q.C_g * multipliers
        here = Candidate(q, x, y_next, lam, sizes(q, x, y_next, lam))
        since_best += 1
        if best is None or here.residual < best.residual:
            best, since_best = here, 0
        if here.residual <= TARGET_RESIDUAL or since_best > STALL_WINDOW or not math.isfinite(here.residual):
            break
        uphill = bool((v - y_next) @ (y_next - y) > 0)
        v, momentum = accelerated(y, y_next, momentum, uphill=uphill)
        y = y_next
    if best is None or not best.residual <= ACCEPTED_RESIDUAL:
        reached = math.inf if best is None else best.residual
        rule = "check that C_g bounds the curvature of g(x, .), or raise lower_level_steps"
        raise LowerLevelError(f"projected gradients stopped at KKT residual {reached:.1e} after {taken} steps; {rule}")
    return best.solution("projected-gradient", steps=taken, gradient_samples=taken)
