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
from verify.checks.measuring.finite_laws import ExactOracle, plus, units
from verify.checks.measuring.premises import at_truth
from verify.evidence.model import Point, RateEvidence
from verify.evidence.rates import fit_rate
from verify.truth.algebra.rationals import Vector
from verify.truth.pair import Truth

PAIR_LAWS = {
    "mean": "The pair is off by 1 with probability α³, else exact",
    "sure": "The pair is off by α³",
    "mean-square": "The pair is off by ℓ with probability α⁶/ℓ², else exact, ℓ = 1, α or α²",
}
"""By what is promised of the pair: the laws of its error that spend it, along one coordinate of ỹ* or of λ̃."""


def _lengths(accuracy: str, alpha: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Lengths of the pair's error, each with its probability."""
    if accuracy == "sure":
        return [(alpha**3, Fraction(1))]
    return [(Fraction(1), alpha**3)] if accuracy == "mean" else [(alpha**k, alpha ** (6 - 2 * k)) for k in range(3)]


def _off(oracle: ExactOracle, length: Fraction) -> Iterator[tuple[Vector, Vector]]:
    """Pairs off by a length along one coordinate; multipliers stay at or above zero."""
    y_star, lam = oracle.lower.y_star, oracle.lower.lam
    for unit in units(len(y_star)):
        yield plus(y_star, unit, length), lam
    for unit in units(len(lam)):
        yield y_star, oracle.multipliers_off(tuple(length * part for part in unit))


def part_of_pair(case: Case, truth: Truth, alphas: Sequence[float]) -> RateEvidence:
    """The part of the mean squared error that the pair's allowed error makes, under the worst law that is tried.

    Weights and minimiser are those on the pair as it is; the ramp is 2‖B‖α² wide where the pair is accurate in mean
    square alone, as the repaired text asks.

    Raises:
        PremiseUnmetError: Repaired, where such an error switches dependent rows on.
    """
    accuracy, points = case.sense.accuracy, []
    for alpha in map(Fraction, alphas):
        oracle = ExactOracle.at(case.instance, alpha, 1 / alpha if accuracy == "mean-square" else 1)
        worst, slack = 0.0, 0.0
        for length, probability in _lengths(accuracy, alpha):
            pairs = list(_off(oracle, length))
            if not case.as_written:
                oracle.require_independent_rows(pairs)
            for y_star, lam in pairs:
                stages = {
                    name: np.array(list(map(float, value)))
                    for name, value in oracle.stages(y_star=y_star, lam=lam).items()
                }
                found = case.stages.hypergradient(case.instance.problem, case.x, case.call(float(alpha), **stages))
                part = float(probability) * float(np.sum((found - truth.grad_F) ** 2))
                if part > worst:
                    geometry, _ = at_truth(case, truth, float(alpha))
                    rounding = geometry.rounding(stages["y_penalty"], dual_term=case.reading.dual_term)
                    worst, slack = part, 2 * rounding * sqrt(part * float(probability))
        points.append(Point(at=float(alpha), measured=worst, uncertainty=slack))
    return fit_rate(points, quantity="part of the mean squared error due to the pair, worst law", variable="alpha")
