"""Assumption "Stochastic Oracles", asked of what a subject's estimates show of its oracles.

A draw of ∇_x f is an estimate with noise in f alone; a draw of ∇_x g is seen as the difference of two independent
draws at one point, whose variance is twice that of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from spec import Noise
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, values_at
from verify.checks.measuring.estimates.samples import (
    ADDITIVE,
    ANOTHER_LAW,
    F_ONLY,
    G_ONLY,
    JUMP,
    MATRIX,
    RATE_BLOCK,
    SHORT_BLOCK,
    SampledFormula,
    SampleSetting,
    sampled_rates,
    second_moment,
)  # fmt: skip
from verify.checks.measuring.estimates.silence import require_noise
from verify.checks.measuring.premises import regular_truth
from verify.evidence.bets.betting import DrawsDecision, MeanBound, VarianceBound
from verify.evidence.bets.correlations import DirectionBound
from verify.evidence.intervals import EmpiricalBernstein
from verify.evidence.model import ComparisonEvidence, Point, RateEvidence, Relation
from verify.evidence.rates.orders import beside_law
from verify.evidence.rates.rates import SweepEstimate, fit_power_law, fit_rate
from verify.evidence.streams import BoundedSampler, Sampler, Streams
from verify.subjects import MissingCapabilityError
from verify.truth.enclosures.pair import Truth

INSTANCES = ("toy1", "two-of-three", "experiment-5d")
RADII = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Sizes of query points, towards infinity."""
DISTANCES = (0.25, 0.125, 0.0625, 0.03125)
"""Distances of two query points, towards zero."""
JUMPS = 4000
"""Jumps met at each distance; their rate is then known to about a fifth."""
FAR = 100.0
"""A query point this many times further out stands for "every point"."""


@dataclass(frozen=True)
class Oracle:
    """Draws of one oracle: deviations scaled by ``scale`` have its own variance."""

    name: str
    setting: SampleSetting
    scale: float

    @classmethod
    def both(cls, case: Case, noise: Noise, x: Vector, y: Vector) -> Iterator[Oracle]:
        """∇_x f, seen alone, then ∇_x g, as the difference of two independent draws."""
        for name, on, scale, pairing in (("∇_x f", F_ONLY, 1.0, "common"), ("∇_x g", G_ONLY, 0.5**0.5, "independent")):
            there = replace(case, reading=case.reading.choose(noise_pairing=pairing))
            only = noise.model_copy(update={"on": on})
            yield cls(name, _oracle(there, only, x, y), scale)

    @property
    def variance(self) -> float:
        """Exact, of one draw."""
        return self.scale**2 * second_moment(self.setting, self.setting.case.instance.problem.noise)

    def decision(self, suffix: str, relation: Relation, level: float, **stated: Any) -> VarianceBound:
        """Of the variance of a draw against a level."""
        case = self.setting.case
        quantity = f"variance of a draw of {self.name}{suffix}"
        return VarianceBound(quantity, case.share, width=len(case.x), level=level, relation=relation, **stated)

    def sampler(self) -> Sampler:
        """A stream of draws, in calls short enough that few are drawn beyond those that decide."""
        return self.setting.sampler(scale=self.scale, block=RATE_BLOCK)


def _oracle(case: Case, noise: Noise, x: Vector, y: Vector, distance: float = 0.0) -> SampleSetting:
    """The bare oracle, its second point at a distance along the first coordinate."""
    apart = np.zeros_like(y)
    apart[0] = distance
    return SampleSetting.oracle(case, regular_truth(case.instance), noise, x=x, y=y, apart=apart)


