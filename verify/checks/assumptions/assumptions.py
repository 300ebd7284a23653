"""Assumptions on the problem: "Smoothness and Strong Convexity", "Global Lipschitz continuity of LL solution".

Does an instance, or any instance, satisfy them, and does the second follow from the first?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from f2csa_ref.objectives import objectives_of
from spec import Generated, InvalidInputError, Quadratic
from spec.atlas import experiment
from spec.exact import Vector
from verify.checks.assumptions.compact_domain import SIDE, around, is_compact, is_everywhere, settled
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.premises import REGULAR, feasible, regular_truth
from verify.evidence.model import ComparisonEvidence, Counterexample, Point, PremiseEvidence, Relation
from verify.evidence.rates.rates import fit_rate
from verify.subjects.stated_accuracy import solved_to
from verify.truth.formulas import as_float
from verify.truth.geometry import quadratic_of, spectral_norm
from verify.truth.lower_level import lower_level as exact_lower_level

REPAIRED_DRAWS = 10
"""Draws of the repaired family in each dimension."""
PAIRS = 200
"""Random pairs of points for a Lipschitz or monotonicity ratio; the extreme direction is tried besides."""
RATIO_ROUNDING = 1e-9
RADII = tuple(2.0**k for k in range(2, 12))


@check("smoothness/bounded-gradient", instances=REGULAR, sure=1)
def bounded_gradient(case: Case) -> Measurement:
    """Largest ‖∇g(x, ·)‖ over growing spheres around y*, or as far as a compact Y goes; repaired, over a ball."""
    truth = regular_truth(case.instance)
    G = quadratic_of(case.instance.problem).arrays.g_yy
    values, vectors = np.linalg.eigh(G)
    if not case.as_written:
        reach = RADII[-1] if is_everywhere(case) else 1.0
        steps = [reach * step for step in _directions(case.rng, G)]
        largest = max(float(np.linalg.norm(_grad_y_g(case, truth.y_star + step))) for step in steps)
        bound = float(np.linalg.norm(_grad_y_g(case, truth.y_star))) + float(values[-1])
        name = f"largest ‖∇_yg‖ at distance {reach:g} from y*, against its bound on the unit ball"
        return Measurement((_bounded(name, largest, "<=", bound),))
    if is_compact(case):
        box = around(case, held=True)
        rate = box.growth("g", "largest ‖∇g(x, ·)‖ on the part of a compact Y in a cube")
        near, far = rate.points[0], rate.points[-1]
        finding = (
            f"on the part of a box of half side {float(SIDE):g} around y* in a cube the norm of ∇g grows from "
            f"{near.measured:.3g} at half side {near.at:g} to {far.measured:.3g}, and no further up to {far.at:g}"
        )
        return Measurement((PremiseEvidence(premise="bounded-gradient", holds=settled(rate), finding=finding), rate))
    points = []
    for radius in RADII:
        # Along the least convex direction the gradient grows slowest; even there it is unbounded.
        ends = [_grad_y_g(case, truth.y_star + sign * radius * vectors[:, 0]) for sign in (1.0, -1.0)]
        points.append(Point(at=1 / radius, measured=max(float(np.linalg.norm(end)) for end in ends)))
    rate = fit_rate(points, quantity="sup ‖∇_yg‖ over a sphere", variable="1/radius", role="support")
    grows = rate.interval[1] < 0
    finding = (
        f"with μ_g = {values[0]:.3g} > 0 the norm of ∇_yg grows like radius^{-rate.exponent:.2f} even along the "
        "least convex direction; strong convexity and a gradient bounded on all of R^m exclude each other"
    )
    premise = PremiseEvidence(premise="bounded-gradient", holds=not grows, satisfiable=not grows, finding=finding)
    return Measurement((premise, rate))


@check("smoothness/experiment-data", instances=("experiment-5d",), sure=4)
def experiment_data(case: Case) -> Measurement:
    """Share of the experiment family's draws whose lower level is strongly convex, in dimensions 2 to 5."""
    draws = case.profile.replications // 20
    shares: dict[int, float] = {}
    example: Counterexample | None = None
    first_seed = int(case.rng.integers(2**31))
    for d in (2, 3, 4, 5):
        if case.as_written:
            # Only Q_l matters here: its symmetric part decides, and drawing it alone is fast.
            Q = case.rng.standard_normal((draws, d, d))
            shares[d] = float(np.mean(np.linalg.eigvalsh((Q + np.swapaxes(Q, 1, 2)) / 2)[:, 0] > 0))
        else:
            drawn = [_refusal(experiment(d, seed=first_seed + k)) is None for k in range(REPAIRED_DRAWS)]
            shares[d] = float(np.mean(drawn))
    for seed in range(first_seed, first_seed + 20) if case.as_written else ():
        literal = experiment(3, seed=seed, literal=True)
        refusal = _refusal(literal)
        if refusal:
            example = Counterexample(problem=literal.to_dict(), note=f"Reading this problem says: {refusal}")
            break
    # One draw that fails is a proof; what might be missed is a share of such draws too small to meet.
    count, missed = (draws if case.as_written else REPAIRED_DRAWS), case.share.missed
    evidence = tuple(
        compare(f"share of strongly convex draws, d = {d}", share, "==", 1.0, rung="statistical",
                detectable=1 - missed ** (1 / count), power=1 - missed, samples=count)
        for d, share in shares.items()
    )  # fmt: skip
    values: dict[str, float | str] = {f"share of strongly convex draws at d = {d}": s for d, s in shares.items()}
    return Measurement(evidence, values, "One draw that is not strongly convex is enough.", example)


