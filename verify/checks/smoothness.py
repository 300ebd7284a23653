"""Assumption "Smoothness and Strong Convexity": does an instance, or any instance, satisfy it?"""

from __future__ import annotations

import numpy as np

from f2csa_ref import objectives_of
from spec import Generated, InvalidInputError
from spec.atlas import experiment
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.premises import DEGENERATE, REGULAR, PremiseUnmetError, feasible, regular_truth
from verify.evidence.model import ComparisonEvidence, Counterexample, Point, PremiseEvidence, Relation
from verify.evidence.sweeps import fit_rate
from verify.truth.geometry import quadratic_of, spectral_norm

REPAIRED_DRAWS = 10
"""Draws of the repaired family in each dimension."""
PAIRS = 200
"""Random pairs of points for a Lipschitz or monotonicity ratio; the extreme direction is tried besides."""
RATIO_ROUNDING = 1e-9
RADII = tuple(2.0**k for k in range(2, 12))


@check("smoothness/f-smooth", instances=REGULAR, sure=1)
def f_smooth(case: Case) -> Measurement:
    """‖∇f(z) - ∇f(z')‖ / ‖z - z'‖ over random pairs and along the top eigenvector, against C_f."""
    a = quadratic_of(case.instance.problem).arrays
    hessian = np.block([[a.f_xx, a.f_xy], [a.f_xy.T, a.f_yy]])
    steps = _directions(case.rng, hessian)
    ratio = max(float(np.linalg.norm(_grad_f(case, step) - _grad_f(case, 0 * step))) for step in steps)
    quantity = "largest ‖∇f(z) - ∇f(z')‖ / ‖z - z'‖ against C_f"
    return Measurement((_bounded(quantity, ratio, "<=", spectral_norm(hessian)),))


@check("smoothness/strong-convexity", instances=REGULAR, sure=2)
def strong_convexity(case: Case) -> Measurement:
    """⟨∇g(y) - ∇g(y'), y - y'⟩ / ‖y - y'‖² over random pairs and along the bottom eigenvector, against μ_g > 0."""
    G = quadratic_of(case.instance.problem).arrays.g_yy
    values, vectors = np.linalg.eigh(G)
    steps = [*_directions(case.rng, G), vectors[:, 0]]
    ratio = min(float(step @ (_grad_y_g(case, step) - _grad_y_g(case, 0 * step))) for step in steps)
    positive = _bounded("μ_g", float(values[0]), ">=", np.finfo(np.float64).tiny)
    return Measurement((_bounded("smallest monotonicity ratio of ∇_yg against μ_g", ratio, ">=", values[0]), positive))


@check("smoothness/bounded-gradient", instances=REGULAR, sure=1)
def bounded_gradient(case: Case) -> Measurement:
    """Largest ‖∇_y g‖ over spheres of growing radius around y*; repaired, over one ball."""
    truth = regular_truth(case.instance)
    G = quadratic_of(case.instance.problem).arrays.g_yy
    values, vectors = np.linalg.eigh(G)
    if not case.as_written:
        radius = 1.0
        steps = [radius * step for step in _directions(case.rng, G)]
        largest = max(float(np.linalg.norm(_grad_y_g(case, truth.y_star + step))) for step in steps)
        bound = float(np.linalg.norm(_grad_y_g(case, truth.y_star))) + radius * float(values[-1])
        return Measurement((_bounded("sup ‖∇_yg‖ over the unit ball around y*", largest, "<=", bound),))
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


@check("smoothness/licq", instances=(*REGULAR, *DEGENERATE))
def licq(case: Case) -> Measurement:
    """Rank of the active rows of B against their number, exactly."""
    lower = feasible(case.instance)
    active = len(lower.active)
    if not lower.licq:
        rank = f"{active} rows are active and their rank is {lower.licq_rank}"
        raise PremiseUnmetError("licq", f"{rank}: this instance is outside the assumption")
    return Measurement((compare("rank of the active rows", lower.licq_rank, "==", active),))


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


def _grad_f(case: Case, z: Vector) -> Vector:
    objectives = objectives_of(case.instance.problem)
    x, y = z[: objectives.n], z[objectives.n :]
    return np.concatenate([objectives.grad_x_f(x, y), objectives.grad_y_f(x, y)])


def _grad_y_g(case: Case, y: Vector) -> Vector:
    return np.asarray(objectives_of(case.instance.problem).grad_y_g(case.x, y))


def _bounded(quantity: str, measured: float, relation: Relation, predicted: float) -> ComparisonEvidence:
    """A ratio or norm against its bound, up to rounding."""
    measured, predicted = float(measured), float(predicted)
    return compare(quantity, measured, relation, predicted, RATIO_ROUNDING * max(abs(predicted), abs(measured)))
