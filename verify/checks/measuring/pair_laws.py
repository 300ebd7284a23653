"""What an error of the lower level's pair costs in mean square, under the worst law that its accuracy allows.

A bound over all randomness is about every law of the pair's error with the stated moment. A law of two points, rare and
large, spends a first moment where a sure error of the same mean costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import sqrt

import numpy as np

from verify.checks.measuring.case import Case
from verify.checks.measuring.finite_laws import ExactOracle, plus, square, units
from verify.checks.measuring.premises import at_truth
from verify.evidence.model import Point, PremiseEvidence, RateEvidence
from verify.evidence.rates.rates import fit_rate
from verify.truth.algebra.rationals import Vector
from verify.truth.enclosures.pair import Truth

PAIR_LAWS = {
    "mean": "The pair is off by ℓ with probability α³/ℓ, else exact",
    "sure": "The pair is off by α³",
    "mean-square": "The pair is off by ℓ with probability α⁶/ℓ², else exact",
}
"""By what is promised of the pair: the laws of its error that spend it. ℓ is 1, α, α² or α³ along one coordinate of ỹ*
or of λ̃, or just what switches an active row off."""

ROUNDED = 1e-12
"""Relative rounding of a moment, made of doubles."""


def allowed(accuracy: str, alpha: Fraction, squared_length: Fraction) -> float:
    """The largest probability of an error of that length, else none, that what is promised of the pair allows."""
    if accuracy == "sure":
        return float(squared_length <= alpha**6)
    rare = min(1.0, float(alpha**6 / squared_length))
    return sqrt(rare) if accuracy == "mean" else rare


def _off(oracle: ExactOracle) -> Iterator[tuple[Fraction, Vector, Vector]]:
    """Pairs that are off, each with the squared length of its error; multipliers stay at or above zero."""
    y_star, lam, alpha = oracle.lower.y_star, oracle.lower.lam, oracle.setting.alpha
    for length in (alpha**k for k in range(4)):
        for unit in units(len(y_star)):
            yield length**2, plus(y_star, unit, length), lam
        for unit in units(len(lam)):
            yield length**2, y_star, oracle.multipliers_off(tuple(length * part for part in unit))
    B, width = oracle.setting.problem.constraints.B.to_fractions(), Fraction(oracle.setting.h_width())
    for row in (tuple(B[i]) for i in oracle.lower.active if any(B[i])):
        share = width / square(row)
        yield share * width, plus(y_star, row, share), lam


def part_of_pair(case: Case, truth: Truth, alphas: Sequence[float]) -> tuple[RateEvidence | PremiseEvidence, ...]:
    """The part of the mean squared error that the pair's allowed error makes, under the worst law that is tried.

    Beside it, what these laws come to of the text's hypothesis on the pair, where it has the one that is promised.

    Weights and minimiser are those on the pair as it is; the ramp is 2‖B‖α² wide where the text asks for that, in its
    hypothesis “wide-ramp”, and else 2‖B‖α³.

    Raises:
        PremiseUnmetError: Repaired, where such an error switches dependent rows on.
    """
    accuracy, points, spent = case.sense.accuracy, [], list[float]()
    for alpha in map(Fraction, alphas):
        oracle = ExactOracle.at(case.instance, alpha, 1 if case.as_written else 1 / alpha)
        worst, slack = 0.0, 0.0
        off = [(p, *one) for one in _off(oracle) if (p := allowed(accuracy, alpha, one[0]))]
        spent += [_moment(case, p, length, alpha) for p, length, _, _ in off]
        laws = [(p, y, lam) for p, _, y, lam in off]
        if not case.as_written:
            oracle.require_independent_rows((y, lam) for _, y, lam in laws)
        for probability, y_star, lam in laws:
            stages = {
                name: np.array(list(map(float, value))) for name, value in oracle.stages(y_star=y_star, lam=lam).items()
            }
            answer = case.stages.hypergradient(case.instance.problem, case.x, case.call(float(alpha), **stages))
            part = probability * float(np.sum((answer - truth.grad_F) ** 2))
            if part > worst:
                geometry, _ = at_truth(case, truth, float(alpha))
                rounding = geometry.rounding(stages["y_penalty"], dual_term=case.reading.dual_term)
                worst, slack = part, 2 * rounding * sqrt(part * probability)
        points.append(Point(at=float(alpha), measured=worst, uncertainty=slack))
    rate = fit_rate(points, quantity="part of the mean squared error due to the pair, worst law", variable="alpha")
    return (rate,) if accuracy == "mean" and not case.as_written else (rate, _accuracy(case, spent))


def _moment(case: Case, probability: float, squared_length: Fraction, alpha: Fraction) -> float:
    """The moment of a law's error that the text bounds, in units of α³ or of α⁶."""
    power = 1 if case.as_written else 2
    return probability * sqrt(squared_length / alpha**6) ** power


def _accuracy(case: Case, spent: Sequence[float]) -> PremiseEvidence:
    """What the laws come to of the hypothesis on the pair: in the mean as written, in mean square repaired."""
    name, unit, moment = ("mean-accuracy", "α³", "mean") if case.as_written else (
        "second-moment-accuracy", "α⁶", "mean square")  # fmt: skip
    most = max(spent)
    finding = f"the {moment} of the pair's error is at most {most:.6g} {unit} under {len(spent)} laws"
    return PremiseEvidence(premise=name, holds=most <= 1 + ROUNDED, finding=finding)