def _refusal(problem: object) -> str | None:
    assert isinstance(problem, Generated)  # by the family
    try:
        _ = problem.quadratic
    except InvalidInputError as error:
        return str(error)
    return None


def _directions(rng: np.random.Generator, matrix: Vector) -> list[Vector]:
    """Unit directions: random ones and the eigenvectors of the extreme eigenvalues."""
    drawn = rng.standard_normal((PAIRS, len(matrix)))
    vectors = np.linalg.eigh(matrix)[1]
    return [step / np.linalg.norm(step) for step in drawn] + [vectors[:, 0], vectors[:, -1]]


def _grad_y_g(case: Case, y: Vector) -> Vector:
    return np.asarray(objectives_of(case.instance.problem).grad_y_g(case.x, y))


def _bounded(quantity: str, measured: float, relation: Relation, predicted: float) -> ComparisonEvidence:
    """A ratio or norm against its bound, up to rounding."""
    measured, predicted = float(measured), float(predicted)
    return compare(quantity, measured, relation, predicted, RATIO_ROUNDING * max(abs(predicted), abs(measured)))


POINT_PAIRS = 24
REACH = (1e-3, 0.1, 1.0, 3.0)
"""Distances between the two points of a pair, in units of x."""
PAIR_ACCURACY = 1e-8
"""Relative accuracy asked of a lower-level pair: below the δ = α³ that the sweeps spend."""
COMPARED_POINTS = 6


@check("lipschitz-solution", instances=(*REGULAR, "weakly-active", "licq-fails"), needs=("lower_level",), sure=2)
def solution_map(case: Case) -> Measurement:
    """Steepest change of the subject's y* over pairs of points, against the largest sensitivity of any row set."""
    steepest = _steepest(case, "y*", lambda x: case.stages.lower_level(case.instance.problem, x)[0], 1e-6)
    quantity = "distance of the subject's lower-level pairs from the exact ones"
    allowed = solved_to(case.stages.subject, PAIR_ACCURACY)
    return Measurement((steepest, compare(quantity, _distance_from_exact(case), "<=", 0.0, allowed)))


