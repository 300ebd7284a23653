"""The lower level by gradients alone: no Hessian is formed, nothing is factorised.

Over a box, accelerated projected gradients. Over general rows, multipliers by the augmented Lagrangian
g + ½ beta |max(0, h + lam / beta)|², each minimised by accelerated gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from f2csa_ref.bounds import Bounds, bounds_of
from f2csa_ref.lower_level.solution import Candidate, LowerLevelError, LowerLevelSolution, sizes
from f2csa_ref.objectives import Objectives
from f2csa_ref.penalty_minimiser import accelerated
from spec.exact import Vector

Gradient = Callable[[Vector], Vector]

TARGET = 1e-12
"""Error aimed at, relative to the sizes of y."""
ROUNDED = 4 * float(np.finfo(np.float64).eps)
"""Steps this short, in units of y, are rounding."""
ACCEPTED_RESIDUAL = 1e-8
"""Largest scaled KKT residual that counts as solved."""
WEIGHT = 1.0
"""First weight of the augmented Lagrangian, in units of C_g / |B|²."""
SLOW, HEAVIER, HEAVIEST = 0.25, 4.0, 1e5
"""A round that reduces infeasibility by less than the first raises the weight by the second, up to the third."""


@dataclass
class FirstOrderPair:
    """Where a solve starts and ends, the gradients of g it took, and the products with B or its transpose."""

    y: Vector
    lam: Vector
    gradients: int = 0
    products: int = 0


def over_box(
    grad: Gradient,
    ends: tuple[Vector, Vector],
    curvature: tuple[float, float],
    start: Vector,
    *,
    tol: float,
    steps: int,
) -> FirstOrderPair:
    """Minimise over lower <= y <= upper to a distance of at most ``tol``; ``lam`` is C_g times the last step's push.

    y ← proj(v - ∇g(v) / C_g) with Nesterov's momentum, dropped whenever it points uphill; ``curvature`` is (mu_g, C_g).
    A step contracts to y* by 1 - mu_g / C_g, so that ‖y - y*‖ ≤ (C_g / mu_g - 1) ‖y - v‖.
    """
    y = v = np.clip(start, *ends)
    mu_g, C_g = curvature
    enough = tol / max(C_g / mu_g - 1.0, 1.0)
    momentum = 1.0
    push, taken = np.zeros_like(y), 0
    while taken < steps:
        taken += 1
        free = v - grad(v) / C_g
        y_next = np.clip(free, *ends)
        push, moved, along = C_g * (y_next - free), y_next - v, y_next - y
        v, momentum = accelerated(y_next, along, momentum, uphill=moved.dot(along) < 0)
        y = y_next
        if moved.dot(moved) <= max(enough, ROUNDED * math.sqrt(y.dot(y))) ** 2:
            break
    return FirstOrderPair(y, push, taken)


def over_rows(
    q: Objectives, grad: Gradient, r: Vector, start: FirstOrderPair, *, tol: float, steps: int
) -> FirstOrderPair:
    """Minimise over B y >= r until infeasibility, in units of |B|, and slope, in units of C_g, are at most ``tol``."""
    # Rows without y bind nothing: whether they hold is not the solver's to say.
    B, norm = q.B, q.B_norm or 1.0
    beta = WEIGHT * q.C_g / norm**2
    y, lam, gradients, products = start.y, start.lam, 0, 0
    before, inner = math.inf, max(tol, 1e-2 * (1.0 + float(np.linalg.norm(y))))
    while gradients < steps:
        C, mu, momentum, v = q.C_g + beta * norm**2, q.mu_g, 1.0, y
        while gradients < steps:
            slope = grad(v) - np.maximum(0.0, lam + beta * (r - B.dot(v))).dot(B)
            gradients, products = gradients + 1, products + 2
            if slope.dot(slope) <= (inner * mu) ** 2:
                y = v
                break
            y_next = v - slope / C
            along = y_next - y
            v, momentum = accelerated(y_next, along, momentum, uphill=slope.dot(along) > 0)
            y = y_next
        h = r - B @ y
        lam_next, products = np.maximum(0.0, lam + beta * h), products + 1
        change = float(np.linalg.norm(lam_next - lam)) / (beta * norm)
        lam = lam_next
        if change <= tol and inner <= tol:
            break
        if change > SLOW * before and beta * norm**2 < HEAVIEST * q.C_g:
            beta *= HEAVIER
        before, inner = change, max(tol, min(0.1 * inner, 0.1 * change))
    return FirstOrderPair(y, lam, gradients, products)


@dataclass(frozen=True)
class FirstOrder:
    """The lower level of one problem by gradients, whichever way its rows allow."""

    q: Objectives
    bounds: Bounds | None

    def solve(self, grad: Gradient, r: Vector, start: FirstOrderPair, *, tol: float, steps: int) -> FirstOrderPair:
        """The pair for rows B y >= r, from a start; ``grad`` is that of g in y."""
        if self.bounds is None:
            return over_rows(self.q, grad, r, start, tol=tol, steps=steps)
        pair = over_box(grad, self.bounds.ends(r), (self.q.mu_g, self.q.C_g), start.y, tol=tol, steps=steps)
        return FirstOrderPair(pair.y, self.bounds.multipliers(pair.lam), pair.gradients)


def solve_first_order(objectives: Objectives, x: Vector, *, steps: int) -> LowerLevelSolution:
    """The lower-level pair by gradients alone, to rounding, or to the best that ``steps`` gradients reach.

    Raises:
        InvalidInputError: If the ends of a box cross.
        LowerLevelError: If the budget ends at a KKT residual above 1e-8.

    Source: Algorithm 1, line 3. Differs from the paper: deterministic. Augmented Lagrangian: Rockafellar, 1976.
    """
    q = objectives
    start = np.zeros(q.m)
    tol = TARGET * (1.0 + float(np.linalg.norm(q.grad_y_g(x, start))) / q.C_g)
    solver = FirstOrder(q, bounds_of(q.B))
    pair = solver.solve(
        lambda y: q.grad_y_g(x, y), q.A @ x - q.b, FirstOrderPair(start, np.zeros(q.p)), tol=tol, steps=steps
    )
    here = Candidate(q, x, pair.y, pair.lam, sizes(q, x, pair.y, pair.lam))
    if not here.residual <= ACCEPTED_RESIDUAL:
        rule = "raise lower_level_steps, or check that rows are feasible and C_g bounds the curvature of g(x, .)"
        raise LowerLevelError(f"gradients stopped at KKT residual {here.residual:.1e} after {pair.gradients}; {rule}")
    return here.solution("first-order", steps=pair.products // 2, gradient_samples=pair.gradients)
