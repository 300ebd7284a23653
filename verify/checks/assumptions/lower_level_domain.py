"""Where the lower level has a solution, and where the method leaves the set on which something is assumed of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from spec import Quadratic
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.premises import PremiseUnmetError, feasible, regular_truth
from verify.evidence.model import PremiseEvidence
from verify.truth.algebra.rationals import Vector, column, fractions, matrix
from verify.truth.formulas import as_float
from verify.truth.geometry import quadratic_of, spectral_norm
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError
from verify.truth.point_values import PointValues, moved
from verify.truth.stages import ExactSetting, evaluate

REACH = (0, 1, -1, 10, -10, 100, -100)
"""How far along every axis a solution is looked for, in units of x."""
ENLARGED = 2
"""Radius of the ball put around a point of X, in units of x."""
ALPHA = Fraction(1, 10)


@check("smoothness/existence", instances=("infeasible", "random-2x3x4", "two-of-three", "toy1"))
def solution_exists(case: Case) -> Measurement:
    """Points x at which no y satisfies the rows; repaired, those at which some y does and none is a minimiser.

    Either side is proven: a pair by its optimality conditions, emptiness by a combination of rows.
    """
    problem = quadratic_of(case.instance.problem)
    if not case.as_written:
        feasible(case.instance)
    outcomes = [solution_or_proof(problem, x) for x in _points_around(case.instance.x)]
    empty, left = outcomes.count("empty"), outcomes.count("neither")
    values: dict[str, float | str] = {"points": float(len(outcomes)), "empty": float(empty)}
    proven = compare("number of points x at which neither a solution nor emptiness is proven", float(left), "==", 0.0,
                     rung="certified")  # fmt: skip
    if not case.as_written:
        return Measurement((proven,), values)
    lacking = compare("number of points x at which no y satisfies the rows", float(empty), "==", 0.0, rung="certified")
    return Measurement((lacking, proven), values, "Weights w ≥ 0 with Bᵀw = 0 and wᵀ(Ax - b) > 0 prove emptiness.")


def solution_or_proof(problem: Quadratic, x: Vector) -> str:
    """Whether x has a ``solution``, its rows are ``empty``, or ``neither`` is proven, in exact numbers."""
    rows, at = problem.constraints, column(x)
    A, B, b = matrix(rows.A), matrix(rows.B), matrix(rows.b)
    try:
        lower = lower_level.solve(problem, x)
    except InfeasibleLowerLevelError as error:
        w = column(error.weights)
        proven = min(error.weights) >= 0 and not any((B.transpose() * w).entries())
        return "empty" if proven and (w.transpose() * (A * at - b))[0, 0] > 0 else "neither"
    y, lam = column(lower.y_star), column(lower.lam)
    slope = matrix(problem.g.yy) * y + matrix(problem.g.xy).transpose() * at + matrix(problem.g.y)
    h = A * at - B * y - b
    fits = slope == B.transpose() * lam and (lam.transpose() * h)[0, 0] == 0
    return "solution" if fits and min(lower.lam) >= 0 and max(fractions(h)) <= 0 else "neither"


@check("lipschitz-solution/domain", instances=("random-2x3x4", "two-of-three"))
def leaves_the_domain(case: Case) -> Measurement:
    """Points of balls around X, X a unit box at x on which everything is assumed, at which the assumptions fail.

    Where X is all of R^n the assumptions are made at every point asked, and no ball leaves it.
    """
    problem, x = quadratic_of(case.instance.problem), case.instance.x
    corners = product(range(3), repeat=len(x))
    box = [tuple(v + Fraction(k, 2) for v, k in zip(x, corner, strict=True)) for corner in corners]
    reached = {moved(place, i, Fraction(sign * ENLARGED)) for place in box for i in range(len(x)) for sign in (1, -1)}
    on_X = [*box, *reached] if case.as_written and case.sense.upper_set == "whole-space" else box
    inside = [place for place in on_X if not _regular(problem, place)]
    if inside:
        raise PremiseUnmetError("regular-on-x", f"the assumptions fail at {len(inside)} of {len(on_X)} points of X")
    met = PremiseEvidence(premise="regular-on-x", holds=True, finding=f"they hold at the {len(on_X)} points of X tried")
    outside = [place for place in reached if not _regular(problem, place)]
    if case.as_written:
        quantity = "number of points in balls around X at which the assumptions fail"
        number = compare(quantity, float(len(outside)), "==", 0.0, rung="certified")
        return Measurement((met, number), {"points": float(len(reached)), "failing": float(len(outside))})
    if outside:
        finding = f"they fail at {len(outside)} of {len(reached)} points within {ENLARGED} of X"
        raise PremiseUnmetError("regular-around-x", finding)
    finding = f"they hold at {len(reached)} points around X"
    around = PremiseEvidence(premise="regular-around-x", holds=True, finding=finding)
    steepest, bound = _steepest(problem, [*box, *reached])
    slope = compare("largest ‖y*(x) - y*(x')‖ / ‖x - x'‖ over X and the balls around it", steepest, "<=", bound,
                    1e-9 * bound)  # fmt: skip
    return Measurement((met, around, slope))


def _regular(problem: Quadratic, x: Vector) -> bool:
    """Whether the rows admit a point and the active ones are independent."""
    try:
        return lower_level.solve(problem, x).licq
    except InfeasibleLowerLevelError:
        return False


def _steepest(problem: Quadratic, places: Sequence[Vector]) -> tuple[float, float]:
    """Steepest change of the exact y* between places, and the largest sensitivity of any independent row set."""
    from verify.checks.assumptions.assumptions import largest_sensitivity

    solutions = [(as_float(x), as_float(lower_level.solve(problem, x).y_star)) for x in places]
    slopes = [
        float(np.linalg.norm(y - v)) / float(np.linalg.norm(x - u))
        for i, (x, y) in enumerate(solutions) for u, v in solutions[:i]
    ]  # fmt: skip
    return max(slopes), largest_sensitivity(problem)


def _points_around(x: Vector) -> Iterator[Vector]:
    yield x
    yield from (moved(x, i, Fraction(reach)) for i in range(len(x)) for reach in REACH if reach)


@check("smoothness/compact-domain-note", instances=("box-rational", "moving-box", "experiment-5d"))
def compact_domain(case: Case) -> Measurement:
    """How far the point at which line 6 takes ∇_x g lies outside Y, the compact set that the rows cut out of R^m."""
    truth, problem = regular_truth(case.instance), quadratic_of(case.instance.problem)
    setting = ExactSetting(problem, case.instance.x, ALPHA, given={"rho": tuple(map(Fraction, truth.active.tolist()))})
    y = evaluate(setting).y_penalty
    outside = max(Fraction(0), *PointValues(problem).rows(case.instance.x, y))
    premise = _compact_premise(problem)
    name = "largest violation of a row at the minimiser of the penalty Lagrangian"
    values: dict[str, float | str] = {"alpha": float(ALPHA), "violation": float(outside)}
    if case.as_written:
        number = compare(name, float(outside), "==", 0.0, rung="certified", context={"alpha": float(ALPHA)})
        return Measurement((premise, number), values)
    a = problem.arrays
    c = a.f_xy.T @ case.x + a.f_yy @ truth.y_star + a.f_y
    mu = float(np.linalg.eigvalsh(a.g_yy)[0]) - float(ALPHA) ** 2 * spectral_norm(a.f_yy)
    bound = float(ALPHA) ** 2 * spectral_norm(a.B) * float(np.linalg.norm(c)) / mu
    return Measurement((premise, compare(f"{name}, against α²‖B‖‖∇_yf‖/μ", float(outside), "<=", bound)), values)


def _compact_premise(problem: Quadratic) -> PremiseEvidence:
    """Whether rows along the axes bound every coordinate of y from both sides."""
    single = {(j, row[j] > 0) for row in problem.constraints.B.to_fractions() for j in range(problem.m)
              if row[j] and not any(value for k, value in enumerate(row) if k != j)}  # fmt: skip
    bounded = len(single) == 2 * problem.m
    finding = f"{len(single)} of the {2 * problem.m} sides of a box in y are rows"
    return PremiseEvidence(premise="compact-rows", holds=bounded, finding=finding)
