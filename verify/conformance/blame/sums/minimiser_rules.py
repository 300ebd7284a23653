"""What may be answered in place of the penalty minimiser though its gradient is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from f2csa_ref.lower_level.exact import solve_program
from spec import InvalidInputError
from spec.exact import Vector
from verify.conformance.blame.sums.answer_changes import AnswerChange, Seen, near_number, spelt_number
from verify.conformance.blame.sums.call_points import CallPoint
from verify.conformance.blame.sums.right_sums import right_sum
from verify.conformance.blame.sums.term_basis import Power, powers

MOST_STEPS = 1000
"""Most gradient steps that are counted."""
FAR = 1e12
"""Distance at which steps are taken to diverge."""


def _hessian(c: CallPoint) -> Vector:
    q = c.q
    return np.asarray(q.f_yy + c.alpha_1 * q.g_yy + c.alpha_2 * (q.B.T * c.rho) @ q.B)


def _gradient(c: CallPoint) -> Vector:
    """At the lower-level solution."""
    return right_sum("y", c.at(c.y_star))


def _program(c: CallPoint, H: Vector, slope: Vector, sign: float = 1.0) -> Vector:
    size = float(np.abs(H).max())
    rows = c.q.A @ c.x - c.q.b
    try:
        y, _ = solve_program(H / size, slope / size, sign * c.q.B, sign * rows, size=1.0, x=c.x)
    except (InvalidInputError, ArithmeticError, RuntimeError):
        return np.full(len(slope), np.nan)
    return y


def _constrained(v: Vector, c: CallPoint, sign: float = 1.0) -> Vector:
    H = _hessian(c)
    return _program(c, H, -H @ v, sign)


RULES: tuple[AnswerChange, ...] = (
    AnswerChange("ỹ* in place of {}", 0.0, lambda v, c: c.y_star + 0.0 * v),
    AnswerChange("{} less ỹ*", 0.0, lambda v, c: v - c.y_star),
    AnswerChange("ỹ* less {}", 0.1, lambda v, c: c.y_star - v),
    AnswerChange("{} plus ỹ*", 0.2, lambda v, c: v + c.y_star),
    AnswerChange("2ỹ* less {}", 0.2, lambda v, c: 2 * c.y_star - v),
    AnswerChange("the minimiser under h(x,y) ≤ 0 in place of {}", 0.0, _constrained),
    AnswerChange("the minimiser under h(x,y) ≥ 0 in place of {}", 0.2, lambda v, c: _constrained(v, c, -1.0)),
    AnswerChange("the point with h(x,y) ≤ 0 nearest to {}", 0.1, lambda v, c: _program(c, np.eye(len(v)), -v)),
    AnswerChange("one Jacobi step from ỹ* in place of {}", 0.2,
                 lambda v, c: c.y_star - _gradient(c) / np.diag(_hessian(c)) + 0.0 * v),
    AnswerChange("the minimiser of g without rows in place of {}", 0.2,
                 lambda v, c: -np.linalg.solve(c.q.g_yy, c.q.g_xy.T @ c.x + c.q.g_y) + 0.0 * v),
    AnswerChange("the minimiser of f in place of {}", 0.3, lambda v, c: _minimiser_of_f(v, c)),
)  # fmt: skip
"""Rules without a number in them."""


def _minimiser_of_f(v: Vector, c: CallPoint) -> Vector:
    if np.linalg.matrix_rank(c.q.f_yy) < len(v):
        return np.full(len(v), np.nan)
    return np.asarray(-np.linalg.solve(c.q.f_yy, c.q.f_xy.T @ c.x + c.q.f_y))


def _bounds(c: CallPoint) -> dict[str, float]:
    """What people divide a gradient by: bounds on the curvature."""
    H = _hessian(c)
    norm = np.linalg.norm
    parts = norm(c.q.f_yy, 2) + c.alpha_1 * norm(c.q.g_yy, 2)
    return {
        "the largest curvature": float(norm(H, 2)),
        "the trace of the Hessian": float(np.trace(H)),
        "the Hessian's Frobenius norm": float(norm(H)),
        "‖f_yy‖ + α₁‖g_yy‖ + α₂‖B‖²": float(parts + c.alpha_2 * norm(c.q.B, 2) ** 2),
        "‖f_yy‖ + α₁‖g_yy‖ + α₂‖B‖² max ρ": float(parts + c.alpha_2 * norm(c.q.B, 2) ** 2 * c.rho.max(initial=0.0)),
        "α₂": c.alpha_2,
    }


def _stepped(by: str, steps: int, v: Vector, c: CallPoint) -> Vector:
    """Gradient steps from the lower-level solution towards the minimiser v."""
    gap = np.eye(len(v)) - _hessian(c) / _bounds(c)[by]
    return np.asarray(v + np.linalg.matrix_power(gap, steps) @ (c.y_star - v))


def counted_steps(seen: Sequence[Seen]) -> Iterator[AnswerChange]:
    """Gradient descent that ends after a number of steps; the number is found at the first answer."""
    c, right, got = seen[0]
    near = 1e-10 + 1e-9 * np.abs(got)
    for by, bound in _bounds(c).items():
        gap = np.eye(len(right)) - _hessian(c) / bound
        left = c.y_star - right
        for k in range(1, MOST_STEPS + 1):
            left = gap @ left
            if not np.abs(left).max(initial=0.0) < FAR:
                break
            if (np.abs(right + left - got) <= near).all():
                yield AnswerChange(f"the result of {k} gradient steps from ỹ*, divided by {by}, in place of {{}}", 0.3,
                                   partial(_stepped, by, k))  # fmt: skip


def _one_step(length: float, power: Power, v: Vector, c: CallPoint) -> Vector:
    return c.y_star - length * power.value(c) * _gradient(c) + 0.0 * v


def fitted_rules(seen: Sequence[Seen]) -> Iterator[AnswerChange]:
    """Part of the way from ỹ* to the minimiser, and steps along the gradient at ỹ*; the number is measured."""
    way = np.concatenate([right - c.y_star for c, right, _ in seen])
    gone = np.concatenate([got - c.y_star for c, _, got in seen])
    part = near_number(float(way @ gone) / (float(way @ way) or 1.0))
    yield AnswerChange(f"ỹ* + {spelt_number(part)}({{}} − ỹ*)", 0.1, lambda v, c: c.y_star + part * (v - c.y_star))
    slopes = [_gradient(c) for c, _, _ in seen]
    for power in powers():
        steps = np.concatenate([power.value(c) * s for (c, _, _), s in zip(seen, slopes, strict=True)])
        length = near_number(-float(steps @ gone) / (float(steps @ steps) or 1.0))
        yield AnswerChange(
            f"one gradient step of size {spelt_number(length)}{power.name} from ỹ* in place of {{}}", 0.2 + power.cost,
            partial(_one_step, length, power),
        )  # fmt: skip
