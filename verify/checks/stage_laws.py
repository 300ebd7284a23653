"""What the lemmas on bias, variance and accuracy condition on: stages that are random, by laws of two points.

A solver's error is either of a fixed size with small probability, or always small. Every expectation is a finite sum of
rationals, so nothing is sampled; the estimates are those of the exact stages of Algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from spec.atlas import Instance
from verify.checks.measuring.case import Case, Measurement, check, values_at
from verify.checks.measuring.finite_laws import (
    ZERO,
    ExactOracle,
    Law,
    LawOutcome,
    mean,
    mean_square,
    minus,
    plus,
    signs,
    square,
    units,
    variance,
)
from verify.checks.measuring.formula_evidence import brought
from verify.evidence.model import Point
from verify.evidence.rates.rates import fit_rate
from verify.truth.algebra.rationals import Vector
from verify.truth.algebra.reals import ExactReal
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.stages import DEFAULT_LAM_WIDTH
from verify.verdict import NoEvidenceError

INSTANCES = ("two-of-three", "scalar-rational", "toy1")
ALPHA = Fraction(1, 10)
ALPHAS = tuple(Fraction(1, 10 * 2**k) for k in range(6))
ENUMERATED = (1, 2, 5)
"""Batches whose every outcome is visited."""
BATCHES = tuple(4**k for k in range(12))
SIGMA = ALPHA / 4
"""Noise of one component of a sample."""


def _off_surely(oracle: ExactOracle) -> list[LawOutcome]:
    """Means of the estimate given ỹ* = y* ± δd, each half the time, along the coordinate d that spreads them most."""
    y, y_star, delta = oracle.minimiser, oracle.lower.y_star, oracle.setting.alpha**3
    laws = [
        [LawOutcome(Fraction(1, 2), oracle.estimate(y_star=plus(y_star, d, s * delta), y=y)) for s in (1, -1)]
        for d in list(units(len(y_star)))[::2]
    ]
    return max(laws, key=variance)


def _sampled(stages: list[LawOutcome], N_g: int) -> list[LawOutcome]:
    """Joint law of the stages' outcome and of the average of N_g samples around its mean."""
    noise = signs(len(stages[0].value), N_g)
    return [LawOutcome(s.weight * z.weight, plus(s.value, z.value, SIGMA)) for s, z in product(stages, noise)]


@check("variance-bound/conditioning", instances=INSTANCES)
def conditioning(case: Case) -> Measurement:
    """Variance of the average given x, λ̃, ỹ, with ỹ* left random or given as well.

    Visited outcome by outcome for some batches; from there on the law in N_g is one of two numbers.
    """
    stages = _off_surely(ExactOracle.at(case.instance, ALPHA))
    if case.sense.given == "all-stages":
        stages = [LawOutcome(Fraction(1), stages[0].value)]
    one = variance(signs(len(stages[0].value), 1)) * SIGMA**2
    remaining = variance(stages)
    for N_g in ENUMERATED:
        if variance(_sampled(stages, N_g)) != one / N_g + remaining:
            raise NoEvidenceError(f"the variance of {N_g} samples is not what its two parts add up to")
    points = [Point(at=float(N_g), measured=float(one / N_g + remaining)) for N_g in BATCHES]
    rate = fit_rate(points, quantity="variance of the average given the stages named", variable="N_g")
    values: dict[str, float | str] = {
        "part that no batch removes": float(remaining), "variance of one sample's noise": float(one),
    }  # fmt: skip
    note = "ỹ* is y* ± α³ along one coordinate, each half the time: within the accuracy asked for, surely."
    return Measurement((rate,), values | values_at("variance at N_g", rate.points[:3]), note)


@check("variance-bound/final-samples", instances=INSTANCES)
def final_samples(case: Case) -> Measurement:
    """Mean of the estimate given ỹ*, less the gradient at these stages, where ỹ* has seen the final sample or not."""
    stages = _off_surely(ExactOracle.at(case.instance, ALPHA))
    draws = signs(len(stages[0].value), 1)
    # The side on which line 3 ends is that of the draw which line 6 uses again, or of another.
    joint = [(s, z) for (i, s), (j, z) in product(enumerate(stages), enumerate(draws)) if i == j or not case.as_written]
    off = list[tuple[Fraction]]()
    for stage in stages:
        given = [z for s, z in joint if s is stage]
        total = sum((z.weight for z in given), ZERO)
        around = mean([LawOutcome(z.weight / total, plus(stage.value, z.value, SIGMA)) for z in given])
        off.append((square(minus(around, stage.value)),))
    reused = "ỹ* has seen the draw" if case.as_written else "ỹ* has seen other draws"
    return Measurement(brought(case, *off), {"stages": reused})


