"""Assumption "Stochastic Oracles", asked of what a subject's estimates show of its oracles.

A draw of ∇_x f is an estimate with noise in f alone; a draw of ∇_x g is seen as the difference of two independent
draws at one point, whose variance is twice that of one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spec import Noise
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.premises import regular_truth
from verify.checks.measuring.samples import (
    ADDITIVE,
    F_ONLY,
    G_ONLY,
    JUMP,
    MATRIX,
    RATE_BLOCK,
    Setting,
    sampled_rates,
    second_moment,
)  # fmt: skip
from verify.evidence.correlations import DirectionDecision
from verify.evidence.decisions import MeanDecision, VarianceDecision
from verify.evidence.model import ComparisonEvidence, RateEvidence, Relation
from verify.evidence.power_laws import Estimate, fit_power_law
from verify.evidence.sequential import EmpiricalBernstein
from verify.evidence.streams import BoundedSampler, Streams
from verify.truth.pair import Truth

INSTANCES = ("toy1", "two-of-three", "experiment-5d")
RADII = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Sizes of query points, towards infinity."""
DISTANCES = (0.25, 0.125, 0.0625, 0.03125)
"""Distances of two query points, towards zero."""
JUMPS = 4000
"""Jumps met at each distance; their rate is then known to about a fifth."""
FAR = 100.0
"""A query point this many times further out stands for "every point"."""


@check("stochastic-oracles/unbiasedness", instances=INSTANCES, needs=("hypergradient",), decisions=2)
def unbiasedness(case: Case) -> Measurement:
    """Mean of many draws against the exact gradient; a shift of a hundredth of the noise would be seen."""
    truth = regular_truth(case.instance)
    evidence = []
    for name, setting, scale in _both(case, truth, ADDITIVE):
        decision = MeanDecision(
            quantity=f"distance of the mean draw of {name} from the gradient", width=len(case.x), share=case.share
        )
        evidence.append(decision.run(setting.sampler(scale=scale)))
    values: dict[str, float | str] = {item.quantity: item.measured for item in evidence}
    return Measurement(tuple(evidence), values)


@check("stochastic-oracles/bounded-variance", instances=INSTANCES, needs=("hypergradient",), decisions=2)
def bounded_variance(case: Case) -> Measurement:
    """Variance of a draw against the level declared: the larger for both as written, each its own repaired."""
    truth = regular_truth(case.instance)
    noise = ADDITIVE.model_copy(update={"sigma_f": ADDITIVE.sigma_g / 2})
    return _variances(case, truth, noise, "<=", shared=case.as_written)


@check("stochastic-oracles/noise-reaches-gradient", instances=INSTANCES, needs=("hypergradient",), decisions=8)
def noise_reaches_gradient(case: Case) -> Measurement:
    """Variance of a draw, in all and along each direction, against the noise model: from below, repaired exactly."""
    truth = regular_truth(case.instance)
    relation: Relation = ">=" if case.as_written else "=="
    found = [_variances(case, truth, noise, relation, shared=False) for noise in (ADDITIVE, MATRIX)]
    directions = [one for noise in (ADDITIVE, MATRIX) for one in _directions(case, truth, noise, relation)]
    return Measurement((*found[0].evidence, *found[1].evidence, *directions), found[0].values | found[1].values)


@check("stochastic-oracles", instances=INSTANCES, needs=("hypergradient",), decisions=2)
def one_level(case: Case) -> Measurement:
    """Variance at the point in use and, as written, at one a hundred times further out, against one level."""
    truth = regular_truth(case.instance)
    reach = FAR if case.as_written else 1.0
    x, y = reach * case.x, reach * truth.y_star
    evidence = []
    for name, on, scale, pairing in _ORACLES:
        noise = ADDITIVE.model_copy(update={"on": on})
        there = replace(case, reading=case.reading.choose(noise_pairing=pairing))
        setting = Setting.oracle(there, truth, noise, x=x, y=y, apart=np.zeros_like(y))
        decision = VarianceDecision(
            quantity=f"variance of a draw of {name}", level=scale**2 * second_moment(setting, noise),
            width=len(x), share=case.share, relation="<=", context={"distance of the query point": reach},
        )  # fmt: skip
        evidence.append(decision.run(setting.sampler(scale=scale)))
    return Measurement(tuple(evidence))


@check("stochastic-oracles/experiment-noise", instances=INSTANCES, needs=("hypergradient",), decisions=1)
def experiment_noise(case: Case) -> Measurement:
    """Variance of a draw of ∇_x f under matrix noise at query points of growing size."""
    truth = regular_truth(case.instance)
    noise = MATRIX.model_copy(update={"on": F_ONLY})
    size = float(np.linalg.norm(np.concatenate([case.x, truth.y_star])))
    settings = []
    for radius in RADII:
        x, y = case.x * (radius / size), truth.y_star * (radius / size)
        setting = Setting.oracle(case, truth, noise, x=x, y=y, apart=np.zeros_like(y))
        settings.append(({"radius": radius}, setting.sampler(block=1 << 11), second_moment(setting, noise)))
    rate = sampled_rates(case, settings, quantity="variance of a draw at query points of norm R", deciding="radius")
    values: dict[str, float | str] = {f"variance at R = {p.at:g}": p.measured for p in rate["radius"].points}
    return Measurement((rate["radius"],), values, "Noise W on the matrix gives noise W v on the gradient.")


