"""Comparisons of a sampled mean or variance with a predicted value, each with its error, power and sample size.

A decision draws until it refutes, or until a violation of the wanted size would have been refuted with the promised
power. It never decides a verdict: it returns evidence that says what was seen and what would have been seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite, sqrt
from typing import Literal

import numpy as np

from verify.evidence.budget import Share
from verify.evidence.laws import SquareLaw, chi2_lower, chi2_upper, f_upper, normal_upper
from verify.evidence.model import ComparisonEvidence
from verify.evidence.moments import Moments
from verify.evidence.sequential import Looks
from verify.evidence.streams import BLOCK, Sampler

Relation = Literal["<=", ">=", "=="]
LOOKS = 3
"""Planned looks of a sequence that does not refute early."""
LIMIT = 1 << 21
"""Samples a decision draws at most in one run; a violation that would take more leaves it undecided."""
ROUNDING = 1e-12
"""Relative rounding allowed where a quantity has no sampling error."""


@dataclass(frozen=True)
class VarianceDecision:
    r"""Total variance of isotropic Gaussian vectors against a level; exact chi-square law.

    Args:
        quantity: What is compared, in words.
        level: Predicted trace of the covariance, >= 0.
        width: Components n of a vector.
        share: What it may spend.
        relation: Between the variance and the level.
        wanted: Relative violation that must be caught with the share's power.
        limit: Samples at most.
        block: Sample sizes are multiples of this.
    """

    quantity: str
    level: float
    width: int
    share: Share
    relation: Relation = "=="
    wanted: float = 0.05
    limit: int = LIMIT
    block: int = BLOCK
    context: dict[str, float | str] = field(default_factory=dict)
    role: Literal["conclusion", "support"] = "conclusion"

    def tolerance(self, samples: int, error: float) -> float:
        """Relative deviation that is refuted at this sample size; the larger side, so both tails are covered."""
        dof = float(self.width * (samples - 1))
        up = chi2_upper(dof, error / (2 if self.relation == "==" else 1)) / dof - 1
        if self.relation == "<=":
            return up
        down = 1 - chi2_lower(dof, error / (2 if self.relation == "==" else 1)) / dof
        return down if self.relation == ">=" else max(up, down)

    def detectable(self, samples: int, error: float) -> float:
        """Smallest relative violation, in either direction that counts, refuted with the promised power."""
        dof, tolerance = float(self.width * (samples - 1)), self.tolerance(samples, error)
        found = 0.0
        if self.relation != ">=":
            found = (1 + tolerance) * dof / chi2_lower(dof, self.share.missed) - 1
        if self.relation != "<=":
            found = max(found, 1 - max(0.0, 1 - tolerance) * dof / chi2_upper(dof, self.share.missed))
        return found

    @cached_property
    def needed(self) -> int:
        """Samples at which the wanted violation is detectable, in whole blocks."""
        error = self.share.error / (LOOKS * (LOOKS + 1))
        return _smallest(lambda samples: self.detectable(samples, error) <= self.wanted, self.block)

    def seen(self, moments: Moments) -> float:
        """What is compared with the level."""
        return moments.variance

    def run(self, sampler: Sampler) -> ComparisonEvidence:
        """Draw and compare."""
        if self.level == 0:
            moments = sampler.reach(self.block)
            return self._evidence(self.seen(moments), 0.0, moments.count, 0.0)
        planned = Looks.ending_at(min(self.needed, self.limit), LOOKS, self.share.error)
        while True:
            sampler.look = look = max(1, sampler.look)
            moments = sampler.reach(planned.size(look))
            error = planned.spends(look)
            tolerance = self.level * self.tolerance(moments.count, error)
            detectable = self.detectable(moments.count, error)
            measured = self.seen(moments)
            refuted = _refuted(measured, self.relation, self.level, tolerance)
            if refuted or _is_last(look, self.share, seen=detectable <= self.wanted):
                return self._evidence(measured, tolerance, moments.count, self.level * detectable)
            sampler.look += 1

    def _evidence(self, measured: float, tolerance: float, samples: int, detectable: float) -> ComparisonEvidence:
        return ComparisonEvidence(
            quantity=self.quantity, measured=measured, relation=self.relation, predicted=self.level,
            tolerance=tolerance, context=self.context, rung="statistical", error_rate=self.share.error,
            role=self.role, detectable=detectable, wanted=self.level * self.wanted, power=1 - self.share.missed,
            samples=samples, samples_needed=self.needed, law="variance (chi-square)",
        )  # fmt: skip


@dataclass(frozen=True)
class MeanDecision:
    r"""Mean of isotropic Gaussian vectors of unknown variance against a known one; exact F law.

    :math:`N\|\bar X - \mu\|^2 / (n S^2) \sim F_{n, n(N-1)}` with :math:`S^2` the pooled variance per component.
    What is compared is the distance of the means, in units of X.

    Args:
        quantity: What is compared, in words.
        width: Components n of a vector.
        share: What it may spend.
        wanted: Shift that must be caught, as a share of the root mean square :math:`\sqrt{n} S` of the noise.
        limit: Samples at most.
        block: Sample sizes are multiples of this.
    """

    quantity: str
    width: int
    share: Share
    wanted: float = 0.01
    limit: int = LIMIT
    block: int = BLOCK
    context: dict[str, float | str] = field(default_factory=dict)
    role: Literal["conclusion", "support"] = "conclusion"

    def tolerance(self, samples: int, error: float) -> float:
        """Shift that is refuted, in units of the noise's root mean square."""
        n = self.width
        return sqrt(f_upper(float(n), float(n * (samples - 1)), error) / samples)

    def detectable(self, samples: int, error: float) -> float:
        """Smallest shift refuted with the promised power, in the same units.

        A shift of length s leaves the mean closer than the tolerance t only if noise moves it back by s - t: in its
        direction the mean is normal, and the pooled deviation exceeds its value with a chi-square law.
        """
        n, dof = self.width, float(self.width * (samples - 1))
        missed = self.share.missed / 2
        scale = sqrt(chi2_upper(dof, missed) / dof)
        back = normal_upper(missed) / sqrt(samples * n)
        return self.tolerance(samples, error) * scale + back

    @cached_property
    def needed(self) -> int:
        """Samples at which the wanted shift is detectable, in whole blocks."""
        error = self.share.error / (LOOKS * (LOOKS + 1))
        return _smallest(lambda samples: self.detectable(samples, error) <= self.wanted, self.block)

    def run(self, sampler: Sampler) -> ComparisonEvidence:
        """Draw and compare; the sampler's centre is the predicted mean."""
        planned = Looks.ending_at(min(self.needed, self.limit), LOOKS, self.share.error)
        while True:
            sampler.look = look = max(1, sampler.look)
            moments = sampler.reach(planned.size(look))
            error = planned.spends(look)
            noise = sqrt(moments.variance)
            measured = float(np.linalg.norm(moments.mean))
            # Where nothing scatters, only rounding separates equal means.
            rounding = ROUNDING * (1 + float(np.linalg.norm(moments.centre)))
            tolerance = noise * self.tolerance(moments.count, error) + rounding
            detectable = self.detectable(moments.count, error)
            if measured > tolerance or _is_last(look, self.share, seen=detectable <= self.wanted):
                return ComparisonEvidence(
                    quantity=self.quantity, measured=measured, relation="==", predicted=0.0, tolerance=tolerance,
                    context=self.context, rung="statistical", error_rate=self.share.error, role=self.role,
                    detectable=noise * detectable, wanted=noise * self.wanted, power=1 - self.share.missed,
                    samples=moments.count, samples_needed=self.needed, law="mean (F)",
                )  # fmt: skip
            sampler.look += 1


