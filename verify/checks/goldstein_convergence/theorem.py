"""Theorem "Convergence with Stochastic Hypergradient Oracle": how many steps, with which constants, and where they lie.

Of the places: blocks and their means, the Goldstein ball, and the set X.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from spec import OuterParameters, Quadratic, parse_problem
from spec.exact import Vector
from verify.checks.goldstein_convergence import along_a_kink
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.estimates.second_look import looked_twice
from verify.checks.measuring.formula_evidence import right_side
from verify.checks.measuring.runs.outer_recursion import farthest
from verify.checks.measuring.runs.outer_runs import (
    SIGMA,
    Recorded,
    Target,
    batch,
    record,
    run_many,
    sweep,
    uniform_block,
    uniform_point,
)
from verify.evidence.budget import Share
from verify.evidence.decisions import BoundDecision
from verify.evidence.intervals import median_interval
from verify.evidence.model import ComparisonEvidence, Evidence, Law
from verify.evidence.rates.orders import bent
from verify.evidence.rates.rates import SweepEstimate, fit_power_law
from verify.truth.functions import SyntheticOracle, WeightedAbsolute
from verify.truth.geometry import quadratic_of
from verify.truth.goldstein import distance as goldstein
from verify.truth.goldstein.estimate import Pieces

RUNS = 600
MEDIAN_RUNS = 192
EPSILONS = (1 / 4, 1 / 6, 1 / 10)
SMALL_RADIUS = 0.1
THETA = 4
"""Leading constant of the paper's Θ for T; the text leaves it open."""
RADIUS = 0.5
BIAS = 0.05
"""Bias of the synthetic oracles, along the gradient."""
SCHEDULE = OuterParameters(goldstein_radius=0.5, epsilon=0.1, D=0.05, eta=0.05, M=10, K=20)
"""Of the runs whose segments are looked at."""


def rates(
    estimates: Sequence[SweepEstimate], share: Share, quantity: str, names: Sequence[str], *, bends: bool = True
) -> tuple[Evidence, ...]:
    """Exponents of the asserted variables; too few settings that ended decide nothing."""
    fitted = fit_power_law(estimates, share.single, quantity=quantity, bends=bends) if len(estimates) > 1 else {}
    unfinished = compare(f"share of settings in which {quantity} were reached", 0.0, ">=", 1.0)
    told = [fitted[name] for name in names if name in fitted]
    return tuple(bent(rate) if bends else rate for rate in told) or (unfinished,)


def at_targets(estimates: Sequence[SweepEstimate], of: str = "") -> dict[str, float | str]:
    """The measured values by target, to show."""
    return {f"{of}at ε = {e.at['epsilon']:g}, δ = {e.at['goldstein_radius']:g}": e.value for e in estimates}


@check("goldstein-convergence", instances=("absolute-fixed",), needs=("optimise",), decisions=2, sure=2)
def outer_calls(case: Case) -> Measurement:
    """Calls until the expected distance is ε, on F = 2ε|x₁| + √(1 - 4ε²)|x₂|, a member of this instance's family."""
    return _from_a_kink(case) if case.sense.at_kinks == "any" else looked_twice(case, _outer_calls)


def _outer_calls(case: Case) -> Measurement:
    estimates, followed = sweep(case)
    fitted = (*rates(estimates, case.share, "outer calls", ("epsilon", "goldstein_radius")), followed)
    note = f"F = 2ε|x₁| + √(1-4ε²)|x₂| from (1/(2ε), 0), N_g = {batch(case, 0.1)} at ε = 0.1."
    return Measurement(fitted, at_targets(estimates, "calls "), note)


@check("goldstein-convergence/explicit-constants", instances=("absolute-fixed",), needs=("optimise",), decisions=3,
       sure=1)  # fmt: skip
def expected_distance(case: Case) -> Measurement:
    """Expected distance of the output at the asserted schedule, with an oracle of stated bias and variance."""
    if case.sense.at_kinks == "any":
        return _from_a_kink(case)
    return _stated_orders(case) if case.as_written else _stated_constants(case)


def _from_a_kink(case: Case) -> Measurement:
    """Distance of the output where the oracle answers 0 wherever F has no gradient, and the run starts there."""
    quantity = "distance of the output from stationarity at the stated T, started at (0,5)"
    by_epsilon = along_a_kink.left_by_runs(case, EPSILONS, SMALL_RADIUS)
    left = {epsilon: one.distance for epsilon, one in by_epsilon.items()}
    return _at_the_largest(quantity, left, EPSILONS[0] * (1 + 2 * BIAS))


