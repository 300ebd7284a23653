"""What may be answered in place of the penalty minimiser though its gradient is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from f2csa_ref.lower_level.exact import solve_program
from spec import InvalidInputError
from spec.exact import Vector
from verify.conformance.blame.sums.answer_changes import AnswerChange, Seen, near_number, spelt_number
from verify.conformance.blame.sums.call_points import CallPoint, Names
from verify.conformance.blame.sums.right_sums import right_sum
from verify.conformance.blame.sums.term_basis import Power, powers
from verify.method.endings import plainest_between
from verify.method.terms import ANSWERS, HESSIANS, term_value

MOST_STEPS = 1000
"""Most gradient steps that are counted."""
FAR = 1e12
"""Distance at which steps are taken to diverge."""


def hessian_of(c: CallPoint) -> Vector:
    """Of the penalty Lagrangian, shape (m, m)."""
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


def _rows_at(c: CallPoint, y: Vector) -> Vector:
    return np.asarray(c.q.A @ c.x - c.q.B @ y - c.q.b)


def _in_turn(c: CallPoint, y: Vector, order: int = 1) -> Vector:
    """Moved onto each row that is violated when it is looked at."""
    for row, gap in list(zip(c.q.B, c.q.A @ c.x - c.q.b, strict=True))[::order]:
        y = y + max(float(gap - row @ y), 0.0) / max(float(row @ row), TINY) * row
    return np.asarray(y)


def _onto(c: CallPoint, y: Vector, rows: Any) -> Vector:
    """The nearest point with some rows at 0."""
    return np.asarray(y + np.linalg.lstsq(c.q.B[rows], _rows_at(c, y)[rows])[0]) if np.any(rows) else y


def _mean_move(c: CallPoint, y: Vector) -> Vector:
    """The mean of the moves onto violated rows."""
    over = np.maximum(_rows_at(c, y), 0.0)
    moves = over[:, None] / np.maximum((c.q.B**2).sum(axis=1), TINY)[:, None] * c.q.B
    return np.asarray(y + moves.sum(axis=0) / max(1, int((over > 0).sum())))


def _kept_inside(c: CallPoint, y: Vector) -> Vector:
    """As far from the lower-level solution as no row that holds there is violated."""
    start, end = _rows_at(c, c.y_star), _rows_at(c, y)
    crossing = (start <= 0) & (end > 0)
    share = np.min(-start[crossing] / (end - start)[crossing], initial=1.0)
    return np.asarray(c.y_star + share * (y - c.y_star))


TINY = 1e-12
"""What a squared length is at least where it divides."""
MOVES: dict[str, Callable[..., Vector]] = {
    "h_of": _rows_at, "in_turn": _in_turn, "onto": _onto, "mean_move": _mean_move, "kept_inside": _kept_inside,
}  # fmt: skip
"""Ways to move a point to the rows, as formulas call them."""


def _solved(matrix: Vector, right: Vector) -> Vector:
    """Solution of a system, not a number where there is not one."""
    if np.linalg.matrix_rank(matrix) < len(right):
        return np.full(len(right), np.nan)
    return np.asarray(np.linalg.solve(matrix, right))


def _single(H: Vector, slope: Vector) -> Vector:
    """The solution of a system handed over in single precision."""
    return np.asarray(np.linalg.solve(H.astype(np.float32), slope.astype(np.float32)), dtype=np.float64)


def _single_inverse(H: Vector, slope: Vector) -> Vector:
    """The same by the inverse."""
    return np.asarray(np.linalg.inv(H.astype(np.float32)) @ slope.astype(np.float32), dtype=np.float64)


def _by_formula(formula: str, v: Vector, c: CallPoint) -> Vector:
    own = {
        "v": v,
        "H": hessian_of(c),
        "slope": _gradient(c),
        "program": partial(_program, c),
        "solved": _solved,
        "single": _single,
        "single_inverse": _single_inverse,
    }
    own |= {name: partial(rule, c) for name, rule in MOVES.items()}
    return np.asarray(term_value(formula, Names(c, own)))


RULES: tuple[AnswerChange, ...] = tuple(
    AnswerChange(name, cost, partial(_by_formula, formula)) for name, (cost, formula) in ANSWERS["minimiser"].items()
)
"""Rules without a number in them."""


def _newton(part: str, formula: str, v: Vector, c: CallPoint) -> Vector:
    M = term_value(HESSIANS[part][""], Names(c, {}))
    H = hessian_of(c) - M + term_value(formula, Names(c, {"M": M}))
    return np.asarray(c.y_star - _solved(H, _gradient(c)) + 0.0 * v)


def newton_steps() -> Iterator[AnswerChange]:
    """One Newton step from ỹ* whose Hessian has a wrong part."""
    for part in (name for name in HESSIANS if name != "any"):
        for name, formula in {**HESSIANS[part], **HESSIANS["any"]}.items():
            if name:
                what = name.format(part)
                words = f"ỹ* − H⁻¹∇_yL(x,ỹ*) in place of {{}}: in its Hessian H stands {what} where {part} belongs"
                yield AnswerChange(words, 0.2, partial(_newton, part, formula))


def _cut_off(share: float, v: Vector, c: CallPoint) -> Vector:
    return np.asarray(c.y_star - np.linalg.pinv(hessian_of(c), rcond=share) @ _gradient(c) + 0.0 * v)


def cut_values(seen: Sequence[Seen]) -> Iterator[AnswerChange]:
    """The solution without the Hessian's singular values below a share of the largest; the share is measured."""
    low, high = 0.0, 1.0
    for c, _, got in seen:
        U, sizes, V = np.linalg.svd(hessian_of(c))
        solutions = c.y_star - np.cumsum(V.T * (U.T @ _gradient(c) / sizes), axis=1).T
        there = np.flatnonzero((np.abs(solutions - got) <= 1e-10 + 1e-8 * np.abs(got)).all(axis=1))
        if not len(there):
            return
        shares = np.append(sizes / sizes[0], 0.0)
        low, high = max(low, float(shares[there[-1] + 1])), min(high, float(shares[there[0]]))
    if 0.0 < low < high:
        share = plainest_between(low, high)
        cut = f"singular values of the Hessian H below {share:g} of its largest are cut off"
        words = f"ỹ* − H⁺∇_yL(x,ỹ*) in place of {{}}: {cut}"
        yield AnswerChange(words, 0.2, partial(_cut_off, share))


