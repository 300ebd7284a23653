"""Assumption "Global Lipschitz continuity of LL solution", and what follows from the first assumption."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb

import numpy as np

from spec import InvalidInputError, Quadratic
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.premises import PremiseUnmetError
from verify.checks.measuring.starts import REGULAR
from verify.evidence.model import ComparisonEvidence, PremiseEvidence
from verify.truth import lower_level as exact_lower_level
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


@check("lipschitz-solution", instances=(*REGULAR, "weakly-active", "licq-fails", "infeasible"), needs=("lower_level",),
       sure=2)  # fmt: skip
def solution_map(case: Case) -> Measurement:
    """Steepest change of the subject's y* over pairs of points, against the largest sensitivity of any row set."""
    problem = _feasible(case)
    L_y = largest_sensitivity(problem)
    ratios = [float(np.linalg.norm(dy)) / length for length, dy in _changes(case)]
    compared = ComparisonEvidence(
        quantity="steepest change of y* over a pair of points",
        measured=max(ratios), relation="<=", predicted=L_y, tolerance=1e-6 * max(1.0, L_y),
        context={"pairs": float(len(ratios))},
    )  # fmt: skip
    accurate = ComparisonEvidence(
        quantity="distance of the subject's lower-level pairs from the exact ones",
        measured=_distance_from_exact(case), relation="<=", predicted=0.0, tolerance=PAIR_ACCURACY,
    )  # fmt: skip
    return Measurement((compared, accurate))


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
    compared = ComparisonEvidence(
        quantity="change of F over a pair of points, per distance", measured=worst[1], relation="<=",
        predicted=worst[2], tolerance=1e-6 * max(1.0, worst[2]),
    )  # fmt: skip
    return Measurement((compared,))


@check("lipschitz-solution/from-smoothness", instances=(*REGULAR, "weakly-active"), sure=1)
def follows(case: Case) -> Measurement:
    """Slopes of the exact solution map against the finite constant that the rows and g alone give.

    The subject has no part in it: the step is about the paper's argument.
    """
    problem = _feasible(case)
    largest = largest_sensitivity(problem)
    slopes = []
    for x, x_other in _pairs(case):
        y, y_other = (exact_lower_level.solve(problem, tuple(z.tolist())).y_star for z in (x, x_other))
        apart = np.array([float(a - b) for a, b in zip(y, y_other, strict=True)])
        slopes.append(float(np.linalg.norm(apart)) / float(np.linalg.norm(x - x_other)))
    compared = ComparisonEvidence(
        quantity="steepest change of the exact y* over a pair of points", measured=max(slopes), relation="<=",
        predicted=largest, tolerance=1e-9 * max(1.0, largest), context={"pairs": float(len(slopes))},
    )  # fmt: skip
    return Measurement((compared,))


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
        finding = f"{count} row sets would have to be tried for L_y, more than {MOST_ROW_SETS}"
        raise PremiseUnmetError(PremiseEvidence(premise="enumerable", holds=False, finding=finding))
    for size in range(1, largest + 1):
        yield from (list(rows) for rows in combinations(range(problem.p), size))


def _feasible(case: Case) -> Quadratic:
    problem = quadratic_of(case.instance.problem)
    try:
        exact_lower_level.solve(problem, case.instance.x)
    except InvalidInputError as error:
        raise PremiseUnmetError(PremiseEvidence(premise="feasible", holds=False, finding=str(error))) from None
    return problem


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


def _changes(case: Case) -> Iterator[tuple[float, Vector]]:
    for x, x_other in _pairs(case):
        y, y_other = (case.stages.lower_level(case.instance.problem, z)[0] for z in (x, x_other))
        yield float(np.linalg.norm(x - x_other)), y - y_other


def _distance_from_exact(case: Case) -> float:
    """Largest relative error of (y*, λ*) over the instance's point and points around it.

    Where the active rows are dependent the multipliers are not unique, and only y* is compared.
    """
    problem, worst = quadratic_of(case.instance.problem), 0.0
    points = [case.x, *(x for x, _ in islice(_pairs(case), COMPARED_POINTS))]
    for x in points:
        exact = exact_lower_level.solve(problem, tuple(x.tolist()))
        y_star, lam = (np.array([float(value) for value in values]) for values in (exact.y_star, exact.lam))
        y_found, lam_found = case.stages.lower_level(case.instance.problem, x)
        worst = max(worst, float(np.linalg.norm(y_found - y_star)) / (1 + float(np.linalg.norm(y_star))))
        if exact.licq:
            worst = max(worst, float(np.linalg.norm(lam_found - lam)) / (1 + float(np.linalg.norm(lam))))
    return worst


def _f(problem: Quadratic, x: Vector, y: Vector) -> float:
    a = problem.arrays
    quadratic = 0.5 * x @ a.f_xx @ x + x @ a.f_xy @ y + 0.5 * y @ a.f_yy @ y
    return float(quadratic + a.f_x @ x + a.f_y @ y)