def _at_the_largest(quantity: str, left: Mapping[float, float], allowed: float) -> Measurement:
    epsilon = max(left)
    context: dict[str, float | str] = {"epsilon": epsilon, "oracle on the axis": "0"}
    evidence = compare(f"{quantity}, at the largest ε", left[epsilon], "<=", allowed, context=context, rung="certified")
    note = "F = |x₁| + 2|x₂|: where F has no gradient the oracle answers 0, and the method never moves."
    return Measurement((evidence,), {f"distance at ε = {at:g}": value for at, value in left.items()}, note)


def _stated_constants(case: Case) -> Measurement:
    epsilon, variance = 0.5, 1.0
    function = WeightedAbsolute((0.8, 0.6))
    schedule = OuterParameters.repaired(
        goldstein_radius=RADIUS, epsilon=epsilon, lipschitz_F=1.0, gap=1.0, bias=BIAS, variance=variance
    )
    starts = np.tile([1.0 / function.c[0], 0.0], (case.share.times(RUNS), 1))
    distances, followed = _given_run(case, SyntheticOracle(function, BIAS, variance, case.rng), starts, schedule)
    mean, bound = float(distances.mean()), epsilon + 2 * BIAS
    compared = BoundDecision(
        "expected distance at T = KM", case.share, predicted=bound, wanted=bound / 2,
        context={"epsilon": epsilon, "bias": BIAS, "variance": variance, "N_g": "1"},
    ).mean(distances, function.lipschitz)  # fmt: skip
    # The expectation is over the output's block too, which the subject draws.
    return Measurement((compared, uniform_block(case), followed), {"expected distance": mean, "ε + 2β": bound})


def _stated_orders(case: Case) -> Measurement:
    share, name = case.share.part(2 * len(EPSILONS)), "expected distance at the stated T, α = ε"
    estimates, compared, followed = [], [], []
    for epsilon in EPSILONS:
        target = Target(epsilon, SMALL_RADIUS)
        schedule = OuterParameters.paper(goldstein_radius=SMALL_RADIUS, epsilon=epsilon, lipschitz_F=1.0, gap=1.0)
        schedule = schedule.model_copy(update={"K": THETA * schedule.K})
        oracle = SyntheticOracle(target.function, BIAS * epsilon, SIGMA**2 / batch(case, epsilon), case.rng)
        runs = case.share.times(MEDIAN_RUNS)
        distances, follows = _given_run(case, oracle, np.tile(target.start, (runs, 1)), schedule)
        followed.append(follows)
        low, high = median_interval(distances, share.single.error)
        # The way in ends within some block.
        half = epsilon / schedule.K
        at, middle = {"epsilon": epsilon}, float(np.median(distances))
        law: Law = "exponent (order statistics)"
        estimates.append(SweepEstimate(at, middle, None, low - half, high + half, runs, law=law))
        # ε + C α with α = ε; C is twice the oracles' own bias constant, the text leaves it open.
        decision = BoundDecision(
            name, share, predicted=epsilon + 2 * BIAS * epsilon, wanted=epsilon / 2, slack=half,
            context={"epsilon": epsilon, "bias": BIAS * epsilon, "leading constant of T": float(THETA)},
        )  # fmt: skip
        compared.append(decision.median(distances))
    quantity = f"{name}, of the median run"
    rate = bent(fit_power_law(estimates, case.share.single, quantity=quantity, role="support")["epsilon"])
    worst = max(compared, key=lambda item: item.measured / item.predicted)
    # All were looked at: the one shown has spent the error of each.
    shown = worst.model_copy(update={"error_rate": case.share.error / 2})
    return Measurement((shown, rate, farthest(followed)), {f"at ε = {e.at['epsilon']:g}": e.value for e in estimates})


def _given_run(
    case: Case, oracle: SyntheticOracle, starts: Vector, schedule: OuterParameters
) -> tuple[Vector, ComparisonEvidence]:
    """Expected distance of the random output given each run, shape (runs,): the mean over its blocks.

    And whether the runs followed their answers.
    """
    x_bar, followed = run_many(case, oracle, starts, schedule, case.rng)
    return np.asarray(oracle.function.distance(x_bar, schedule.goldstein_radius).mean(axis=0)), followed


@check("goldstein-convergence/segment-mean", instances=("absolute-fixed", "absolute-moving"), needs=("optimise",),
       decisions=1, sure=3)  # fmt: skip
def segment_mean(case: Case) -> Measurement:
    """F along a segment against the mean of the oracle's gradients on it, on and off a kink."""
    if case.as_written and case.sense.at_kinks != "exists":
        return _along_a_kink(case)
    function = along_a_kink.FUNCTION
    recorded = record(case, function.gradient, np.array([0.7, -0.4]) + 1e-3 * case.rng.random(2), SCHEDULE)
    path = recorded.run.path
    worst = max(abs(_change(function, a, b) - _mean_inner(function, a, b)) for a, b in pairwise(path))
    sides = compare("largest difference of the two sides over the segments of a run", worst, "==", 0.0, 1e-12)
    return Measurement((sides, uniform_point(case), recorded.followed))