def _bounds(c: CallPoint) -> dict[str, float]:
    """What people divide a gradient by: bounds on the curvature."""
    if "curvature" not in c.table:
        c.table["curvature"] = _bounds_from(c, hessian_of(c))
    bounds: dict[str, float] = c.table["curvature"]
    return bounds


def _bounds_from(c: CallPoint, H: Vector) -> dict[str, float]:
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
    gap = np.eye(len(v)) - hessian_of(c) / _bounds(c)[by]
    return np.asarray(v + np.linalg.matrix_power(gap, steps) @ (c.y_star - v))


def counted_steps(seen: Sequence[Seen]) -> Iterator[AnswerChange]:
    """Gradient descent that ends after a number of steps; the number is found where most of the way is left."""
    c, right, got = max(seen, key=lambda one: float(np.abs(one[2] - one[1]).max(initial=0.0)))
    near = 1e-10 + 1e-9 * np.abs(got)
    for by, bound in _bounds(c).items():
        gap = np.eye(len(right)) - hessian_of(c) / bound
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
    yield from _short_ways(seen)
    slopes = [_gradient(c) for c, _, _ in seen]
    for power in powers():
        steps = np.concatenate([power.value(c) * s for (c, _, _), s in zip(seen, slopes, strict=True)])
        length = near_number(-float(steps @ gone) / (float(steps @ steps) or 1.0))
        yield AnswerChange(
            f"one gradient step of size {spelt_number(length)}{power.name} from ỹ* in place of {{}}", 0.2 + power.cost,
            partial(_one_step, length, power),
        )  # fmt: skip


def _short_way(most: float, power: Power, order: float, v: Vector, c: CallPoint) -> Vector:
    way = v - c.y_star
    return np.asarray(c.y_star + way * min(1.0, most * power.value(c) / max(float(np.linalg.norm(way, order)), 1e-300)))


def _clipped_way(most: float, power: Power, v: Vector, c: CallPoint) -> Vector:
    return np.asarray(c.y_star + np.clip(v - c.y_star, -most * power.value(c), most * power.value(c)))


def _short_ways(seen: Sequence[Seen]) -> Iterator[AnswerChange]:
    """The way from ỹ* to the minimiser kept in a ball, or each of its entries in an interval; the size is measured."""
    for power in powers()[:6]:
        for name, order in (("length", 2.0), ("largest entry", np.inf)):
            longest = max(float(np.linalg.norm(got - c.y_star, order)) / power.value(c) for c, _, got in seen)
            most = near_number(longest)
            yield AnswerChange(f"ỹ* + ({{}} − ỹ*), the way shortened to {name} {spelt_number(most)}{power.name},",
                               0.2 + power.cost, partial(_short_way, most, power, order))  # fmt: skip
        yield AnswerChange(f"ỹ* + ({{}} − ỹ*), entries of the way cut off at ±{spelt_number(most)}{power.name},",
                           0.2 + power.cost, partial(_clipped_way, most, power))  # fmt: skip
