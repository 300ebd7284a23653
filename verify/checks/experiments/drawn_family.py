"""What the experiments' sampling of problems gives: its curvatures, and which readings its runs could tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from spec import REPAIRED, Noise, Quadratic
from spec.atlas import experiment
from spec.blocks.noise import NoisyGradient
from spec.exact import FloatArray
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.evidence.model import Relation
from verify.truth.algebra.numbers import Real, add, double, times
from verify.truth.functions_of_alpha.noise import Pairing, variance
from verify.truth.geometry import quadratic_of
from verify.truth.stages import ExactSetting, evaluate

DIMENSION = 50
DRAWS, CONSTRUCTED = 200, 4
"""Draws of independent entries, and of the construction, which take longer to make."""
ALPHAS = (Fraction(1, 5), Fraction(1, 10), Fraction(1, 20))
SIGMA = Fraction(1, 100)
ON: dict[str, tuple[NoisyGradient, ...]] = {"matrices": ("f.x", "f.y", "g.y"), "all": ("f.x", "f.y", "g.x", "g.y")}
"""Gradients that the noise reaches, by the reading: ∇_x g = y has none unless xᵀy has."""
PAIRINGS: tuple[Pairing, Pairing] = ("independent", "common")


def _smallest_curvatures(case: Case, letter: str) -> FloatArray:
    """Of Q_l (``l``) or Q_u (``u``) in each draw, at the dimension of the figure."""
    rng = case.fresh_rng()
    if case.as_written:
        drawn = rng.standard_normal((DRAWS, DIMENSION, DIMENSION))
        matrices = (drawn + np.swapaxes(drawn, 1, 2)) / 2
    else:
        seeds = rng.integers(2**31, size=CONSTRUCTED).tolist()
        arrays = [quadratic_of(experiment(DIMENSION, seed=seed)).arrays for seed in seeds]
        matrices = np.array([q.g_yy if letter == "l" else q.f_xx for q in arrays])
    return np.asarray(np.linalg.eigvalsh(matrices)[:, 0], dtype=np.float64)


def _share(case: Case, letter: str, what: str) -> Measurement:
    """The share of draws with positive curvature; of independent entries also a bound of its probability."""
    curvatures, missed = _smallest_curvatures(case, letter), case.share.missed
    count = len(curvatures)
    share = compare(
        f"share of draws at d = {DIMENSION} {what}", float(np.mean(curvatures > 0)), "==", 1.0, rung="statistical",
        detectable=1 - missed ** (1 / count), power=1 - missed, samples=count,
    )  # fmt: skip
    values: dict[str, float | str] = {"smallest curvature met": float(curvatures.min())}
    if not case.as_written:
        return Measurement((share,), values)
    # Each entry on the diagonal is as often negative as positive, whatever the others are.
    bound = compare(
        f"probability that all {DIMENSION} entries on the diagonal are positive, as they must be,",
        0.5**DIMENSION, "==", 1.0, rung="symbolic",
    )  # fmt: skip
    return Measurement((share, bound), values, "A negative entry on the diagonal is a direction of negative curvature.")


@check("convergence-experiment/data", instances=("experiment-5d",), sure=2)
def strongly_convex_draws(case: Case) -> Measurement:
    """Share of draws at the figure's dimension whose Q_l is positive definite."""
    return _share(case, "l", "with positive definite Q_l")


@check("convergence-experiment/bounded-below", instances=("experiment-5d",), sure=2)
def bounded_draws(case: Case) -> Measurement:
    """Share of draws with F bounded below: y* stays in the box, so far out ½xᵀQ_u x decides, by its sign alone."""
    return _share(case, "u", "with F bounded below")


@check("convergence-experiment/tests-the-bounds", instances=("experiment-1d", "experiment-5d"))
def told_apart(case: Case) -> Measurement:
    """How many of the two choices change the estimate or its variance on this family, exactly."""
    on = ON[case.sense.noisy_terms]
    dual, pairing = readings_apart(quadratic_of(case.instance.problem), case.instance.x, on)
    apart = float((dual > 0) + (pairing > 0))
    relation: Relation = ">=" if case.as_written else "=="
    wanted = 1.0 if case.as_written else 0.0
    values: dict[str, float | str] = {
        "largest difference of estimates, dual term frozen or cancelled": dual,
        "largest difference of variances, draws independent or common": pairing,
    }
    quantity = "choices, of dual term and pairing, that runs on this family tell apart"
    return Measurement((compare(quantity, apart, relation, wanted, rung="certified"),), values)


def readings_apart(problem: Quadratic, x: Sequence[Fraction], on: tuple[NoisyGradient, ...]) -> tuple[float, float]:
    """Largest differences between both dual terms' estimates, by component, and between both pairings' variances."""
    noise = Noise(model="matrix", sigma_f=SIGMA, sigma_g=SIGMA, on=on)
    noisy, at = problem.model_copy(update={"noise": noise}), tuple(x)
    dual = pairing = 0.0
    for alpha in ALPHAS:
        cancelled, frozen = (
            evaluate(ExactSetting(problem, at, alpha, REPAIRED.choose(dual_term=term)))
            for term in ("cancelled", "frozen")
        )
        pairs = zip(frozen.hypergradient, cancelled.hypergradient, strict=True)
        dual = max(dual, *(_apart(a, b) for a, b in pairs))
        stages = (cancelled.y_penalty, cancelled.y_star)
        pairing = max(pairing, _apart(*(variance(noisy, at, alpha, stages, how) for how in PAIRINGS)))
    return dual, pairing


def _apart(a: Real, b: Real) -> float:
    return abs(double(add(a, times(Fraction(-1), b))))