def _along_a_kink(case: Case) -> Measurement:
    """On the axis x₁ = 0 an oracle may answer 0: F = |x₁| + 2|x₂| falls by 2 a unit of length, its answers are 0.

    Where it answers from Clarke's subdifferential, F = the waves, which do not change along the axis: its answers do.
    """
    off = abs(float(along_a_kink.fall_beyond_answers(case)))
    if case.sense.at_kinks == "clarke":
        recorded = record(case, along_a_kink.clarke_on_waves, along_a_kink.FROM, SCHEDULE)
        quantity = "F(0,4) - F(0,5) less the mean of ⟨g(z), (0,-1)⟩, g(z) from ∂F(z)"
        compared = compare(quantity, off, "==", 0.0, rung="certified")
        note = (
            "Of another F than this problem's: it is Lipschitz, 0 on the axis, and of slope ±1 however near beside it."
        )
        values: dict[str, float | str] = {"F(x₁, x₂)": along_a_kink.WAVES.formula, "g on the axis": "(0, 1)"}
        return Measurement((compared, recorded.followed), values, note)
    run = case.stages.optimise(along_a_kink.oracle(case), along_a_kink.FROM, SCHEDULE, case.rng)
    stuck = float(along_a_kink.FUNCTION.distance(run.x_out, SCHEDULE.goldstein_radius))
    quantity = "F(0,4) - F(0,5) less the mean of ⟨oracle(z), (0,-1)⟩"
    answer: dict[str, float | str] = {"oracle on the axis": "0"}
    compared = compare(quantity, off, "==", 0.0, context=answer, rung="certified")
    quantity = "distance of the output from stationarity, started at (0,5)"
    ends = compare(quantity, stuck, "<=", SCHEDULE.epsilon, role="support")
    note = "F = |x₁| + 2|x₂|: where F has no gradient the oracle answers 0, the method never moves, and F′ is 2 there."
    told: dict[str, float | str] = {"distance of the output": stuck, "x_out": str(run.x_out.tolist())}
    return Measurement((compared, ends), told, note)


def _change(function: WeightedAbsolute, a: Vector, b: Vector) -> float:
    return float(function.value(b) - function.value(a))


def _mean_inner(function: WeightedAbsolute, a: Vector, b: Vector) -> float:
    """Mean of ⟨∇F, b - a⟩ over the segment, between the axes it crosses."""
    step = b - a
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = -a / step
    cuts = np.unique(np.concatenate([[0.0, 1.0], crossings[(crossings > 0) & (crossings < 1)]]))
    middles = a + 0.5 * (cuts[1:] + cuts[:-1])[:, None] * step
    return float(np.diff(cuts) @ (function.gradient(middles) @ step))


KINKED = ("experiment-1d", "crossing-kinks", "kink", "absolute-fixed")
STRAIGHT = OuterParameters(goldstein_radius=0.4, epsilon=0.1, D=0.02, eta=1.0, M=20, K=12)
"""Steps at full length: blocks as long as they can be."""
REACH = "goldstein-convergence/block-radius"
"""What says how far a query point may be from its block's mean."""
TOLERANCE = 1e-6
"""Gap of the certified distances."""


def _exact_run(case: Case, schedule: OuterParameters, start: Vector | None = None) -> Recorded:
    """A run on the instance's true gradients, by default from a point near its kinks."""
    gradient = Pieces(quadratic_of(case.instance.problem)).gradient
    return record(case, gradient, case.x if start is None else start, schedule)


@check("goldstein-convergence/block-radius", instances=KINKED, needs=("optimise",), sure=3)
def block_radius(case: Case) -> Measurement:
    """Largest distance of a query point from its block's mean, on straight runs and beside kinks."""
    recorded, bound = _exact_run(case, STRAIGHT), right_side(REACH, case, M=STRAIGHT.M, D=STRAIGHT.D)
    blocks = recorded.blocks(recorded.z)
    worst = float(np.linalg.norm(blocks - recorded.run.x_bar[:, None], axis=2).max())
    context: dict[str, float | str] = {"M": float(STRAIGHT.M), "D": STRAIGHT.D}
    within = compare("largest ‖z - x_k‖", worst, "<=", bound, 1e-12, context=context)
    off = float(np.abs(blocks.mean(axis=1) - recorded.run.x_bar).max())
    centred = compare("largest difference of x_k from the mean of its queried points", off, "==", 0.0, 1e-9)
    return Measurement((within, centred, recorded.followed), {"largest ‖z - x_k‖": worst, "bound": bound})


