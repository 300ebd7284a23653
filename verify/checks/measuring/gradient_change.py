"""How much an error δ of the multipliers changes ∇L at a fixed y: a subject's worst at one α, and the exact order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from spec import OracleParameters, Quadratic
from spec.exact import Vector
from verify.checks.measuring.case import Case
from verify.checks.measuring.own_values import roundings
from verify.checks.measuring.premises import estimate, h_width, keeps_dual_term, shrinks
from verify.evidence.model import Point
from verify.subjects.protocol import Call
from verify.truth.bent_maps import longest
from verify.truth.bent_maps import value as value_of
from verify.truth.formulas import as_float
from verify.truth.geometry import EPS, Geometry, quadratic_of, ramp
from verify.truth.lower_level.lower_level import ExactLowerLevel


def gradient(case: Case, call: Call, at: Geometry, y: Vector, least: Vector | None = None) -> Vector:
    """∇L of the subject at y, its x-part before its y-part, shape (n + m,), with the pair and the weights of ``at``.

    The x-part is its estimate there. What it has of ∇_yL shows in where it vanishes: as L is quadratic in y, ∇_yL(y) is
    H times the distance of y from the subject's own minimiser ``least``.
    """
    given = replace(call, y_star=at.y_star, lam=at.lam)
    least = own_minimiser(case, given, at) if least is None else least
    return np.concatenate([estimate(case, given, y), at.H @ (y - least)])


def own_minimiser(case: Case, call: Call, at: Geometry) -> Vector:
    given = replace(call, y_star=at.y_star, lam=at.lam, rho=at.rho)
    return case.stages.penalty_minimiser(case.instance.problem, case.x, given, 0.0)


def rounding_of(at: Geometry, y: Vector) -> float:
    """Rounding of the difference of two such gradients: their terms cancel, in y about as in x."""
    a, sizes = at.a, np.abs(y) + np.abs(at.y_star)
    size_h = np.abs(a.A) @ np.abs(at.x) + np.abs(a.B) @ sizes + np.abs(a.b)
    rows = np.abs(np.hstack([a.A, a.B])).T @ (at.rho * size_h)
    lower = np.abs(np.hstack([a.A, a.B])).T @ np.abs(at.lam) + float(np.linalg.norm(np.abs(a.g_yy) @ sizes))
    upper = float(np.linalg.norm(np.abs(a.f_yy) @ sizes)) + float(np.linalg.norm(np.abs(a.f_xy) @ sizes))
    return 8 * EPS * (float(np.linalg.norm(at.alpha**-4 * rows + at.alpha**-2 * lower)) + upper)


def one_beyond(B: Vector, y_star: Vector, row: int = 0) -> Vector:
    """A fixed y at which a row's value is one above its value at y*."""
    return np.asarray(y_star - B[row] / float(B[row] @ B[row]))


@dataclass(frozen=True)
class WorstChange:
    """The largest difference at one alpha beside the exact one, its part in x, its y, the most roundings off."""

    point: Point
    in_x: float
    y: Vector
    off: float


def worst_change(case: Case, alpha: float, lower: ExactLowerLevel) -> WorstChange:
    """The worst over y one unit beyond each row, and over errors δ of λ̃: on one row, and in the worst direction.

    By the formulas the worst direction is known for each y. The subject is asked for all of these, and for the errors
    on single rows at the y where it is worst of all.
    """
    inner_tol, (y_star, lam) = alpha**3, (as_float(lower.y_star), as_float(lower.lam))
    call = case.call(alpha, y_star=y_star, lam=lam)
    problem = quadratic_of(case.instance.problem)
    a = problem.arrays
    h_star = np.array([0.0 if i in lower.active else float(value) for i, value in enumerate(lower.h)])
    width = h_width(case, alpha, call)

    def weighed(error: Vector) -> Geometry:
        rho = ramp(h_star, lam + error, width, call.parameters.lam_width)
        return Geometry(problem, case.x, alpha, y_star, lam + error, rho)

    at_star, rows = weighed(0.0 * lam), np.hstack([a.A, -a.B])
    jacobian = np.hstack([a.A if keeps_dual_term(case) else 0 * a.A, -a.B])

    def formula(end: Geometry, y: Vector) -> Vector:
        h = a.A @ case.x - a.B @ y - a.b
        return np.asarray(alpha**-4 * rows.T @ ((end.rho - at_star.rho) * h) + alpha**-2 * jacobian.T @ (end.lam - lam))

    single = inner_tol * np.eye(len(lam))
    ends = [weighed(error) for error in (*single, *-single)]
    trials: list[tuple[Vector, list[Geometry]]] = []
    for y in beyond_each_row(a.B, y_star):
        up, down = np.hsplit(np.column_stack([formula(end, y) for end in ends]) / inner_tol, 2)
        trials.append((y, [weighed(inner_tol * longest(up, -down))]))
    _, beside = max(trials, key=lambda one: float(np.linalg.norm(formula(one[1][0], one[0]))))
    beside += ends
    least, changes = own_minimiser(case, call, at_star), []
    for y, moved in trials:
        before = gradient(case, call, at_star, y, least)
        for end in moved:
            change = gradient(case, call, end, y) - before
            changes.append((change, formula(end, y), max(rounding_of(end, y), rounding_of(at_star, y)), y))
    sizes = [float(np.linalg.norm(change)) for change, *_ in changes]
    worst, _, _, y = changes[int(np.argmax(sizes))]
    point = Point(
        at=alpha, measured=max(sizes), uncertainty=max(rounding for *_, rounding, _ in changes),
        predicted=max(float(np.linalg.norm(exact)) for _, exact, *_ in changes),
    )  # fmt: skip
    off = max(roundings(change, exact, rounding) for change, exact, rounding, _ in changes)
    return WorstChange(point, float(np.linalg.norm(worst[: len(case.x)])), y, off)


