"""Assumption "Global Lipschitz continuity of LL solution", and what follows from the first assumption."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from spec import InvalidInputError
from verify.checks.bias_bound import REGULAR
from verify.evidence import ComparisonEvidence, PremiseEvidence
from verify.exact import lower_level as exact_lower_level
from verify.geometry import quadratic_of, spectral_norm
from verify.registry import Case, Measurement, check
from verify.truth import PremiseUnmetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spec import Quadratic
    from verify.subjects.protocol import Vector

PAIRS = 60
REACH = (1e-3, 0.1, 1.0, 3.0)
"""Distances between the two points of a pair, in units of x."""
MAX_ROWS = 12
"""Rows up to which all row sets are enumerated (4096 of them)."""
SINGULAR = 1e-9
FEW_ROW_SETS = 4096


@check("lipschitz-solution", instances=(*REGULAR, "weakly-active", "licq-fails", "infeasible"), needs=("lower_level",))
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
        quantity="distance of the subject's y* from the exact one",
        measured=_distance_from_exact(case), relation="<=", predicted=0.0, tolerance=1e-6,
    )  # fmt: skip
    return Measurement((compared, accurate))


@check("lipschitz-solution/lipschitz-F", instances=REGULAR, needs=("lower_level",))
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


@check("lipschitz-solution/from-smoothness", instances=(*REGULAR, "weakly-active"))
def follows(case: Case) -> Measurement:
    """The sensitivity of every independent row set is finite, so a finite Lipschitz constant exists."""
    problem = _feasible(case)
    largest = largest_sensitivity(problem)
    bound = 1 / np.finfo(np.float64).eps
    compared = ComparisonEvidence(
        quantity="largest sensitivity of y* over all independent row sets", measured=largest, relation="<=",
        predicted=bound,
    )  # fmt: skip
    return Measurement((compared,))


def largest_sensitivity(problem: Quadratic) -> float:
    """L_y = max over independent row sets S of ‖dy*/dx‖ with the rows S held as equations.

    y* is piecewise affine in x for affine rows, each piece belonging to one such set, so this bounds its
    Lipschitz constant. Above 12 rows only sets of at most the sizes that fit in 4096 are enumerated by taking
    each row's pair partners; the box keeps at most one row a coordinate.
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
    seen = 0
    for size in range(1, min(problem.m, problem.p) + 1):
        for rows in combinations(range(problem.p), size):
            seen += 1
            if problem.p > MAX_ROWS and seen > FEW_ROW_SETS:
                return
            yield list(rows)


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
    exact = exact_lower_level.solve(quadratic_of(case.instance.problem), case.instance.x)
    y_star = np.array([float(value) for value in exact.y_star])
    return float(np.linalg.norm(case.stages.lower_level(case.instance.problem, case.x)[0] - y_star))


def _f(problem: Quadratic, x: Vector, y: Vector) -> float:
    a = problem.arrays
    quadratic = 0.5 * x @ a.f_xx @ x + x @ a.f_xy @ y + 0.5 * y @ a.f_yy @ y
    return float(quadratic + a.f_x @ x + a.f_y @ y)
