"""Assumption "Global Lipschitz continuity of LL solution", and what follows from the first assumption."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb

import numpy as np

from spec import InvalidInputError, Quadratic
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.premises import DEGENERATE, REGULAR, PremiseUnmetError, feasible
from verify.evidence.model import ComparisonEvidence
from verify.truth import lower_level as exact_lower_level
from verify.truth.formulas import as_float
from verify.truth.geometry import quadratic_of, spectral_norm

PAIRS = 24
REACH = (1e-3, 0.1, 1.0, 3.0)
"""Distances between the two points of a pair, in units of x."""
MOST_ROW_SETS = 1 << 16
"""Most row sets enumerated for the Lipschitz constant."""
SINGULAR = 1e-9
PAIR_ACCURACY = 1e-8
"""Relative accuracy asked of a lower-level pair: below the δ = α³ that the sweeps spend."""
COMPARED_POINTS = 6


@check("lipschitz-solution", instances=(*REGULAR, *DEGENERATE), needs=("lower_level",), sure=2)
def solution_map(case: Case) -> Measurement:
    """Steepest change of the subject's y* over pairs of points, against the largest sensitivity of any row set."""
    problem = _feasible(case)
    L_y = largest_sensitivity(problem)
    ratios = []
    for x, x_other in _pairs(case):
        y, y_other = (case.stages.lower_level(case.instance.problem, z)[0] for z in (x, x_other))
        ratios.append(float(np.linalg.norm(y - y_other)) / float(np.linalg.norm(x - x_other)))
    steepest = _steepest("y*", ratios, L_y, 1e-6)
    quantity = "distance of the subject's lower-level pairs from the exact ones"
    return Measurement((steepest, compare(quantity, _distance_from_exact(case), "<=", 0.0, PAIR_ACCURACY)))


def _steepest(name: str, ratios: list[float], largest: float, rounding: float) -> ComparisonEvidence:
    quantity, pairs = f"steepest change of {name} over a pair of points", {"pairs": float(len(ratios))}
    return compare(quantity, max(ratios), "<=", largest, rounding * max(1.0, largest), context=pairs)


@check("lipschitz-solution/lipschitz-F", instances=REGULAR, needs=("lower_level",), sure=1)
def objective(case: Case) -> Measurement:
    """Steepest change of F over pairs against L_fx + L_fy L_y, with f's constants over the segment visited."""
    problem = _feasible(case)
    a = problem.arrays
    L_y = largest_sensitivity(problem)
    worst = (-np.inf, 0.0, 0.0)
    for x, x_other in _pairs(case):
        y, y_other = (case.stages.lower_level(case.instance.problem, z)[0] for z in (x, x_other))
        length = float(np.linalg.norm(x - x_other))
        change = abs(_f(problem, x, y) - _f(problem, x_other, y_other)) / length
        # ∇f is affine, so along the segment its norm is largest at an end; y* stays within L_y of both ends.
        slack = L_y * length
        ends = [(x, y), (x_other, y_other)]
        L_fx = max(float(np.linalg.norm(a.f_xx @ u + a.f_xy @ v + a.f_x)) for u, v in ends)
        L_fy = max(float(np.linalg.norm(a.f_xy.T @ u + a.f_yy @ v + a.f_y)) for u, v in ends)
        L_fx += spectral_norm(a.f_xx) * length + spectral_norm(a.f_xy) * slack
        L_fy += spectral_norm(a.f_xy) * length + spectral_norm(a.f_yy) * slack
        bound = L_fx + L_fy * L_y
        worst = max(worst, (change - bound, change, bound))
    quantity, tolerance = "change of F over a pair of points, per distance", 1e-6 * max(1.0, worst[2])
    return Measurement((compare(quantity, worst[1], "<=", worst[2], tolerance),))