@check("stochastic-oracles/unbiasedness", instances=INSTANCES, needs=("hypergradient",), decisions=2)
def unbiasedness(case: Case) -> Measurement:
    """Mean of many draws against the exact gradient; a shift of a hundredth of the noise would be seen.

    A subject without independent pairing shows none of g's draws; where those of f are biased, that says it all.
    """
    evidence = []
    for oracle in Oracle.both(case, ADDITIVE, case.x, regular_truth(case.instance).y_star):
        quantity = f"distance of the mean draw of {oracle.name} from the gradient"
        decision = MeanBound(quantity, case.share, width=len(case.x), second_moment=oracle.variance)
        try:
            evidence.append(decision.run(oracle.setting.sampler(scale=oracle.scale)))
        except MissingCapabilityError:
            # What one oracle is seen to lack the other cannot make good.
            if all(item.holds for item in evidence):
                raise
    return Measurement(tuple(evidence), {item.quantity: item.measured for item in evidence})


@check("stochastic-oracles/bounded-variance", instances=INSTANCES, needs=("hypergradient",), decisions=2)
def bounded_variance(case: Case) -> Measurement:
    """Variance of a draw against the level declared: the larger for both as written, each its own repaired."""
    noise = ADDITIVE.model_copy(update={"sigma_f": ADDITIVE.sigma_g / 2})
    evidence = tuple(_variances(case, noise, "<=", shared=case.as_written))
    return Measurement(evidence, {item.quantity: item.measured for item in evidence})


@check("stochastic-oracles/noise-reaches-gradient", instances=INSTANCES, needs=("hypergradient",), decisions=10)
def noise_reaches_gradient(case: Case) -> Measurement:
    """Variance of a draw, in all and along each direction, against the noise model: from below, repaired exactly."""
    relation: Relation = ">=" if case.as_written else "=="
    for oracle in Oracle.both(case, ADDITIVE, case.x, regular_truth(case.instance).y_star):
        require_noise(oracle.setting, second_moment(oracle.setting, oracle.setting.case.instance.problem.noise))
    evidence = [one for noise in (ADDITIVE, MATRIX) for one in _variances(case, noise, relation)]
    directions = [one for noise in (ADDITIVE, MATRIX) for one in _directions(case, noise, relation)]
    values: dict[str, float | str] = {item.quantity: item.measured for item in evidence}
    return Measurement(tuple(map(_said, (*evidence, *directions))), values)


@check("stochastic-oracles/draws-as-stated", instances=INSTANCES, needs=("hypergradient",), decisions=2)
def draws_as_stated(case: Case) -> Measurement:
    """Whether draws have the law that the problem states, shape and all: what bets against it win."""
    evidence = []
    for oracle in Oracle.both(case, ADDITIVE, case.x, regular_truth(case.instance).y_star):
        require_noise(oracle.setting, second_moment(oracle.setting, oracle.setting.case.instance.problem.noise))
        decision = DrawsDecision(
            f"bets won, in logarithms, that draws of {oracle.name} have another law than the problem states",
            case.share, width=len(case.x), scale=(oracle.variance / len(case.x)) ** 0.5, block=RATE_BLOCK,
        )  # fmt: skip
        evidence.append(decision.run(oracle.sampler()))
    return Measurement(tuple(evidence), {item.quantity: item.measured for item in evidence})


def _said(item: ComparisonEvidence) -> ComparisonEvidence:
    """What is refuted here is that the noise is the one stated; it may be one that the paper allows."""
    if item.holds:
        return item
    return item.model_copy(update={"quantity": f"{item.quantity} ({ANOTHER_LAW})"})


@check("stochastic-oracles", instances=INSTANCES, needs=("hypergradient",), decisions=2)
def one_level(case: Case) -> Measurement:
    """Variance at the point in use and, as written, at one a hundred times further out, against one level."""
    truth = regular_truth(case.instance)
    reach = FAR if case.as_written else 1.0
    evidence = []
    for oracle in Oracle.both(case, ADDITIVE, reach * case.x, reach * truth.y_star):
        decision = oracle.decision("", "<=", oracle.variance, context={"distance of the query point": reach})
        evidence.append(decision.run(oracle.sampler()))
    return Measurement(tuple(evidence))