def _rare(oracle: ExactOracle, probability: Fraction, *, of_the_pair: bool) -> Iterator[list[tuple[Fraction, Vector]]]:
    """Laws of the estimate's error where, with this probability, the pair is off by 1 along coordinates.

    Both parts are off on the same runs, or one of them; multipliers alone if not ``of_the_pair``.
    """
    usual = oracle.error()
    for y_star, lam in _far_pairs(oracle, of_the_pair=of_the_pair):
        yield [(1 - probability, usual), (probability, oracle.error(y_star=y_star, lam=lam))]


def _far_pairs(oracle: ExactOracle, *, of_the_pair: bool) -> Iterator[tuple[Vector, Vector]]:
    """Pairs off by 1 along a coordinate of ỹ*, of λ̃, or of both."""
    lower, nothing = oracle.lower, tuple(ZERO for _ in oracle.lower.y_star)
    slips = [nothing, *(units(len(lower.y_star)) if of_the_pair else ())]
    moves = [tuple(ZERO for _ in lower.lam), *units(len(lower.lam))]
    for slip, move in product(slips, moves):
        if any(slip) or any(move):
            yield plus(lower.y_star, slip), oracle.multipliers_off(move)


def _length(squared: Fraction) -> float:
    return math.sqrt(float(squared))


def _frequent(oracle: ExactOracle) -> Iterator[list[tuple[Fraction, Vector]]]:
    """Laws of the error where ỹ* is off by δ in the mean along a coordinate: by α on few runs, by 2δ on every other."""
    alpha, y_star, usual = oracle.setting.alpha, oracle.lower.y_star, oracle.error()
    for probability, d in product((alpha**2, alpha, Fraction(1, 8), Fraction(1, 2)), units(len(y_star))):
        off = oracle.error(y_star=plus(y_star, d, alpha**3 / probability))
        yield [(1 - probability, usual), (probability, off)]


def _worst_mean(oracle: ExactOracle) -> Fraction:
    """Squared bias over all randomness under the worst law."""
    laws = [*_rare(oracle, oracle.setting.alpha**3, of_the_pair=True), *_frequent(oracle)]
    return max(square(mean([LawOutcome(*part) for part in law])) for law in laws)


@check("bias-bound/in-expectation", instances=INSTANCES)
def in_expectation(case: Case) -> Measurement:
    """Error of the mean estimate: the worst of the two runs as written, averaged over both repaired; the worst law.

    Repaired the ramp is 2‖B‖α² wide; beside it stands what the ramp of sure errors, of width 2‖B‖δ, leaves.
    """
    points, narrow = [], []
    if not case.as_written:
        smallest = ExactOracle.at(case.instance, ALPHAS[-1], ramp_constant=1 / ALPHAS[-1])
        smallest.require_independent_rows(_far_pairs(smallest, of_the_pair=True))
    for alpha in ALPHAS[2:]:
        oracle = ExactOracle.at(case.instance, alpha)
        if case.as_written:
            laws = _rare(oracle, alpha**3, of_the_pair=True)
            worst = max(square(value) for law in laws for _, value in law)
        else:
            narrow.append(Point(at=float(alpha), measured=_length(_worst_mean(oracle))))
            worst = _worst_mean(ExactOracle.at(case.instance, alpha, ramp_constant=1 / alpha))
        points.append(Point(at=float(alpha), measured=_length(worst)))
    over = "given the stages, worst run" if case.as_written else "over all randomness"
    rate = fit_rate(points, quantity=f"bias {over}", variable="alpha")
    if case.as_written:
        note = "(ỹ*, λ̃) is off by 1 along coordinates with probability α³, else exact: accurate to α³ in the mean."
        return Measurement((rate,), values_at("bias at alpha", points), note)
    beside = fit_rate(narrow, quantity=f"bias {over}, ramp of width 2‖B‖δ", variable="alpha", role="support")
    note = (
        "ỹ* is off by 2δ on every other run, by α on some, by 1 on few: by δ in the mean. A ramp of width 2‖B‖δ fails."
    )
    values = values_at("bias at alpha", points) | values_at("with a ramp of width 2‖B‖δ, at alpha", narrow)
    return Measurement((rate, beside), values, note)


@check("hypergradient-accuracy/sure-or-mean", instances=INSTANCES)
def sure_or_mean(case: Case) -> Measurement:
    """Mean squared error where λ̃ is off by 1 with the probability that its moment bound allows; the worst row."""
    power = 3 if case.as_written else 6
    points = []
    for alpha in ALPHAS:
        oracle = ExactOracle.at(case.instance, alpha)
        nought = tuple(ZERO for _ in oracle.grad_F)
        laws = _rare(oracle, alpha**power, of_the_pair=False)
        worst = max(mean_square([LawOutcome(*part) for part in law], nought) for law in laws)
        points.append(Point(at=float(alpha), measured=float(worst)))
    rate = fit_rate(points, quantity="mean squared error due to λ̃, worst law", variable="alpha")
    note = f"λ̃ is off by 1 on one row with probability α^{power}, else exact; α₁²‖A_i‖² is α⁻⁴ where the row moves."
    return Measurement((rate,), values_at("mean squared error at alpha", points), note)


