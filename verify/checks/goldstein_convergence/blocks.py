"""Where the convergence theorem's points lie: blocks and their means, the Goldstein ball, the set X, and kinks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from spec import OuterParameters, Quadratic, parse_problem
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.outer_runs import Recorded, record
from verify.evidence.model import Point
from verify.evidence.sweeps import fit_rate
from verify.truth.geometry import quadratic_of
from verify.truth.goldstein import distance as goldstein
from verify.truth.goldstein.estimate import Pieces

KINKED = ("experiment-1d", "crossing-kinks", "kink", "absolute-fixed")
STRAIGHT = OuterParameters(goldstein_radius=0.4, epsilon=0.1, D=0.02, eta=1.0, M=20, K=12)
"""Steps at full length: blocks as long as they can be."""
TOLERANCE = 1e-6
"""Gap of the certified distances."""


def _exact_run(case: Case, schedule: OuterParameters, start: Vector | None = None) -> Recorded:
    """A run on the instance's true gradients, by default from a point near its kinks."""
    gradient = Pieces(quadratic_of(case.instance.problem)).gradient
    return record(case, gradient, case.x if start is None else start, schedule)


def _reach(case: Case) -> float:
    """Largest distance of a query point from its block's mean, as asserted: MD as written, (M + 1)D/2 repaired."""
    M, D = STRAIGHT.M, STRAIGHT.D
    return M * D if case.as_written else (M + 1) * D / 2


@check("goldstein-convergence/block-radius", instances=KINKED, needs=("optimise",), sure=2)
def block_radius(case: Case) -> Measurement:
    """Largest distance of a query point from its block's mean, on straight runs and beside kinks."""
    recorded, bound = _exact_run(case, STRAIGHT), _reach(case)
    blocks = recorded.blocks(recorded.z)
    worst = float(np.linalg.norm(blocks - recorded.run.x_bar[:, None], axis=2).max())
    context: dict[str, float | str] = {"M": float(STRAIGHT.M), "D": STRAIGHT.D}
    within = compare("largest ‖z - x_k‖", worst, "<=", bound, 1e-12, context=context)
    off = float(np.abs(blocks.mean(axis=1) - recorded.run.x_bar).max())
    centred = compare("largest difference of x_k from the mean of its queried points", off, "==", 0.0, 1e-9)
    return Measurement((within, centred), {"largest ‖z - x_k‖": worst, "bound": bound})


@check("goldstein-convergence/membership", instances=KINKED[:3], needs=("optimise",), sure=1)
def membership(case: Case) -> Measurement:
    """Certified distance of a block's mean gradient from the subdifferential at the block's mean, worst block."""
    recorded, radius = _exact_run(case, STRAIGHT.model_copy(update={"K": 6})), _reach(case)
    problem = quadratic_of(case.instance.problem)
    gradients = np.array([Pieces(problem).gradient(z) for z in recorded.z])
    means = recorded.blocks(gradients).mean(axis=1)
    worst = max(_distance_of(problem, mean, x, radius) for mean, x in zip(means, recorded.run.x_bar, strict=True))
    quantity, context = "largest distance of a block's mean gradient from ∂_δF(x_k)", {"radius": radius}
    apart = compare(quantity, worst, "==", 0.0, TOLERANCE, context=context, rung="certified")
    return Measurement((apart,), {"largest distance": worst, "radius": radius})


def _distance_of(problem: Quadratic, v: Vector, x: Vector, radius: float) -> float:
    """Certified lower bound of dist(v, ∂_δF(x)): that of 0 once the linear function ⟨v, .⟩ is taken off F."""
    data = problem.to_dict()
    slope = data.get("f", {}).get("x", [0] * problem.n)
    tilted = [str(Fraction(value) - Fraction(float(w))) for value, w in zip(slope, v, strict=True)]
    without = quadratic_of(parse_problem({**data, "f": {**data.get("f", {}), "x": tilted}}))
    return goldstein.distance(without, x.tolist(), radius * (1 + 1e-12), tolerance=TOLERANCE).lower


