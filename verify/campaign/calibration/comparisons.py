"""The comparisons that checks make, each as something to run on subjects right or wrong by a known amount."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from spec import REPAIRED
from spec.atlas import find
from spec.claims import find as find_claim
from spec.exact import Vector
from verify.checks.measuring.case import Case, find_profile
from verify.checks.measuring.estimates.samples import ADDITIVE, SampleSetting, second_moment
from verify.checks.measuring.premises import regular_truth
from verify.evidence.bets.betting import DrawsDecision, MeanBound, VarianceBound
from verify.evidence.bets.correlations import CorrelationDecision, DirectionBound, DirectionDecision
from verify.evidence.bets.squares import SquareBound
from verify.evidence.budget import Share
from verify.evidence.decisions import BoundDecision, VarianceDecision
from verify.evidence.model import ComparisonEvidence, Law, RateEvidence, Relation
from verify.evidence.repeats import answers_needed, different_answers, repeats
from verify.evidence.samples.laws import SquareLaw
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls

BLOCK = 512
"""Samples a block: calibration wants many small decisions, not few large ones."""
SAMPLES = 2048
STREAM = 512
"""Rows of a stream held against itself and another."""

Evidence = ComparisonEvidence | RateEvidence


@dataclass
class Bent:
    """The reference, its samples moved away from their exact mean by known amounts.

    ``factor`` is on the deviations, by N_g; ``lengthwise`` is a further one on those of the first component.
    """

    mean: Vector
    factor: Callable[[int], float] = lambda _: 1.0
    shift: float = 0.0
    lengthwise: float = 1.0
    name: str = "bent"

    def hypergradient_samples(self, problem: object, x: Vector, call: object, rng: object, count: int) -> Vector:
        """Independent estimates, bent."""
        right = ReferenceSubject().hypergradient_samples(problem, x, call, rng, count)  # type: ignore[arg-type]  # passed through
        deviations = self.factor(call.parameters.N_g) * (right - self.mean)  # type: ignore[attr-defined]  # a Call
        deviations[:, 0] *= self.lengthwise
        return self.mean + deviations + self.shift


@dataclass(frozen=True)
class ComparisonKind:
    """One kind of decision; every law that a check's evidence names has one."""

    law: Law
    variant: str
    run: Callable[[Case, Share, float], Evidence]
    """From a case, its share, and how much to bend, to evidence."""
    right: float = 0.0
    """How much a subject may be bent and still be right: as far as the claim leaves open."""
    sign: Literal[1, -1] = 1
    """Which way a wrong subject is bent."""
    relative: bool = False
    """Whether the bend is a share of the predicted value."""
    supports: bool = False
    """Whether what is promised of a violation of the wanted size is that it is seldom supported, at whatever look."""

    @property
    def name(self) -> str:
        """In the table."""
        return f"{self.law}, {self.variant}" if self.variant else self.law

    def bend(self, evidence: Evidence) -> float:
        """The smallest violation that evidence on a right subject states, in the terms of :attr:`run`."""
        wanted = evidence.wanted if self.supports and isinstance(evidence, ComparisonEvidence) else evidence.detectable
        size = self.sign * (wanted or 0.0)
        return size / evidence.predicted if self.relative and isinstance(evidence, ComparisonEvidence) else size


def bare_case(seed: int, number: int, which: int, bent: int) -> Case:
    """A case for one run, its randomness from the run's number alone."""
    return Case(
        claim="variance-bound", bound=find_claim("variance-bound").repaired.bound, reading_name="repaired",
        reading=REPAIRED, instance=find("two-of-three"), stages=StageCalls(ReferenceSubject()),
        profile=find_profile("ci"), rng=np.random.default_rng([seed, number, which, bent]),
    )  # fmt: skip


def bent_setting(case: Case, *, N_g: int = 1, **how: Any) -> SampleSetting:
    """Where a subject is sampled that is :class:`Bent` like this."""
    setting = SampleSetting.at(case, regular_truth(case.instance), 0.1, ADDITIVE, N_g=N_g)
    return replace(setting, case=replace(setting.case, stages=StageCalls(Bent(setting.mean, **how))))


def _variance_of(setting: SampleSetting) -> float:
    return second_moment(setting, ADDITIVE)


def _mean(case: Case, share: Share, bend: float) -> Evidence:
    setting = bent_setting(case, shift=bend / len(case.x) ** 0.5)
    decision = MeanBound("mean", share, width=len(case.x), second_moment=_variance_of(setting), wanted=0.1, block=BLOCK)
    return decision.run(setting.sampler(block=BLOCK))


def _variance(
    relation: Relation, kind: type[VarianceDecision] = VarianceBound
) -> Callable[[Case, Share, float], Evidence]:
    def run(case: Case, share: Share, bend: float) -> Evidence:
        setting = bent_setting(case, factor=lambda _: (1 + bend) ** 0.5)
        decision = kind(
            quantity="variance", level=_variance_of(setting), width=len(case.x), share=share,
            relation=relation, wanted=0.1, block=BLOCK,
        )  # fmt: skip
        return decision.run(setting.sampler(block=BLOCK))

    return run