@check("bias-bound/deterministic", instances=INSTANCES)
def deterministic(case: Case) -> Measurement:
    """How far apart the means given two admitted outcomes of ỹ* lie; repaired, the average over them against E."""
    stages = _off_surely(ExactOracle.at(case.instance, ALPHA))
    if case.as_written:
        apart = ExactReal.of(square(minus(stages[0].value, stages[1].value))).sqrt()
    else:
        apart = ExactReal.of(square(minus(mean(_sampled(stages, ENUMERATED[-1])), mean(stages))))
    return Measurement(brought(case, (apart,)), note="ỹ* is y* ± α³ along one coordinate, each half the time.")


@check("hypergradient-accuracy/mean-squared-identity", instances=INSTANCES)
def mean_squared_identity(case: Case) -> Measurement:
    """Mean squared error less variance and squared bias, over every outcome of stages and samples."""
    oracle = ExactOracle.at(case.instance, ALPHA)
    law = _sampled(_off_surely(oracle), ENUMERATED[-1])
    bias, total = square(minus(mean(law), oracle.grad_F)), mean_square(law, oracle.grad_F)
    values: dict[str, float | str] = {"mean squared error": float(total), "variance": float(variance(law))}
    return Measurement(brought(case, (total, variance(law), bias)), values | {"squared bias": float(bias)})


@check("hypergradient-accuracy/jensen", instances=INSTANCES)
def jensen(case: Case) -> Measurement:
    """The least factor c of ‖a + b‖² ≤ c(‖a‖² + ‖b‖²): over single runs as written, over expectations repaired.

    The laws of the noise a have mean 0: that of stages and samples, and ±b itself, the bias half of the time. As
    written is about any two vectors: where the bias is 0, an outcome of the noise is taken for it.
    """
    oracle = ExactOracle.at(case.instance, ALPHA)
    law = _sampled(_off_surely(oracle), ENUMERATED[-1])
    around = mean(law)
    b = minus(around, oracle.grad_F)
    noises = [[LawOutcome(o.weight, minus(o.value, around)) for o in law], two_sided(b)]
    if case.as_written:
        note = "" if any(b) else "The bias is 0 here; an outcome of the noise stands for it."
        b = b if any(b) else next((o.value for o in noises[0] if any(o.value)), b)
        return Measurement(brought(case, (run_factor([*noises, two_sided(b)], b),)), note=note)
    return Measurement(brought(case, *((factor,) for factor in mean_factors(noises, b))))


def two_sided(b: Vector) -> list[LawOutcome]:
    """Noise that is the bias or its opposite, each half of the time."""
    return [LawOutcome(Fraction(1, 2), tuple(sign * v for v in b)) for sign in (1, -1)]


def run_factor(noises: Sequence[Law], b: Vector) -> Fraction:
    """The largest ‖a + b‖²/(‖a‖² + ‖b‖²) over all outcomes a that leave one of the two; 0 where there is none."""
    pairs = [(square(plus(o.value, b)), square(o.value) + square(b)) for law in noises for o in law]
    return max((whole / parts for whole, parts in pairs if parts), default=ZERO)


def mean_factors(noises: Sequence[Law], b: Vector) -> tuple[Fraction, Fraction]:
    """The least and the largest E‖a + b‖²/(E‖a‖² + ‖b‖²) over the laws of a; where all is 0 any factor serves."""
    nought = tuple(ZERO for _ in b)
    sums = [mean_square([LawOutcome(o.weight, plus(o.value, b)) for o in law], nought) for law in noises]
    parts = [mean_square(law, nought) + square(b) for law in noises]
    ratios = [whole / part for whole, part in zip(sums, parts, strict=True) if part]
    if not ratios:
        raise NoEvidenceError("neither noise nor bias is there")
    return min(ratios), max(ratios)


@check("hypergradient-accuracy/hypotheses", instances=("toy2", "kink"))
def dropped_hypotheses(case: Case) -> Measurement:
    """Squared error of the exact stages: at points where the multiplier is α²ε_λ as written, at one point repaired."""
    points = []
    for alpha in ALPHAS:
        there = _near(case.instance, alpha**2 * DEFAULT_LAM_WIDTH) if case.as_written else case.instance
        error = ExactOracle.at(there, alpha, reading=case.reading).error()
        points.append(Point(at=float(alpha), measured=float(square(error))))
    rate = fit_rate(points, quantity="squared bias, exact stages", variable="alpha")
    note = "At multiplier α²ε_λ the row's weight is α², so penalty and objective pull alike: half of each gradient."
    return Measurement((rate,), values_at("squared bias at alpha", points), note)


def _near(instance: Instance, multiplier: Fraction) -> Instance:
    """The point beside the kink at 0 where the one row has this multiplier."""
    for x in (multiplier, -multiplier):
        if lower_level.solve(quadratic_of(instance.problem), (x,)).lam == (multiplier,):
            return instance.at(x)
    raise NoEvidenceError(f"the row of {instance.name} has no multiplier {multiplier} beside its kink")