def beyond_each_row(B: Vector, y_star: Vector) -> list[Vector]:
    """For each row that y moves, a y one unit beyond it; y* where there is none."""
    return [one_beyond(B, y_star, i) for i in np.flatnonzero(B.any(axis=1)).tolist()] or [y_star]


def exact_leading(case: Case, lower: ExactLowerLevel) -> tuple[int, float] | None:
    """The smallest power of alpha and its coefficient, the worst over y one unit beyond a row and over λ̃.

    With Δλ = ±α³ on one row, the weight of an active row changes by ±Δλ/ε_λ where its multiplier is on the ramp, by
    1 where ε_λ = α³ and the multiplier leaves 0 upwards, and not at all otherwise: a difference of any Δλ is a sum of
    such, so that no error has a smaller power than those of single rows.
    """
    problem = quadratic_of(case.instance.problem)
    A, B, b = (getattr(problem.constraints, name).to_fractions() for name in ("A", "B", "b"))
    orders: list[tuple[int, float]] = []
    for row in B:
        scale = sum((value * value for value in row), Fraction(0))
        if not scale:
            continue
        y = [value - entry / scale for value, entry in zip(lower.y_star, row, strict=True)]
        h = [_dot(A[i], case.instance.x) - _dot(B[i], y) - b[0][i] for i in range(problem.p)]
        # Columns by power: what a unit of Δλ adds on each row, upwards and downwards.
        columns = [_columns(case, lower, (A, B), h, sign) for sign in (1, -1)]
        powers = [power for each in columns for power, vectors in each.items() if any(map(any, vectors))]
        if powers:
            up, down = (_doubles(each.get(min(powers)), problem) for each in columns)
            orders.append((min(powers), float(np.linalg.norm(value_of(up, -down, longest(up, -down))))))
    return min(orders, key=lambda one: (one[0], -one[1]), default=None)


Rows = list[list[Fraction]]


def _columns(
    case: Case, lower: ExactLowerLevel, rows: tuple[Rows, Rows], h: Sequence[Fraction], sign: int
) -> dict[int, Rows]:
    """By power of alpha, what an error ``sign`` α³ of each row's multiplier adds to the gradient, shape (p, n + m)."""
    A, B = rows
    both = [[*across, *(-value for value in along)] for across, along in zip(A, B, strict=True)]
    none = [Fraction(0)] * len(both[0])
    changes = [_weight_change(case, lam, sign) if i in lower.active else (-1, Fraction(0))
               for i, lam in enumerate(lower.lam)]  # fmt: skip
    x_kept = keeps_dual_term(case)
    linear = [[sign * v * int(x_kept or k >= len(A[0])) for k, v in enumerate(line)] for line in both]
    by_power: dict[int, Rows] = {1: linear}
    for power in {power for power, _ in changes}:
        by_power[power] = [
            [change * h[i] * v for v in both[i]] if at == power else none for i, (at, change) in enumerate(changes)
        ]
    return by_power


def _doubles(columns: Rows | None, problem: Quadratic) -> Vector:
    """Columns of doubles, shape (n + m, p)."""
    if columns is None:
        return np.zeros((problem.n + problem.m, problem.p))
    return np.array([as_float(line) for line in columns]).T


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


def _weight_change(case: Case, lam: Fraction, sign: int) -> tuple[int, Fraction]:
    """Power of alpha and factor of α₂Δρ on an active row."""
    if shrinks(case):
        return -4, Fraction(int(lam == 0 and sign > 0))
    lam_width = Fraction(str(OracleParameters().lam_width))
    on_ramp = 0 < lam < lam_width or (lam == 0 and sign > 0) or (lam == lam_width and sign < 0)
    return -1, sign / lam_width if on_ramp else Fraction(0)