def _direction(kind: type[DirectionDecision]) -> Callable[[Case, Share, float], Evidence]:
    def run(case: Case, share: Share, bend: float) -> Evidence:
        setting = bent_setting(case, lengthwise=(1 + bend) ** 0.5)
        level = _variance_of(setting)
        whole = VarianceDecision("variance", share, level=level, width=len(case.x), wanted=0.2, block=BLOCK)
        return kind.of(whole).run(setting.sampler(block=BLOCK, together=True))

    return run


def _correlation(where: Literal["within", "between"]) -> Callable[[Case, Share, float], Evidence]:
    def run(case: Case, share: Share, bend: float) -> Evidence:
        decision = CorrelationDecision(quantity="correlation", share=share)
        own, fresh = case.rng.standard_normal((2, STREAM, 2))
        if where == "between":
            return decision.between(own, bend * np.roll(own, 100, axis=0) + (1 - bend**2) ** 0.5 * fresh)
        # The second half of the rows takes after the first.
        half = STREAM // 2
        own[half:] = bend * own[:half] + (1 - bend**2) ** 0.5 * fresh[half:]
        return decision.within(own)

    return run


def _square(relation: Relation, ratio: float = 1.0) -> Callable[[Case, Share, float], Evidence]:
    """A mean square against its own expectation, or against another value: that value is then the right subject's."""

    def run(case: Case, share: Share, bend: float) -> Evidence:
        # A larger mean square is larger in both parts.
        setting = bent_setting(case, factor=lambda _: (ratio * (1 + bend)) ** 0.5)
        n, variance = len(case.x), _variance_of(setting)
        # Away from their centre by one deviation.
        away = np.zeros(n)
        away[0] = variance**0.5
        law = SquareLaw((variance / n,) * n, tuple((away**2).tolist()))
        centre = setting.mean - (ratio * (1 + bend)) ** 0.5 * away
        predicted = None if ratio == 1 else ratio * law.expectation
        decision = SquareBound(
            "mean square", share, law=law, relation=relation, predicted=predicted, wanted=0.2 * max(1.0, 1 / ratio)
        )
        return decision.run(setting.sampler(block=BLOCK, around=centre))

    return run


def _bounded(case: Case, share: Share, bend: float) -> Evidence:
    values = 0.1 + 0.2 * case.rng.random(SAMPLES) + bend
    return BoundDecision("mean", share, predicted=0.2, wanted=1.0).mean(values, 1.0)


def _median(case: Case, share: Share, bend: float) -> Evidence:
    values = case.rng.exponential(size=SAMPLES) + bend
    return BoundDecision("median", share, predicted=float(np.log(2)), wanted=1.0).median(values)


def _answers(case: Case, share: Share, bend: float) -> Evidence:
    """One estimate in a hundred has another value than the rest; a wrong subject has none such."""
    rows = (case.rng.random((answers_needed(share.error), 1)) < (0.0 if bend else 0.01)).astype(np.float64)
    return different_answers(rows, share, "different answers")


def _repeats(case: Case, share: Share, bend: float) -> Evidence:
    """Estimates of few values; of a wrong subject so many more come twice in its own calls."""
    here, there = (np.floor(SAMPLES * case.rng.random((rows, 1))) for rows in (SAMPLES // 2, SAMPLES))
    twice = np.repeat(SAMPLES + np.arange(round(bend)), 2)[:, None]
    return repeats(np.vstack([here, twice]), there, share, "repeats")


def _draws(case: Case, share: Share, bend: float) -> Evidence:
    setting = bent_setting(case, factor=lambda _: (1 + bend) ** 0.5)
    scale = (_variance_of(setting) / len(case.x)) ** 0.5
    decision = DrawsDecision("draws", share, width=len(case.x), scale=scale, block=BLOCK)
    return decision.run(setting.sampler(block=BLOCK))


COMPARISONS = (
    ComparisonKind("mean (bets)", "", _mean, supports=True),
    ComparisonKind("variance (bets)", "both sides", _variance("=="), relative=True, supports=True),
    ComparisonKind("variance (bets)", "from above", _variance("<="), relative=True, supports=True),
    ComparisonKind("variance (bets)", "from below", _variance(">="), relative=True, sign=-1, supports=True),
    ComparisonKind("variance (chi-square)", "both sides", _variance("==", VarianceDecision), relative=True),
    ComparisonKind("variances along directions (chi-square)", "", _direction(DirectionDecision), relative=True),
    ComparisonKind("variances along directions (bets)", "", _direction(DirectionBound), relative=True, supports=True),
    ComparisonKind("correlations (bilinear)", "within a stream", _correlation("within")),
    ComparisonKind("correlations (bilinear)", "between streams", _correlation("between")),
    ComparisonKind("mean square (bets)", "both sides", _square("=="), relative=True, supports=True),
    ComparisonKind("mean square (bets)", "from above", _square("<="), relative=True, supports=True),
    ComparisonKind("mean square (bets)", "from below", _square(">="), relative=True, sign=-1, supports=True),
    ComparisonKind("mean square (bets)", "against twice the law's", _square("<=", 2.0), relative=True, supports=True),
    ComparisonKind(
        "mean square (bets)", "against a hundredth of it", _square("==", 0.01), relative=True, supports=True
    ),
    ComparisonKind("bounded mean (Bernstein)", "", _bounded),
    ComparisonKind("median (order statistics)", "", _median),
    ComparisonKind("different answers (fourth moment)", "", _answers),
    ComparisonKind("repeats (lots)", "", _repeats),
    ComparisonKind("draws (bets)", "", _draws, supports=True),
)
