"""What may be answered in place of the penalty minimiser though its gradient is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from f2csa_ref.lower_level.exact import solve_program
from spec import InvalidInputError
from spec.exact import Vector
from verify.conformance.blame.sums.answer_changes import AnswerChange, Seen, near_number, spelt_number
from verify.conformance.blame.sums.call_points import CallPoint, Names
from verify.conformance.blame.sums.right_sums import right_sum
from verify.conformance.blame.sums.term_basis import Power, powers
from verify.method.terms import ANSWERS, term_value

MOST_STEPS = 1000
"""Most gradient steps that are counted."""
FAR = 1e12
"""Distance at which steps are taken to diverge."""


def _hessian(c: CallPoint) -> Vector:
    if "Hessian" not in c.table:
        q = c.q
        c.table["Hessian"] = np.asarray(q.f_yy + c.alpha_1 * q.g_yy + c.alpha_2 * (q.B.T * c.rho) @ q.B)
    H: Vector = c.table["Hessian"]
    return H


def _gradient(c: CallPoint) -> Vector:
    """At the lower-level solution."""
    if "slope" not in c.table:
        c.table["slope"] = right_sum("y", c.at(c.y_star))
    slope: Vector = c.table["slope"]
    return slope


def _program(c: CallPoint, H: Vector, slope: Vector, sign: float) -> Vector:
    size = float(np.abs(H).max())
    rows = c.q.A @ c.x - c.q.b
    try:
        y, _ = solve_program(H / size, slope / size, sign * c.q.B, sign * rows, size=1.0, x=c.x)
    except (InvalidInputError, ArithmeticError, RuntimeError):
        return np.full(len(slope), np.nan)
    return y


def _solved(matrix: Vector, right: Vector) -> Vector:
    """Solution of a system, not a number where there is not one."""
    if np.linalg.matrix_rank(matrix) < len(right):
        return np.full(len(right), np.nan)
    return np.asarray(np.linalg.solve(matrix, right))


def _by_formula(formula: str, v: Vector, c: CallPoint) -> Vector:
    own = {"v": v, "H": _hessian(c), "slope": _gradient(c), "program": partial(_program, c), "solved": _solved}
    return np.asarray(term_value(formula, Names(c, own)))


RULES: tuple[AnswerChange, ...] = tuple(
    AnswerChange(name, cost, partial(_by_formula, formula)) for name, (cost, formula) in ANSWERS["minimiser"].items()
)
"""Rules without a number in them."""


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