@check("stochastic-oracles/experiment-noise", instances=INSTANCES, needs=("hypergradient",), decisions=1)
def experiment_noise(case: Case) -> Measurement:
    """Variance of a draw of ∇_x f under matrix noise at growing query points: the experiment's x ranges over R^d."""
    truth = regular_truth(case.instance)
    noise = MATRIX.model_copy(update={"on": F_ONLY})
    size = float(np.linalg.norm(np.concatenate([case.x, truth.y_star])))
    reach = {radius: radius / size for radius in RADII}
    places = {radius: _oracle(case, noise, case.x * far, truth.y_star * far) for radius, far in reach.items()}
    rate = _rate(case, noise, places, "variance of a draw at query points of norm R", "radius")
    note = "Noise W on the matrix gives noise W v on the gradient."
    return Measurement((rate,), values_at("variance at R", rate.points), note)


@check("stochastic-oracles/mean-square-smoothness", instances=INSTANCES, needs=("hypergradient",), decisions=2)
def mean_square_smoothness(case: Case) -> Measurement:
    """Mean squared difference of the noise of ∇_x g at two points of one draw, against their distance."""
    case, y = replace(case, reading=case.repaired), regular_truth(case.instance).y_star
    name = "mean squared difference of the noise"
    if case.as_written:
        estimates = []
        for distance in DISTANCES:
            setting = _oracle(case, JUMP, case.x, y, distance)
            estimates.append(jump_estimate(setting, {"distance": distance}, parts=2 * len(DISTANCES)))
        rate = _by_law(case, estimates, f"{name}, jump noise", "distance")
        values: dict[str, float | str] = {f"mean square at distance {p.at:g}": p.measured for p in rate.points}
        return Measurement((rate,), values, "Two points d apart see the jump fall between them with probability ~ d.")
    evidence = []
    for noise in (ADDITIVE, MATRIX):
        only = noise.model_copy(update={"on": G_ONLY})
        places = {distance: _oracle(case, only, case.x, y, distance) for distance in DISTANCES}
        evidence.append(_rate(case, only, places, f"{name}, {noise.model} noise", "distance"))
    return Measurement(tuple(evidence))


def _rate(case: Case, noise: Noise, places: dict[float, SampleSetting], quantity: str, variable: str) -> RateEvidence:
    """How the variance of a draw grows from place to place."""
    settings = [
        ({variable: at}, setting.sampler(block=RATE_BLOCK), second_moment(setting, noise))
        for at, setting in places.items()
    ]
    # Matrix noise W on the gradient is W times a vector as long as the variable says, squared; additive noise is W.
    formula = SampledFormula({variable: 2.0 if noise.model == "matrix" else 0.0})
    return sampled_rates(case, settings, quantity=quantity, deciding=variable, formula=formula)[variable]


def _variances(case: Case, noise: Noise, relation: Relation, *, shared: bool = False) -> Iterator[ComparisonEvidence]:
    """Variance of a draw of either oracle against its own exact level, or the larger of both."""
    oracles = list(Oracle.both(case, noise, case.x, regular_truth(case.instance).y_star))
    largest = max(oracle.variance for oracle in oracles)
    for oracle in oracles:
        decision = oracle.decision(f", {noise.model} noise", relation, largest if shared else oracle.variance)
        yield decision.run(oracle.sampler())


def _directions(case: Case, noise: Noise, relation: Relation) -> Iterator[ComparisonEvidence]:
    """Either model spreads its noise evenly over the components and correlates none."""
    for oracle in Oracle.both(case, noise, case.x, regular_truth(case.instance).y_star):
        suffix = f" along its most deviating direction, {noise.model} noise"
        whole = oracle.decision(suffix, relation, oracle.variance, wanted=0.2, block=SHORT_BLOCK)
        stream = oracle.setting.sampler(scale=oracle.scale, block=SHORT_BLOCK, together=True)
        yield DirectionBound.of(whole).run(stream)