@check("lipschitz-solution/from-smoothness", instances=(*REGULAR, "weakly-active"), sure=1)
def follows(case: Case) -> Measurement:
    """Slopes of the exact solution map against the finite constant that the rows and g alone give.

    The subject has no part in it: the step is about the paper's argument.
    """
    problem = _feasible(case)
    largest, slopes = largest_sensitivity(problem), []
    for x, x_other in _pairs(case):
        y, y_other = (exact_lower_level.solve(problem, tuple(z.tolist())).y_star for z in (x, x_other))
        apart = np.array([float(a - b) for a, b in zip(y, y_other, strict=True)])
        slopes.append(float(np.linalg.norm(apart)) / float(np.linalg.norm(x - x_other)))
    return Measurement((_steepest("the exact y*", slopes, largest, 1e-9),))


def largest_sensitivity(problem: Quadratic) -> float:
    """L_y = max over independent row sets S of ‖dy*/dx‖ with the rows S held as equations.

    y* is piecewise affine in x for affine rows, each piece belonging to one such set, so this bounds its
    Lipschitz constant.

    Raises:
        PremiseUnmetError: If there are too many sets to try them all.
    """
    a = problem.arrays
    Ginv_gxy = np.linalg.solve(a.g_yy, a.g_xy.T)
    best = spectral_norm(Ginv_gxy)
    for rows in _row_sets(problem):
        B, A = a.B[rows], a.A[rows]
        if np.linalg.svd(B, compute_uv=False)[-1] <= SINGULAR * spectral_norm(B):
            continue
        Z = np.linalg.solve(a.g_yy, B.T)
        J = -Ginv_gxy + Z @ np.linalg.solve(B @ Z, A + B @ Ginv_gxy)
        best = max(best, spectral_norm(J))
    return best


def _row_sets(problem: Quadratic) -> Iterator[list[int]]:
    largest = min(problem.m, problem.p)
    count = sum(comb(problem.p, size) for size in range(1, largest + 1))
    if count > MOST_ROW_SETS:
        tried = f"{count} row sets would have to be tried for L_y, more than {MOST_ROW_SETS}"
        raise PremiseUnmetError("enumerable", tried)
    for size in range(1, largest + 1):
        yield from (list(rows) for rows in combinations(range(problem.p), size))


def _feasible(case: Case) -> Quadratic:
    feasible(case.instance)
    return quadratic_of(case.instance.problem)


def _pairs(case: Case) -> Iterator[tuple[Vector, Vector]]:
    """Pairs at which a lower-level point exists: the assumption speaks of no others."""
    problem, n = quadratic_of(case.instance.problem), len(case.x)
    for k in range(PAIRS):
        direction = case.rng.standard_normal(n)
        base = case.x + 0.5 * case.rng.standard_normal(n) * (k > 0)
        other = base + REACH[k % len(REACH)] * direction / np.linalg.norm(direction)
        if _is_feasible(problem, base) and _is_feasible(problem, other):
            yield base, other


def _is_feasible(problem: Quadratic, x: Vector) -> bool:
    try:
        exact_lower_level.solve(problem, tuple(x.tolist()))
    except InvalidInputError:
        return False
    return True


def _distance_from_exact(case: Case) -> float:
    """Largest relative error of (y*, λ*) over the instance's point and points around it.

    Where the active rows are dependent the multipliers are not unique, and only y* is compared.
    """
    problem, worst = quadratic_of(case.instance.problem), 0.0
    points = [case.x, *(x for x, _ in islice(_pairs(case), COMPARED_POINTS))]
    for x in points:
        exact = exact_lower_level.solve(problem, tuple(x.tolist()))
        pair = zip(case.stages.lower_level(case.instance.problem, x), (exact.y_star, exact.lam), strict=True)
        for vector, values in list(pair)[: 2 if exact.licq else 1]:
            at = as_float(values)
            worst = max(worst, float(np.linalg.norm(vector - at)) / (1 + float(np.linalg.norm(at))))
    return worst


def _f(problem: Quadratic, x: Vector, y: Vector) -> float:
    a = problem.arrays
    quadratic = 0.5 * x @ a.f_xx @ x + x @ a.f_xy @ y + 0.5 * y @ a.f_yy @ y
    return float(quadratic + a.f_x @ x + a.f_y @ y)