@check("goldstein-convergence/normal-cone", instances=("toy1", "absolute-fixed"), needs=("optimise",), sure=1)
def normal_cone(case: Case) -> Measurement:
    """As written, iterates on X = [0, 1]^n, as far outside as they get; repaired, whether any X cuts a step."""
    recorded = _exact_run(case, STRAIGHT, np.clip(case.x, 0.25, 0.75))
    if not case.as_written:
        return _every_step_in_full(recorded)
    outside = recorded.run.path - np.clip(recorded.run.path, 0.0, 1.0)
    worst = float(np.linalg.norm(outside, axis=1).max())
    left = compare("largest distance of an iterate from X", worst, "==", 0.0, context={"X": "[0, 1]^n"})
    values: dict[str, float | str] = {"largest distance from X": worst, **_beside_the_end(case)}
    return Measurement((left,), values, "Nothing in the algorithm refers to X; from the inside it walks out of it.")


def _every_step_in_full(recorded: Recorded) -> Measurement:
    """On X = R^n the normal cone is 0 and nothing may hold an iterate back: steps against the clipped recursion."""
    D, eta = STRAIGHT.D, STRAIGHT.eta
    v = recorded.steps[:-1] - eta * recorded.g[:-1]
    lengths = np.maximum(np.linalg.norm(v, axis=1, keepdims=True), D)
    worst = float(np.abs(recorded.steps[1:] - D * v / lengths).max())
    cut = compare("largest part of a step that was not taken", worst, "==", 0.0, 1e-12, context={"X": "R^n"})
    return Measurement((cut,), {"largest part of a step not taken": worst})


def _beside_the_end(case: Case) -> dict[str, float | str]:
    """The same point judged with and without the normal cone: F = x on [0, 1] is least at 0."""
    problem = quadratic_of(case.instance.problem)
    if problem.n > 1:
        return {}
    box = ([Fraction(1, 2)], [Fraction(1)])
    coned, free = (goldstein.distance(problem, [Fraction(1, 2)], Fraction(1, 10), box=X).upper for X in (box, None))
    return {"distance at the lower end with the normal cone": coned, "without it": free}


@check("goldstein-convergence/bias-hypothesis", instances=("kink", "experiment-1d"),
       needs=("optimise", "hypergradient"), sure=1)  # fmt: skip
def at_kinks(case: Case) -> Measurement:
    """Long-run distance with Algorithm 1 as the oracle, beside a kink at which F is least."""
    kink = Fraction(case.instance.known["kink"])
    lam_width = Fraction(case.call(0.1).parameters.lam_width)
    points = []
    for alpha in case.profile.sample_alphas[:4]:
        transition = Fraction(alpha) ** 2 * lam_width
        radius = transition / 2 if case.as_written else Fraction(alpha)
        points.append(Point(at=alpha, measured=_settles_at(case, alpha, kink, transition, radius)))
    rate = fit_rate(points, quantity="distance in the long run", variable="alpha")
    size = "α²ε_λ/2" if case.as_written else "α"
    note = (
        f"The oracle's mean crosses 0 where the multiplier is α²ε_λ, off the kink at x = {kink}; with δ = {size} the "
        f"ball {'does not reach' if case.as_written else 'reaches'} the kink from there."
    )
    return Measurement((rate,), values_at("distance at α", points), note)


def _settles_at(case: Case, alpha: float, kink: Fraction, transition: Fraction, radius: Fraction) -> float:
    """Mean certified distance over the second half of the blocks, started two transition widths from the kink."""
    problem, call = case.instance.problem, case.call(alpha)
    M, K = 10, 24
    walk = float(min(transition, radius))
    schedule = OuterParameters(goldstein_radius=walk, epsilon=0.1, D=walk / M, eta=4 * walk / M, M=M, K=K)
    start = np.array([float(kink + 2 * transition)])
    recorded = record(case, lambda z: case.stages.hypergradient(problem, z, call), start, schedule)
    later = recorded.run.x_bar[K // 2 :]
    return float(np.mean([goldstein.distance(quadratic_of(problem), x.tolist(), radius).upper for x in later]))