@check("stochastic-oracles/mean-square-smoothness", instances=INSTANCES, needs=("hypergradient",), decisions=2)
def mean_square_smoothness(case: Case) -> Measurement:
    """Mean squared difference of the noise of ∇_x g at two points of one draw, against their distance."""
    truth = regular_truth(case.instance)
    case = replace(case, reading=case.repaired)
    if case.as_written:
        rate = _jump_rate(case, truth)
        values: dict[str, float | str] = {f"mean square at distance {p.at:g}": p.measured for p in rate.points}
        return Measurement((rate,), values, "Two points d apart see the jump fall between them with probability ~ d.")
    evidence = []
    for noise in (ADDITIVE, MATRIX):
        only = noise.model_copy(update={"on": G_ONLY})
        settings = []
        for distance in DISTANCES:
            setting = Setting.oracle(case, truth, only, x=case.x, y=truth.y_star, apart=_first(truth, distance))
            settings.append(({"distance": distance}, setting.sampler(block=1 << 11), second_moment(setting, only)))
        name = f"mean squared difference of the noise, {noise.model} noise"
        evidence.append(sampled_rates(case, settings, quantity=name, deciding="distance")["distance"])
    return Measurement(tuple(evidence))


_ORACLES = (("∇_x f", F_ONLY, 1.0, "common"), ("∇_x g", G_ONLY, 0.5**0.5, "independent"))


def _both(case: Case, truth: Truth, noise: Noise) -> list[tuple[str, Setting, float]]:
    """Streams of draws of both oracles at the lower-level point, each with its factor on the deviations."""
    made = []
    for name, on, scale, pairing in _ORACLES:
        only = noise.model_copy(update={"on": on})
        there = replace(case, reading=case.reading.choose(noise_pairing=pairing))
        y = truth.y_star
        made.append((name, Setting.oracle(there, truth, only, x=case.x, y=y, apart=np.zeros_like(y)), scale))
    return made


def _variances(case: Case, truth: Truth, noise: Noise, relation: Relation, *, shared: bool) -> Measurement:
    evidence: list[ComparisonEvidence] = []
    found = _both(case, truth, noise)
    exact = [scale**2 * second_moment(setting, setting.case.instance.problem.noise) for _, setting, scale in found]
    for (name, setting, scale), own in zip(found, exact, strict=True):
        level = max(exact) if shared else own
        decision = VarianceDecision(
            quantity=f"variance of a draw of {name}, {noise.model} noise", level=level, width=len(case.x),
            share=case.share, relation=relation,
        )  # fmt: skip
        evidence.append(decision.run(setting.sampler(scale=scale)))
    return Measurement(tuple(evidence), {item.quantity: item.measured for item in evidence})


def _directions(case: Case, truth: Truth, noise: Noise, relation: Relation) -> list[ComparisonEvidence]:
    """Either model spreads its noise evenly over the components and correlates none."""
    made = []
    for name, setting, scale in _both(case, truth, noise):
        whole = VarianceDecision(
            quantity=f"variance of a draw of {name} along its most deviating direction, {noise.model} noise",
            level=scale**2 * second_moment(setting, setting.case.instance.problem.noise), width=len(case.x),
            share=case.share, relation=relation, wanted=0.2, block=RATE_BLOCK,
        )  # fmt: skip
        made.append(DirectionDecision.of(whole).run(setting.sampler(scale=scale, block=RATE_BLOCK, together=True)))
    return made


def _jump_rate(case: Case, truth: Truth) -> RateEvidence:
    estimates = []
    for distance in DISTANCES:
        setting = Setting.oracle(case, truth, JUMP, x=case.x, y=truth.y_star, apart=_first(truth, distance))
        estimates.append(jump_estimate(setting, {"distance": distance}, parts=2 * len(DISTANCES)))
    return fit_power_law(
        estimates, case.share, quantity="mean squared difference of the noise, jump noise"
    )["distance"]  # fmt: skip


def jump_estimate(setting: Setting, at: dict[str, float], *, parts: int) -> Estimate:
    """Mean squared deviation of estimates under jump noise with common draws: bounded, not Gaussian.

    The confidence sequence may err with the share over ``parts``.
    """
    case, geometry, call = setting.case, setting.geometry, setting.call
    y = call.y_penalty if call.y_penalty is not None else geometry.minimiser
    p = abs(_phi(float(y[0])) - _phi(float(geometry.y_star[0])))
    bound = (geometry.weights.alpha_1 * case.instance.problem.noise.scale("g.x")) ** 2
    horizon, mean = int(min(1 << 22, JUMPS / p)), setting.mean

    def draw(rng: np.random.Generator, count: int) -> Vector:
        deviations = setting.draw(rng, count) - mean
        squares = np.einsum("ij,ij->i", deviations, deviations) / bound
        # Beyond the bound only what is no jump noise at all; it then counts as its largest.
        made: Vector = np.minimum(squares, 1.0)
        return made

    begun = BoundedSampler(draw, Streams.of(case.rng), EmpiricalBernstein(case.share.error / parts, horizon))
    sequence = case.ledger.keep(begun).reach(case.share.times(horizon))
    low, high = sequence.interval()
    return Estimate(
        at=at, value=sequence.mean * bound, low=low * bound, high=high * bound, samples=sequence.count,
        predicted=second_moment(setting, case.instance.problem.noise), law="exponent (empirical Bernstein)",
    )  # fmt: skip


def _phi(value: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(value))


def _first(truth: Truth, distance: float) -> Vector:
    step = np.zeros(len(truth.y_star))
    step[0] = distance
    return step