@check("goldstein-convergence/membership", instances=KINKED[:3], needs=("optimise",), sure=2)
def membership(case: Case) -> Measurement:
    """Certified distance of a block's mean gradient from the subdifferential at the block's mean, worst block."""
    if case.sense.at_kinks == "any":
        quantity = "distance of a block's mean answer, 0, from ∂_δF(x_k), started at (0,5)"
        by_epsilon = along_a_kink.left_by_runs(case, EPSILONS, SMALL_RADIUS)
        return _at_the_largest(quantity, {at: one.outside for at, one in by_epsilon.items()}, 0.0)
    recorded, radius = (
        _exact_run(case, STRAIGHT.model_copy(update={"K": 6})),
        right_side(REACH, case, M=STRAIGHT.M, D=STRAIGHT.D),
    )
    problem = quadratic_of(case.instance.problem)
    gradients = np.array([Pieces(problem).gradient(z) for z in recorded.z])
    means = recorded.blocks(gradients).mean(axis=1)
    worst = max(_distance_of(problem, mean, x, radius) for mean, x in zip(means, recorded.run.x_bar, strict=True))
    quantity, context = "largest distance of a block's mean gradient from ∂_δF(x_k)", {"radius": radius}
    apart = compare(quantity, worst, "==", 0.0, TOLERANCE, context=context, rung="certified")
    return Measurement((apart, recorded.followed), {"largest distance": worst, "radius": radius})


def _distance_of(problem: Quadratic, v: Vector, x: Vector, radius: float) -> float:
    """Certified lower bound of dist(v, ∂_δF(x)): that of 0 once the linear function ⟨v, .⟩ is taken off F."""
    data = problem.to_dict()
    slope = data.get("f", {}).get("x", [0] * problem.n)
    tilted = [str(Fraction(value) - Fraction(float(w))) for value, w in zip(slope, v, strict=True)]
    without = quadratic_of(parse_problem({**data, "f": {**data.get("f", {}), "x": tilted}}))
    return goldstein.distance(without, x.tolist(), radius * (1 + 1e-12), tolerance=TOLERANCE).lower


REALS = (-sys.float_info.max, sys.float_info.max)
"""Every number that is one: an iterate beyond is none."""


@check("goldstein-convergence/normal-cone", instances=("toy1", "absolute-fixed"), needs=("optimise",), sure=2)
def normal_cone(case: Case) -> Measurement:
    """As written, iterates on X = [0, 1]^n, or R^n, as far outside as they get; repaired, whether any X cuts a step."""
    recorded = _exact_run(case, STRAIGHT, np.clip(case.x, 0.25, 0.75))
    if not case.as_written:
        return _every_step_in_full(recorded)
    low, high, named = (0.0, 1.0, "[0, 1]^n") if case.sense.upper_set == "convex" else (*REALS, "R^n")
    outside = recorded.run.path - np.clip(recorded.run.path, low, high)
    worst = float(np.linalg.norm(outside, axis=1).max())
    left = compare("largest distance of an iterate from X", worst, "==", 0.0, context={"X": named})
    values: dict[str, float | str] = {"largest distance from X": worst, **_beside_the_end(case)}
    return Measurement(
        (left, recorded.followed), values, "Nothing in the algorithm refers to X; from the inside it walks out of it."
    )


def _every_step_in_full(recorded: Recorded) -> Measurement:
    """On X = R^n the normal cone is 0 and nothing may hold an iterate back: steps against the clipped recursion."""
    D, eta = STRAIGHT.D, STRAIGHT.eta
    v = recorded.steps[:-1] - eta * recorded.g[:-1]
    lengths = np.maximum(np.linalg.norm(v, axis=1, keepdims=True), D)
    worst = float(np.abs(recorded.steps[1:] - D * v / lengths).max())
    cut = compare("largest part of a step that was not taken", worst, "==", 0.0, 1e-12, context={"X": "R^n"})
    return Measurement((cut, recorded.followed), {"largest part of a step not taken": worst})


def _beside_the_end(case: Case) -> dict[str, float | str]:
    """The same point judged with and without the normal cone: F = x on [0, 1] is least at 0."""
    problem = quadratic_of(case.instance.problem)
    if problem.n > 1:
        return {}
    box = ([Fraction(1, 2)], [Fraction(1)])
    coned, free = (goldstein.distance(problem, [Fraction(1, 2)], Fraction(1, 10), box=X).upper for X in (box, None))
    return {"distance at the lower end with the normal cone": coned, "without it": free}