@dataclass(frozen=True)
class SquareDecision:
    """Mean squared length of Gaussian vectors of known law against its expectation; Chernoff bounds, exact exponents.

    Args:
        quantity: What is compared, in words.
        law: Law of the mean square under the prediction, its count the sample size.
        share: What it may spend.
        relation: Between the mean square and the predicted value.
        predicted: What it is compared with, if not the law's own expectation. A subject that just meets a larger
            value has a law scaled up to it, so the tolerance is scaled as well.
        wanted: Violation that must be caught, relative to the larger of both.
    """

    quantity: str
    law: SquareLaw
    share: Share
    relation: Relation = "=="
    predicted: float | None = None
    wanted: float = 0.5
    context: dict[str, float | str] = field(default_factory=dict)
    role: Literal["conclusion", "support"] = "conclusion"

    def evidence(self, measured: float) -> ComparisonEvidence:
        """Compare a measured mean square."""
        expected = self.law.expectation
        predicted = expected if self.predicted is None else self.predicted
        error = self.share.single.error / (2 if self.relation == "==" else 1)
        # A mean square larger by a factor keeps its law scaled by that factor.
        scale = max(1.0, predicted / expected) if expected > 0 else 1.0
        up, down = scale * (self.law.upper(error) - expected), scale * (expected - self.law.lower(error))
        tolerance = {"<=": up, ">=": down}.get(self.relation, max(up, down))
        missed_low, missed_high = self.law.lower(self.share.missed), self.law.upper(self.share.missed)
        larger = (predicted + tolerance) * expected / missed_low - predicted if missed_low > 0 else inf
        smaller = predicted - max(0.0, predicted - tolerance) * expected / missed_high
        detectable = {"<=": larger, ">=": smaller}.get(self.relation, max(larger, smaller))
        wanted = scale * expected * self.wanted
        growth = detectable / wanted if wanted > 0 else inf
        return ComparisonEvidence(
            quantity=self.quantity, measured=measured, relation=self.relation, predicted=predicted,
            tolerance=tolerance + ROUNDING * abs(predicted), context=self.context, rung="statistical",
            error_rate=self.share.error, role=self.role, detectable=detectable,
            wanted=wanted, power=1 - self.share.missed, samples=self.law.count,
            samples_needed=int(self.law.count * growth**2) if isfinite(growth) else None, law="mean square (Chernoff)",
        )  # fmt: skip


def _is_last(look: int, share: Share, *, seen: bool) -> bool:
    """Whether a sequence that has not refuted ends here: at its planned end, or beyond once enough would be seen."""
    return look >= LOOKS + share.level or (look >= LOOKS and seen)


def _refuted(measured: float, relation: Relation, predicted: float, tolerance: float) -> bool:
    made = ComparisonEvidence(
        quantity="", measured=measured, relation=relation, predicted=predicted, tolerance=tolerance
    )
    return not made.holds


def _smallest(enough: Callable[[int], bool], block: int) -> int:
    """Smallest whole number of blocks that is enough, to a hundredth."""
    low, high = 0, 1
    while not enough(high * block):
        low, high = high, high * 2
        if high * block > 1 << 40:
            return high * block
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle * block) else (middle, high)
    return high * block