def _steepest(case: Case, name: str, solution: Callable[[Vector], Any], rounding: float) -> ComparisonEvidence:
    largest, slopes = largest_sensitivity(_feasible(case)), []
    stated = solved_to(case.stages.subject, 0.0)
    for x, x_other in _point_pairs(case):
        # Exact values are subtracted as such; either may be off by what the subject declares.
        ends = solution(x), solution(x_other)
        apart = float(np.linalg.norm(np.asarray(np.subtract(*ends), dtype=np.float64)))
        off = stated * sum(1 + float(np.linalg.norm(np.asarray(end, dtype=np.float64))) for end in ends)
        slopes.append((apart - off) / float(np.linalg.norm(x - x_other)))
    quantity, pairs = f"steepest change of {name} over a pair of points", {"pairs": float(len(slopes))}
    return compare(quantity, max(slopes), "<=", largest, rounding * max(1.0, largest), context=pairs)


@check("lipschitz-solution/lipschitz-F", instances=REGULAR, needs=("lower_level",), sure=1)
def objective(case: Case) -> Measurement:
    """Steepest change of F over pairs against L_fx + L_fy L_y, with f's constants over the segment visited."""
    problem = _feasible(case)
    a = problem.arrays
    L_y = largest_sensitivity(problem)
    worst = (-np.inf, 0.0, 0.0)
    for x, x_other in _point_pairs(case):
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


def largest_sensitivity(problem: Quadratic) -> float:
    """L_y = max over independent row sets S of ‖dy*/dx‖ with the rows S held as equations.

    y* is piecewise affine in x for affine rows, each piece belonging to one such set, so this bounds its
    Lipschitz constant.
    """
    return max(spectral_norm(np.array(J, dtype=np.float64)) for J in exact_lower_level.row_set_slopes(problem))


def _feasible(case: Case) -> Quadratic:
    feasible(case.instance)
    return quadratic_of(case.instance.problem)


def _point_pairs(case: Case) -> Iterator[tuple[Vector, Vector]]:
    """Pairs at which a lower-level point exists: the assumption speaks of no others."""
    problem, n = quadratic_of(case.instance.problem), len(case.x)
    for k in range(POINT_PAIRS):
        direction = case.rng.standard_normal(n)
        base = case.x + 0.5 * case.rng.standard_normal(n) * (k > 0)
        other = base + REACH[k % len(REACH)] * direction / np.linalg.norm(direction)
        if _is_feasible(problem, base) and _is_feasible(problem, other):
            yield base, other


def _exact(problem: Quadratic, x: Vector) -> exact_lower_level.ExactLowerLevel:
    return exact_lower_level.solve(problem, tuple(x.tolist()))


def _is_feasible(problem: Quadratic, x: Vector) -> bool:
    try:
        _exact(problem, x)
    except InvalidInputError:
        return False
    return True


def _distance_from_exact(case: Case) -> float:
    """Largest relative error of (y*, λ*) over the instance's point and points around it.

    Where the active rows are dependent the multipliers are not unique, and only y* is compared.
    """
    problem, worst = quadratic_of(case.instance.problem), 0.0
    points = [case.x, *(x for x, _ in islice(_point_pairs(case), COMPARED_POINTS))]
    for x in points:
        exact = _exact(problem, x)
        pair = zip(case.stages.lower_level(case.instance.problem, x), (exact.y_star, exact.lam), strict=True)
        for vector, values in list(pair)[: 2 if exact.licq else 1]:
            at = as_float(values)
            worst = max(worst, float(np.linalg.norm(vector - at)) / (1 + float(np.linalg.norm(at))))
    return worst


def _f(problem: Quadratic, x: Vector, y: Vector) -> float:
    a = problem.arrays
    quadratic = 0.5 * x @ a.f_xx @ x + x @ a.f_xy @ y + 0.5 * y @ a.f_yy @ y
    return float(quadratic + a.f_x @ x + a.f_y @ y)
