"""Decisions that look every few blocks: refuted, supported, or gone on with, at one error however often they look.

What refutes and what supports stand on premises of their own, and the evidence names both. A bound of a variance is
refuted from above under nothing but the bound, and supported within a class of laws: that of Gaussian noise, which
problem files state, and where samples are not Gaussian one fixed before. A mean needs the second moment that is stated.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, log, log1p, sqrt

import numpy as np

from spec.errors import InvalidInputError
from verify.evidence.anytime import GAUSSIAN, HEAVIER, UNIT, DrawsBets, MeanBets, NoiseClass, VarianceBets
from verify.evidence.budget import EFFORT_STEP, Share
from verify.evidence.decisions import LIMIT, MOST, ROUNDING, SampledDecision, VarianceDecision, smallest
from verify.evidence.model import ComparisonEvidence
from verify.evidence.samples.calls import CALLS, TWICE
from verify.evidence.samples.laws import chi2_lower
from verify.evidence.samples.moments import Moments
from verify.evidence.samples.premises_of_laws import correlated, law_of_calls, rare, seen_of, shared
from verify.evidence.streams import BLOCK, Sampler

NOTHING = "the bound alone"
"""Premises of a decision that has none beside independent estimates."""
NOTHING_BUT_THE_LAW = "no premise but the law that is refuted"
"""That of draws."""
STATED = "the second moment stated"
"""That of a mean."""
SEEN_CALLS = 4
"""Calls that show whether the estimates of one share noise: nothing is supported by fewer."""
OFTEN = 32
"""A look is taken after every block, and of many blocks where their number has grown by one part in so many."""
LONGER = 4
"""Times the sample that a decision planned ahead would take, at which what is still open is left so."""
MUCH_LONGER = 64
"""The same for noise of a wider class."""


def is_decided(comparison: ComparisonEvidence) -> bool:
    """Whether it refutes, or supports with the power that is wanted."""
    return comparison.broken is None and (comparison.powered or not comparison.holds)


def class_of(share: Share, *, light: bool) -> NoiseClass:
    """Within which a variance is supported from above: what is stated, or by what the samples' tails look like."""
    return share.noise or (GAUSSIAN if light else HEAVIER)


def is_tame(share: Share, moments: Moments) -> bool:
    """Whether so many samples decide as do of Gaussian noise."""
    return moments.shape.is_light and (share.noise is None or share.noise.is_gaussian)


def beyond(within: NoiseClass, moments: Moments, kurtosis: float, share: Share, *, light: bool) -> str | None:
    """That samples are not of the class in which they should be; ``kurtosis`` is E‖d‖⁴/(E‖d‖²)² as they have it."""
    if within.is_gaussian:
        told = share.noise is not None and not light
        return f"the samples' kurtosis is {kurtosis:.3g}: they are not Gaussian, as is stated" if told else None
    # What is stated is not contradicted by what samples of it may look like.
    chance = 0.0 if share.noise is None else moments.shape.kurtosis[1]
    if within.kurtosis is not None and kurtosis > within.kurtosis + chance:
        return f"the samples' kurtosis is {kurtosis:.3g}: nothing is decided from this side beyond {within.name}"
    return rare(moments.shape)


