"""Mean squared lengths by bets: of vectors around a known point, against what their covariance and mean give.

A mean square is refuted from above under nothing but the claim, whatever the law. From that side it is supported, and
from below it is refuted, within a class of laws: that of Gaussian vectors of the stated covariance and mean, up to one
factor on their lengths, or where the samples are not Gaussian that of noise of a bounded kurtosis around that mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, log, log1p, sqrt

import numpy as np

from spec.errors import InvalidInputError
from spec.exact import Vector
from verify.evidence.anytime import UNIT, NoiseClass, VarianceBets
from verify.evidence.bets.betting import LONGER, MUCH_LONGER, NOTHING, OFTEN, SEEN_CALLS, beyond, class_of, is_decided
from verify.evidence.budget import EFFORT_STEP
from verify.evidence.decisions import FEW, LIMIT, MOST, ROUNDING, SampledDecision
from verify.evidence.model import ComparisonEvidence, Relation
from verify.evidence.samples.laws import SquareLaw
from verify.evidence.samples.moments import Moments
from verify.evidence.samples.premises_of_laws import correlated, seen_of, shared
from verify.evidence.samples.shapes import ALARM, Shape
from verify.evidence.streams import Sampler

BETS_TRIED = np.geomspace(1e-6, 1e3, 4000)
"""Of which the best against a violation of the wanted size is taken, in units of one over the mean square."""


class SquareBets(VarianceBets):
    """Bets that the mean squared length of rows is larger than a level says."""

    def add(self, rows: Vector) -> None:
        """Take in a block, shape (k, n): the squared lengths of its rows."""
        self.units(np.einsum("ij,ij->i", rows, rows))


@dataclass(frozen=True, kw_only=True)
class SquareBound(SampledDecision):
    """Mean squared length of n-vectors, around the sampler's centre, against its expectation or another value.

    The law is that of one under the claim. A subject that just meets a larger ``predicted`` value has a law scaled up
    to it, so the wanted violation is scaled as well; against a smaller one it is of the law's expectation.

    Raises:
        InvalidInputError: If the law's expectation is not > 0.
    """

    law: SquareLaw
    relation: Relation = "=="
    predicted: float | None = None
    wanted: float = 0.5

    def __post_init__(self) -> None:
        if not self.law.expectation > 0:
            raise InvalidInputError("law", "must have an expectation > 0", self.law.expectation)

    @property
    def _level(self) -> float:
        return self.law.expectation if self.predicted is None else self.predicted

    @property
    def _unit(self) -> float:
        """What the wanted violation is a share of."""
        return max(self._level, self.law.expectation)

    @property
    def _scatter(self) -> float:
        """Variance of one squared length over its squared mean."""
        return self.law.variance / self.law.expectation**2

    @cached_property
    def needed(self) -> int:
        """Samples at which a violation of the wanted size is refuted, on average."""
        growth = min(self.wanted**2 / (2 * self._scatter * (1 + self.wanted) ** 2) if self._scatter else inf,
                     log1p(self.wanted))  # fmt: skip
        return ceil(log(2 / self.share.error) / growth)

    def run(self, sampler: Sampler) -> ComparisonEvidence:
        """Draw until decided, or until enough is drawn for this level of effort."""
        bets = sampler.follow(self.bets())
        while True:
            moments = sampler.reach(max(2, sampler.moments.count))
            evidence = self.looked(bets, moments)
            longer = LONGER if evidence.broken or self._is_light(moments.shape) else MUCH_LONGER
            enough = min(longer * min(self.needed, LIMIT), MOST) * EFFORT_STEP**self.share.level
            if is_decided(evidence) or moments.count >= max(enough, SEEN_CALLS * sampler.block, FEW):
                return evidence
            sampler.reach(moments.count + 1 + moments.count // OFTEN)

    def bets(self) -> SquareBets:
        """Those that :meth:`run` lays: half of the wealth on the one that is best against the wanted violation."""
        # Variances of units of so many Gaussian components scatter as much.
        return SquareBets.against(self._unit, 2 / ((UNIT - 1) * max(self._scatter, ROUNDING)), self.wanted)

    def looked(self, bets: VarianceBets, moments: Moments) -> ComparisonEvidence:
        """What the bets and the samples so far say."""
        level, shape = self._level, moments.shape
        within, sides = class_of(self.share, light=self._is_light(shape)), 2 if self.relation == "==" else 1
        error, missed = self.share.error / sides, self.share.unseen / sides
        bet, price = self._bet(within)

        def most(at: float) -> float:
            left = bets.count * price + log(at)
            return bet * bets.total / left if left > 0 else inf

        measured = bets.mean
        up, down = measured - bets.least(error), most(error) - measured
        left_open = {"<=": most(missed) - level, ">=": level - bets.least(missed)}
        from_above = self.relation == "<=" or (self.relation == "==" and measured > level)
        rounding = ROUNDING * abs(level)
        broken = self._beyond(within, moments)
        if from_above and measured - level > up + rounding:
            broken = None  # that needs no class
        elif not from_above and level - measured > down and moments.count < FEW and self.share.noise is None:
            broken = f"{moments.count} samples may lack what one in a hundred has, and {FEW} would not"
        broken = (correlated(shape) if not shape.is_silent else None) or shared(moments, 0.0) or broken
        unseen = broken is not None or moments.calls.count < SEEN_CALLS
        return self.compared(
            measured=measured, relation=self.relation, predicted=level,
            tolerance=inf if broken else max(0.0, up if from_above else down) + rounding,
            detectable=inf if unseen else max(0.0, left_open.get(self.relation, max(left_open.values()))),
            wanted=self._unit * self.wanted, samples=moments.count, samples_needed=self.needed,
            law="mean square (bets)", checked=seen_of(shape), broken=broken,
            refuted_under=NOTHING if from_above else self._words(within),
            supported_under=NOTHING if self.relation == ">=" else self._words(within),
        )  # fmt: skip

    def _words(self, within: NoiseClass) -> str:
        return "Gaussian of the covariance and mean predicted, up to a factor" if within.is_gaussian else within.name

    def _bet(self, within: NoiseClass) -> tuple[float, float]:
        """The best one, in units of one over the mean square, and what it gains a sample beside what it loses."""
        prices = -self._log_mgf(within, BETS_TRIED)
        best = int(np.argmax(prices - BETS_TRIED / (1 + self.wanted)))
        return float(BETS_TRIED[best]), float(prices[best])

    def _log_mgf(self, within: NoiseClass, bets: Vector) -> Vector:
        """A bound of log E exp(-b X/E X), X a squared length."""
        if within.is_gaussian:
            return self.law.log_mgf(-bets / self.law.expectation)
        spread, away = sqrt(sum(self.law.weights)), sqrt(sum(self.law.shifts))
        if within.top is not None:
            # The chord of exp over all lengths that the noise may have around its mean.
            most = (sqrt(within.top) * spread + away) ** 2 / self.law.expectation
            return np.asarray(np.log1p(np.expm1(-bets * most) / most))
        if within.kurtosis in (None, inf):
            return np.zeros_like(bets)
        # By Minkowski: the fourth root of E‖d + s‖⁴ is at most that of E‖d‖⁴ and ‖s‖.
        kurtosis = ((within.kurtosis or 1.0) ** 0.25 * spread + away) ** 4 / self.law.expectation**2
        return np.asarray(np.log1p(-bets + bets * bets * kurtosis / 2))

    def _is_light(self, shape: Shape) -> bool:
        """Whether tails are no heavier than those of Gaussian vectors with the law's covariance."""
        if shape.is_silent:
            return True
        weights = np.array(self.law.weights)
        directions = float(weights.sum() ** 2 / (weights**2).sum()) if weights.any() else float(shape.width)
        expected = 3 * shape.width / (shape.width + 2) * (1 + 2 / directions)
        allowed = expected * ALARM * sqrt(8 / (directions * (directions + 2) * shape.count))
        return bool(shape.kurtosis[0] - expected <= allowed)

    def _beyond(self, within: NoiseClass, moments: Moments) -> str | None:
        """That the samples are not of the class."""
        shape, n = moments.shape, moments.shape.width
        if shape.is_silent:
            return None
        light = self._is_light(shape)
        return beyond(within, moments, shape.kurtosis[0] * (n + 2) / (3 * n), self.share, light=light)