def jump_estimate(setting: SampleSetting, at: dict[str, float], *, parts: int) -> SweepEstimate:
    """Mean squared deviation of estimates under jump noise with common draws: bounded, not Gaussian.

    The confidence sequence may err with the share over ``parts``.
    """
    case, geometry, y = setting.case, setting.geometry, setting.y
    p = abs(float(scipy.special.ndtr(y[0])) - float(scipy.special.ndtr(geometry.y_star[0])))
    bound = (geometry.weights.alpha_1 * case.instance.problem.noise.scale("g.x")) ** 2
    horizon, mean = int(min(1 << 22, JUMPS / p)), setting.mean

    def draw(rng: np.random.Generator, count: int) -> Vector:
        deviations = setting.draw(rng, count) - mean
        squares = np.einsum("ij,ij->i", deviations, deviations) / bound
        # Beyond the bound only what is no jump noise at all; it then counts as its largest.
        return np.asarray(np.minimum(squares, 1.0))

    begun = BoundedSampler(draw, Streams.of(case.rng), EmpiricalBernstein(case.share.error / parts, horizon))
    sequence = case.ledger.keep(begun).reach(case.share.times(horizon))
    low, high = sequence.interval()
    return SweepEstimate(
        at=at, value=sequence.mean * bound, low=low * bound, high=high * bound, samples=sequence.count,
        predicted=second_moment(setting, case.instance.problem.noise), law="exponent (empirical Bernstein)",
    )  # fmt: skip


JUMP_ALPHAS = (0.4, 0.3, 0.2, 0.15, 0.1)
"""A jump is met with probability of order alpha²; below these alphas a run would wait too long for one."""


def may_jump(case: Case, truth: Truth) -> bool:
    """Whether the oracles' noise may jump: where one draw serves a sample, the literal premises do not forbid it.

    Where the active rows hold the component that meets jumps, it moves by α⁴ only: so rare a jump keeps the variance
    bounded, and is too rare to wait for.
    """
    if not case.as_written or case.reading.noise_pairing != "common":
        return False
    settings = [SampleSetting.at(case, truth, alpha, JUMP) for alpha in JUMP_ALPHAS]
    return all(abs(s.y[0] - s.geometry.y_star[0]) >= s.geometry.alpha**2 / 100 for s in settings)


def jumping_rate(
    case: Case, truth: Truth, quantity: str, over: Callable[[float], float] = lambda _: 1.0
) -> RateEvidence:
    """Variance of one sample under jump noise with common draws, against alpha; divided by ``over``."""
    common, estimates = replace(case, reading=case.repaired), []
    for alpha in JUMP_ALPHAS:
        setting = SampleSetting.at(common, truth, alpha, JUMP)
        one, unit = jump_estimate(setting, {"alpha": alpha}, parts=2 * len(JUMP_ALPHAS)), over(alpha)
        predicted = None if one.predicted is None else one.predicted / unit
        estimates.append(
            replace(one, value=one.value / unit, low=one.low / unit, high=one.high / unit, predicted=predicted)
        )
    return _by_law(case, estimates, quantity, "alpha")


def _by_law(case: Case, estimates: Sequence[SweepEstimate], quantity: str, variable: str) -> RateEvidence:
    """The power of a variable in mean squares under jump noise, whose exact values are known."""
    points = []
    for one in estimates:
        if one.predicted is None:
            raise ValueError(f"{quantity}: its exact value is not known at {variable} = {one.at[variable]:g}")
        points.append(Point(at=one.at[variable], measured=one.predicted))
    law = fit_rate(points, quantity=f"{quantity}, exact law", variable=variable)
    return beside_law(
        estimates, law, lambda given: fit_power_law(given, case.share, quantity=quantity, bends=False)[variable]
    )
