"""Comparisons of a sampled mean, median or variance with a prediction, each with its error, power and sample size.

A decision draws until it refutes, or until a violation of the wanted size would have been refuted with the promised
power. It never decides a verdict: it returns evidence that says what was seen and what would have been seen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.evidence.budget import Share
from verify.evidence.intervals import Looks, mean_interval, median_interval
from verify.evidence.model import STANDS_FOR, ComparisonEvidence, Relation, Role
from verify.evidence.samples.laws import chi2_lower, chi2_upper
from verify.evidence.samples.moments import Moments
from verify.evidence.samples.premises_of_laws import Taken, law_of_variance
from verify.evidence.streams import BLOCK, Sampler

LOOKS = 3
"""Planned looks of a sequence that does not refute early."""
FURTHER = 3
"""Looks beyond those where the law for Gaussian samples was not to be had, if they are enough."""
MOST = 1 << 22
"""Samples drawn at most in such looks."""
FEW = 1 << 11
"""Samples that miss what one in a hundred has once in a thousand million times at most."""
LIMIT = 1 << 21
"""Samples a decision draws at most in one run; a violation that would take more leaves it undecided."""
BETS = "(bets)"
"""How the laws of bets are named; their false supports have a budget of a run."""
ROUNDING = 1e-12
"""Relative rounding allowed where a quantity has no sampling error."""


@dataclass(frozen=True)
class SampledDecision:
    """What every comparison of samples is given.

    ``wanted`` is the violation that must be caught with the share's power; relative, unless the kind says otherwise.
    """

    quantity: str
    share: Share
    wanted: float = field(kw_only=True)
    context: dict[str, float | str] = field(default_factory=dict, kw_only=True)
    role: Role = field(default="conclusion", kw_only=True)

    def compared(self, **numbers: Any) -> ComparisonEvidence:
        """The evidence, for its numbers and its law."""
        power = 1 - (self.share.unseen if str(numbers.get("law")).endswith(BETS) else self.share.missed)
        return ComparisonEvidence(
            quantity=self.quantity, context=self.context, rung="statistical", error_rate=self.share.error,
            role=self.role, **{"power": power} | numbers,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GrowingDecision(SampledDecision, ABC):
    """A decision about a sample of ``width`` component vectors that grows, by whole blocks, until it is settled."""

    width: int
    limit: int = LIMIT
    block: int = BLOCK

    @abstractmethod
    def tolerance(self, samples: float, error: float) -> float:
        """Relative deviation that is refuted at this sample size."""

    @abstractmethod
    def detectable(self, samples: float, error: float) -> float:
        """Smallest relative violation refuted with the promised power."""

    @abstractmethod
    def evidence(self, moments: Moments, error: float) -> ComparisonEvidence:
        """What the samples so far say, for the error that may be spent on them."""

    @property
    def may_lack(self) -> float:
        """What is measured below it in few samples may lack something rare that they have not met yet."""
        return 0.0

    @cached_property
    def needed(self) -> int:
        """Samples at which the wanted violation is detectable, in whole blocks."""
        error = self.share.error / (LOOKS * (LOOKS + 1))
        return smallest(lambda samples: self.detectable(samples, error) <= self.wanted, self.block)

    def run(self, sampler: Sampler) -> ComparisonEvidence:
        """Draw and compare."""
        planned = Looks.ending_at(min(self.needed, self.limit), LOOKS, self.share.error)
        while True:
            sampler.look = look = max(1, sampler.look)
            moments = sampler.reach(planned.size(look))
            evidence = self.evidence(moments, planned.spends(look))
            # Its planned end, or beyond once enough would be seen. A law that assumes less may need more samples.
            enough = min(MOST, planned.size(LOOKS + FURTHER)) >= (evidence.samples_needed or 0)
            more = FURTHER if evidence.law in STANDS_FOR and enough and planned.size(look + 1) <= MOST else 0
            last = look >= LOOKS + self.share.level + more or (look >= LOOKS and evidence.powered)
            early = moments.count < FEW and 0 < evidence.measured < self.may_lack and not evidence.holds
            if early and last and planned.size(look + 1) > MOST:
                left = f"{moments.count} samples may lack what one in a hundred has, and {FEW} would not"
                return evidence.model_copy(update={"broken": left, "tolerance": inf, "detectable": inf})
            # One that few samples contradict from below looks on until they are no longer few.
            if (last and not early) or not (evidence.holds or early):
                return evidence
            sampler.look += 1


@dataclass(frozen=True, kw_only=True)
class VarianceDecision(GrowingDecision):
    """Total variance of isotropic Gaussian vectors against a level >= 0, the predicted trace; exact chi-square law.

    Other vectors are compared by a law that assumes less. ``slack`` is the level's own relative uncertainty.
    """

    level: float
    slack: float = 0.0
    relation: Relation = "=="
    wanted: float = 0.05

    def tolerance(self, samples: float, error: float) -> float:
        """Relative deviation that is refuted at this sample size; the larger side, so both tails are covered."""
        dof = float(self.width * (samples - 1))
        up = chi2_upper(dof, error / (2 if self.relation == "==" else 1)) / dof - 1 + self.slack
        if self.relation == "<=":
            return up
        down = 1 - chi2_lower(dof, error / (2 if self.relation == "==" else 1)) / dof + self.slack
        return down if self.relation == ">=" else max(up, down)

    def detectable(self, samples: float, error: float) -> float:
        """Smallest relative violation, in either direction that counts, refuted with the promised power."""
        dof, tolerance = float(self.width * (samples - 1)), self.tolerance(samples, error)
        larger = (1 + tolerance) * dof / chi2_lower(dof, self.share.missed) - 1 if self.relation != ">=" else 0.0
        if self.relation == "<=":
            return larger
        return max(larger, 1 - max(0.0, 1 - tolerance) * dof / chi2_upper(dof, self.share.missed))

    def seen(self, moments: Moments) -> float:
        """What is compared with the level."""
        return moments.variance

    def run(self, sampler: Sampler) -> ComparisonEvidence:
        """Draw and compare; of a quantity that must be zero one block says it all."""
        return super().run(sampler) if self.level else self.evidence(sampler.reach(self.block), self.share.error)

    @property
    def may_lack(self) -> float:
        """A variance too small may lack the few large deviations that make it."""
        return self.level

    def taken(self, moments: Moments, error: float) -> Taken:
        """The law that this sample's shape allows."""
        return law_of_variance(moments, error)

    def evidence(self, moments: Moments, error: float) -> ComparisonEvidence:
        """The variance beside the level."""
        taken, seen = self.taken(moments, error), self.seen(moments)
        samples = 1 + (moments.count - 1) * taken.worth
        tolerance, detectable = (
            self.level * self.tolerance(samples, error),
            self.level * self.detectable(samples, error),
        )
        # Too much is paid for by its own scatter; too little may be what a rare large deviation has yet to add.
        broken = taken.broken if self.relation != "<=" and seen < self.level - tolerance else None
        return self.compared(
            measured=seen, relation=self.relation, predicted=self.level,
            tolerance=inf if broken else tolerance, detectable=inf if broken else detectable,
            wanted=self.level * self.wanted, samples=moments.count, samples_needed=int(self.needed / taken.worth),
            law=taken.law, checked=taken.checked, broken=broken,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class BoundDecision(SampledDecision):
    """A mean or a median against an upper bound, whatever the law; the wanted excess is absolute.

    ``slack`` is the deterministic uncertainty of each value.
    """

    predicted: float
    slack: float = 0.0

    def mean(self, values: Vector, top: float) -> ComparisonEvidence:
        """The mean of independent values in [0, top], shape (R,)."""
        mean = float(values.mean())
        low, _ = mean_interval(values, top, self.share.single.error)
        # Missed if the sample's mean falls short of the true one by more than this leaves.
        short = mean_interval(values, top, self.share.missed)[1] - mean
        return self.compared(
            measured=mean, relation="<=", predicted=self.predicted, tolerance=mean - low + self.slack,
            detectable=2 * (mean - low) + short + 2 * self.slack, wanted=self.wanted, samples=len(values),
            law="bounded mean (Bernstein)",
        )  # fmt: skip

    def median(self, values: Vector) -> ComparisonEvidence:
        """The median of independent values, shape (R,), by order statistics."""
        middle = float(np.median(values))
        low, high = median_interval(values, self.share.single.error)
        # A sample moved up by the interval's length has its lower end above the bound where its upper end exceeds the
        # true median; that it is as long in another sample is granted twice over.
        return self.compared(
            measured=middle, relation="<=", predicted=self.predicted, tolerance=middle - low + self.slack,
            detectable=2 * (high - low) + 2 * self.slack, wanted=self.wanted, samples=len(values),
            law="median (order statistics)",
        )  # fmt: skip


def smallest(enough: Callable[[int], bool], block: int) -> int:
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
