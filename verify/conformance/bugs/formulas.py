r"""The formulas of Algorithm 1 with every weight and sign open to change.

.. math:: \nabla_y L = \nabla_y f + \alpha_1 (\nabla_y g - B^\top\lambda) - \alpha_2 B^\top (\rho \circ h)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from f2csa_ref import objectives_of
from f2csa_ref.lower_level.exact import solve_program
from spec import Problem
from spec.exact import Vector
from spec.quadratic import QuadraticArrays
from verify.subjects import Call


def arrays_of(problem: Problem) -> QuadraticArrays | None:
    """Blocks of a quadratic problem as doubles; ``None`` for other kinds."""
    made: Any = getattr(problem, "quadratic", problem)
    return getattr(made, "arrays", None)


def h_width(problem: Problem, call: Call) -> float:
    """Ramp width below the boundary, constraint units."""
    return call.parameters.h_width(call.reading, call.alpha**3, objectives_of(problem).B_norm)


def rows(problem: Problem, x: Vector, y: Vector) -> Vector:
    """h(x, y), shape (p,)."""
    return objectives_of(problem).h(x, y)


def terms(problem: Problem, x: Vector, call: Call, *, y: Vector | None = None) -> dict[str, Vector]:
    """Parts of the noise-free estimate, dual part included, each (n,); every stage of the call is given."""
    q = objectives_of(problem)
    y_star, lam, rho, y_penalty = given(call)
    at = y_penalty if y is None else y
    return {
        "f": q.grad_x_f(x, at),
        "g_difference": call.alpha**-2 * q.grad_x_g_change(x, y_star, at - y_star),
        "dual": call.alpha**-2 * (lam @ q.A),
        "penalty": call.alpha**-4 * ((rho * q.h(x, at)) @ q.A),
    }


def given(call: Call) -> tuple[Vector, Vector, Vector, Vector]:
    """The four stage values of a completed call."""
    made = (call.y_star, call.lam, call.rho, call.y_penalty)
    if any(value is None for value in made):
        raise ValueError("the call is not complete")
    return made  # type: ignore[return-value]  # the line above rules None out


def penalty_system(
    a: QuadraticArrays,
    x: Vector,
    call: Call,
    *,
    alpha_1: float,
    alpha_2: float,
    multiplier_sign: float = 1.0,
    row_sign: float = 1.0,
) -> tuple[Vector, Vector]:
    """Hessian (m, m) of L in y and its gradient (m,) at the given ỹ*."""
    if call.y_star is None or call.lam is None or call.rho is None:
        raise ValueError("penalty_minimiser needs y_star, lam and rho")
    B = row_sign * a.B
    h = a.A @ x - B @ call.y_star - a.b
    H = a.f_yy + alpha_1 * a.g_yy + alpha_2 * (B.T * call.rho) @ B
    lower = a.g_xy.T @ x + a.g_yy @ call.y_star + a.g_y - multiplier_sign * B.T @ call.lam
    gradient = a.f_xy.T @ x + a.f_yy @ call.y_star + a.f_y + alpha_1 * lower - alpha_2 * B.T @ (call.rho * h)
    return H, gradient


def stationary_point(
    a: QuadraticArrays, x: Vector, call: Call, *, alpha_1: float | None = None, alpha_2: float | None = None,
    multiplier_sign: float = 1.0, row_sign: float = 1.0,
) -> Vector:  # fmt: skip
    """Where the gradient of L in y vanishes, shape (m,)."""
    H, gradient = penalty_system(
        a, x, call, alpha_1=call.alpha**-2 if alpha_1 is None else alpha_1,
        alpha_2=call.alpha**-4 if alpha_2 is None else alpha_2,
        multiplier_sign=multiplier_sign, row_sign=row_sign,
    )  # fmt: skip
    y_star: Any = call.y_star
    made: Vector = y_star - np.linalg.solve(H, gradient)
    return made


def constrained_minimiser(H: Vector, gradient: Vector, at: Vector, a: QuadraticArrays, x: Vector) -> Vector:
    """Minimiser over h(x, y) <= 0 of the quadratic with this Hessian and this gradient at a point, shape (m,)."""
    scale = float(np.linalg.norm(H, 2))
    right = a.A @ x - a.b - a.B @ at
    size = float(np.linalg.norm(np.linalg.solve(H, gradient))) + float(np.abs(right).max(initial=0.0))
    shift, _ = solve_program(H / scale, gradient / scale, a.B, right, size=size or 1.0, x=x)
    return at + shift