@dataclass(frozen=True, kw_only=True)
class VarianceBound(VarianceDecision):
    """Total variance of n-vectors against a level > 0: from above by bets, from below within a class of laws.

    Within the class that the share states it may be supported from above and refuted from below; where none is stated,
    within that of Gaussian noise, unless the samples' kurtosis is another. Where estimates of a call are correlated, or
    share noise, no bet holds: the planned looks decide then, at half of the error.
    """

    def run(self, sampler: Sampler) -> ComparisonEvidence:
        """Draw until decided, or until enough is drawn for this level of effort."""
        if not self.level:
            return super().run(sampler)
        if sampler.block < UNIT:
            raise InvalidInputError("block", f"must be >= {UNIT}", sampler.block)
        bets = sampler.follow(VarianceBets.against(self.level, self.width, self.wanted))
        while not sampler.look:
            moments = sampler.reach(max(2, sampler.moments.count))
            if moments.shape.is_dependent or shared(moments, 0.0):
                break
            evidence = self.looked(bets, moments)
            if is_decided(evidence) or moments.count >= self._enough(evidence, moments):
                return evidence
            sampler.reach(moments.count + 1 + moments.count // OFTEN)
        return self._planned(sampler)

    def _planned(self, sampler: Sampler) -> ComparisonEvidence:
        """By the law of dependent estimates, at a few planned sizes."""
        planned = VarianceDecision(
            self.quantity, self.share.part(2), level=self.level, slack=self.slack, relation=self.relation,
            wanted=self.wanted, width=self.width, limit=self.limit, block=self.block, context=self.context,
            role=self.role,
        )  # fmt: skip
        return planned.run(sampler).model_copy(update={"error_rate": self.share.error})

    def _enough(self, evidence: ComparisonEvidence, moments: Moments) -> float:
        # Beyond its class nothing but a refutation from above is waited for.
        longer = LONGER if evidence.broken or is_tame(self.share, moments) else MUCH_LONGER
        return float(min(longer * min(self.needed, self.limit), MOST) * EFFORT_STEP**self.share.level)

    def looked(self, bets: VarianceBets, moments: Moments) -> ComparisonEvidence:
        """What the bets and the samples so far say."""
        shape, light = moments.shape, moments.shape.is_light
        within, sides = class_of(self.share, light=light), 2 if self.relation == "==" else 1
        # Half of the error is kept for dependent estimates.
        error, missed = self.share.error / 2 / sides, self.share.unseen / sides
        width = self.width if shape.is_silent or shape.is_isotropic else 1
        bet, squares = within.bet(width, self.wanted), (float(moments.squares.sum()), float(moments.count - 1))

        def most(at: float) -> float:
            return within.most(bets, squares, width, bet, at)

        measured, slack, above = bets.mean, self.slack * self.level, bets.mean > self.level
        up, down = measured - bets.least(error), most(error) - measured
        left = {"<=": most(missed) - self.level, ">=": self.level - bets.least(missed)}
        from_above = self.relation == "<=" or (self.relation == "==" and above)
        broken = self._beyond(within, moments)
        if from_above and measured - self.level > up + slack:
            broken = None  # that needs no class
        # Noise that calls share is not seen before several are in.
        unseen = broken is not None or moments.calls.count < SEEN_CALLS
        return self.compared(
            measured=measured, relation=self.relation, predicted=self.level,
            tolerance=inf if broken else max(0.0, up if from_above else down) + slack,
            detectable=inf if unseen else max(0.0, left.get(self.relation, max(left.values()))) + slack,
            wanted=self.level * self.wanted + slack, samples=moments.count, samples_needed=self.needed,
            law="variance (bets)", checked=seen_of(shape), broken=broken,
            refuted_under=NOTHING if from_above else within.name,
            supported_under=NOTHING if self.relation == ">=" else within.name,
        )  # fmt: skip

    def _beyond(self, within: NoiseClass, moments: Moments) -> str | None:
        """That the samples are not of the class."""
        n = self.width
        if moments.shape.is_silent:
            return None
        kurtosis = moments.shape.kurtosis[0] * (n + 2) / (3 * n)
        return beyond(within, moments, kurtosis, self.share, light=moments.shape.is_light)


@dataclass(frozen=True, kw_only=True)
class DrawsDecision(SampledDecision):
    """Whether n-vectors are drawn from the law that a problem file states: independent Gaussian ones of one variance.

    Deviations are from the sampler's centre, which is the exact mean. ``scale`` is a component's standard deviation,
    ``wanted`` the relative excess of the variance that must be told; of other laws it is not said when they are.
    """

    width: int
    scale: float
    wanted: float = 0.2
    block: int = BLOCK

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise InvalidInputError("scale", "must be > 0", self.scale)

    @property
    def needed(self) -> int:
        """Samples that tell Gaussian ones of the wanted variance, but with the probability of a miss."""
        return smallest(lambda count: self._told(count), self.block)

    def _told(self, count: int) -> bool:
        s, dof = 1 + self.wanted, float(self.width * count)
        least = s * chi2_lower(dof, self.share.missed)
        return -dof / 2 * log(s) + least / 2 * (1 - 1 / s) + log(0.25) >= -log(self.share.error)

    def run(self, sampler: Sampler) -> ComparisonEvidence:
        """Draw until the bets have won, or until the wanted excess would have been told."""
        bets = sampler.follow(DrawsBets(self.width, self.scale, self.wanted))
        enough = self.needed * EFFORT_STEP**self.share.level
        while True:
            count = sampler.reach(max(2, sampler.moments.count)).count
            won, limit = bets.log_wealth, -log(self.share.error)
            if won >= limit or count >= enough:
                return self.compared(
                    measured=won, relation="<=", predicted=0.0, tolerance=limit, wanted=self.wanted,
                    detectable=self.wanted if self._told(count) else inf, samples=count, samples_needed=self.needed,
                    law="draws (bets)", checked=seen_of(sampler.moments.shape), refuted_under=NOTHING_BUT_THE_LAW,
                    supported_under=f"other laws told by {count:,} draws",
                )  # fmt: skip
            sampler.reach(count + 1 + count // OFTEN)


@dataclass(frozen=True, kw_only=True)
class MeanBound(SampledDecision):
    """Mean of n-vectors against a known one, given a bound ``second_moment`` > 0 of E‖X - EX‖², which is stated.

    The wanted shift is a share of its root. The sampler's centre is the predicted mean. Noise that estimates of a call
    share, or their correlation, does not show in bets: what they refute, and what they support of such estimates, is
    decided by the means of further calls, each of them one sample.
    """

    width: int
    second_moment: float
    wanted: float = 0.01
    limit: int = LIMIT
    block: int = BLOCK

    def __post_init__(self) -> None:
        if not self.second_moment > 0:
            raise InvalidInputError("second_moment", "must be > 0", self.second_moment)

    @property
    def needed(self) -> int:
        """Samples at which a shift of the wanted size is refuted, on average."""
        n = self.width
        price = log(1 / self.share.error) + n * log1p(3 * n)
        return ceil(2 * price * (1 + 2 * n) / (3 * n) / self.wanted**2)

    def run(self, sampler: Sampler) -> ComparisonEvidence:
        """Draw until decided, or until enough is drawn for this level of effort."""
        effort = EFFORT_STEP**self.share.level
        while True:
            moments = sampler.reach(max(2, sampler.moments.count))
            in_common, evidence = shared(moments, self._rounding(moments)), self.looked(moments)
            noise = in_common or correlated(moments.shape)
            # More estimates of a call do not outweigh what all of them share.
            last = moments.count >= effort * min(self.needed * (1 if in_common else LONGER), self.limit, MOST)
            due = not evidence.holds or (noise is not None and evidence.powered)
            at_size = moments.count >= sampler.look
            if due or (last and noise):
                # A run that ends here asks at once what a longer one leaves for later, and moves nothing of it.
                left_open = evidence.model_copy(update={"tolerance": inf, "detectable": inf})
                evidence = self._by_calls(sampler, evidence, noise) if last or at_size else left_open
            if due and at_size:
                sampler.look = 2 * moments.count
            if is_decided(evidence) or last:
                return evidence
            sampler.reach(moments.count + 1 + moments.count // OFTEN)

    def _rounding(self, moments: Moments) -> float:
        """Where nothing scatters, only rounding separates equal means."""
        return ROUNDING * (1 + float(np.linalg.norm(moments.centre)))

    def looked(self, moments: Moments) -> ComparisonEvidence:
        """What the bets say of all samples so far."""
        bets, rounding = MeanBets.of(moments, self.second_moment, self.wanted), self._rounding(moments)
        tolerance, left = bets.limits((self.share.error / 2, self.share.unseen))
        return self.compared(
            measured=float(np.linalg.norm(moments.mean)), relation="==", predicted=0.0, tolerance=tolerance + rounding,
            detectable=left if moments.calls.count >= SEEN_CALLS else inf,
            wanted=sqrt(self.second_moment) * self.wanted, samples=moments.count, samples_needed=self.needed,
            law="mean (bets)", checked=seen_of(moments.shape), refuted_under=STATED, supported_under=STATED,
        )  # fmt: skip

    def _by_calls(self, sampler: Sampler, evidence: ComparisonEvidence, noise: str | None) -> ComparisonEvidence:
        """The same by the means of further calls, at sizes that double, and the last."""
        moments = sampler.moments
        rounding, means = self._rounding(moments), Moments(moments.centre)
        means.add(sampler.means(CALLS, ceil(TWICE * moments.count / CALLS)))
        # At most two of them lie between a power of two and the next: the k-th two spend their part of the other half.
        k = max(1, (moments.count // sampler.block).bit_length())
        taken = law_of_calls(means, noise)
        errors = self.share.error / 4 / (k * (k + 1)), self.share.missed
        tolerance, detectable = taken.reach(means, errors, rounding)
        decided = {
            "measured": float(np.linalg.norm(means.mean)), "tolerance": tolerance + rounding, "detectable": detectable,
            "law": taken.law, "checked": taken.checked, "refuted_under": None, "supported_under": None,
        }  # fmt: skip
        return evidence.model_copy(update=decided)
