"""The laws decisions rest on, as something to run on subjects that are right or wrong by a known amount.

Intervals from order statistics and rates over boxes of them hold for every law by counting; they are not run here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from spec.claims import find as find_claim
from verify.statistics.budget import POWER, Share

if TYPE_CHECKING:
    from collections.abc import Callable

    from verify.checks.draws import Setting
    from verify.evidence import ComparisonEvidence, RateEvidence
    from verify.registry import Case
    from verify.subjects.protocol import Vector

BLOCK = 512
"""Samples a block: calibration wants many small decisions, not few large ones."""
BATCHES = (1, 2, 4, 8, 16)
RATE_SAMPLES = 2048
SQUARE_SAMPLES = 2048
BOUNDED_SAMPLES = 4096


@dataclass
class Bent:
    """The reference, its samples moved away from their exact mean by known amounts.

    Args:
        mean: Exact mean of the samples.
        factor: Factor on the deviations; of N_g where a rate is bent.
        shift: Added to every sample, shape (n,).
    """

    mean: Callable[[int], Vector]
    factor: Callable[[int], float]
    shift: float
    name: str = "bent"

    def hypergradient_samples(self, problem: object, x: Vector, call: object, rng: object, count: int) -> Vector:
        """Independent estimates, bent."""
        from verify.subjects.reference import ReferenceSubject

        right = ReferenceSubject().hypergradient_samples(problem, x, call, rng, count)  # type: ignore[arg-type]  # passed through
        N_g: int = call.parameters.N_g  # type: ignore[attr-defined]  # a Call
        mean = self.mean(N_g)
        made: Vector = mean + self.factor(N_g) * (right - mean) + self.shift
        return made


@dataclass(frozen=True)
class Kind:
    """One kind of decision.

    Args:
        name: In the table.
        run: From a case, its share, and how much to bend (variance factor, or exponent, or shift) to evidence.
        bend: From evidence on a right subject to the stated smallest violation, in the same terms.
    """

    name: str
    run: Callable[[Case, Share, float], ComparisonEvidence | RateEvidence]
    bend: Callable[[ComparisonEvidence | RateEvidence], float]


def kinds() -> tuple[Kind, ...]:
    """The laws that are calibrated."""
    return (
        Kind("mean (F law)", _mean, lambda e: e.detectable or 0.0),
        Kind("variance, both sides (chi-square)", _variance("=="), _relative),
        Kind("variance from above (chi-square)", _variance("<="), _relative),
        Kind("variance from below (chi-square)", _variance(">="), lambda e: -_relative(e)),
        Kind("mean square (Chernoff)", _square, _relative),
        Kind("exponent (log chi-square)", _rate, lambda e: e.detectable or 0.0),
        Kind("bounded mean (empirical Bernstein)", _bounded, lambda e: e.detectable or 0.0),
    )


def bare_case(seed: int, number: int, which: int, bent: int) -> Case:
    from spec import REPAIRED
    from spec.atlas import find
    from verify.profiles import find_profile
    from verify.registry import Case
    from verify.subjects import ReferenceSubject
    from verify.subjects.protocol import Stages

    return Case(
        claim="variance-bound",
        bound=find_claim("variance-bound").repaired.bound,
        reading_name="repaired",
        reading=REPAIRED,
        instance=find("two-of-three"),
        stages=Stages(ReferenceSubject()),
        profile=find_profile("ci"),
        rng=np.random.default_rng([seed, number, which, bent]),
    )


def _setting(
    case: Case, *, factor: Callable[[int], float] = lambda _: 1.0, shift: float = 0.0, N_g: int = 1
) -> Setting:
    from verify.checks.draws import ADDITIVE, Setting
    from verify.subjects.protocol import Stages
    from verify.truth import regular_truth

    setting = Setting.at(case, regular_truth(case.instance), 0.1, ADDITIVE, N_g=N_g)
    mean = setting.mean
    bent = Bent(lambda _: mean, factor, shift)
    return replace(setting, case=replace(setting.case, stages=Stages(bent)))


def _mean(case: Case, share: Share, bend: float) -> ComparisonEvidence:
    from verify.statistics.decisions import MeanDecision

    decision = MeanDecision(quantity="mean", width=len(case.x), share=share, wanted=0.1, block=BLOCK)
    shift = bend / len(case.x) ** 0.5
    return decision.run(_setting(case, shift=shift).sampler(block=BLOCK))


def _variance(relation: Literal["<=", ">=", "=="]) -> Callable[[Case, Share, float], ComparisonEvidence]:
    def run(case: Case, share: Share, bend: float) -> ComparisonEvidence:
        from verify.checks.draws import ADDITIVE, second_moment
        from verify.statistics.decisions import VarianceDecision

        setting = _setting(case, factor=lambda _: (1 + bend) ** 0.5)
        decision = VarianceDecision(
            quantity="variance", level=second_moment(setting, ADDITIVE), width=len(case.x), share=share,
            relation=relation, wanted=0.1, block=BLOCK,
        )  # fmt: skip
        return decision.run(setting.sampler(block=BLOCK))

    return run


def _square(case: Case, share: Share, bend: float) -> ComparisonEvidence:
    from verify.checks.draws import ADDITIVE, second_moment
    from verify.statistics.decisions import SquareDecision
    from verify.statistics.laws import SquareLaw
    from verify.statistics.moments import Moments

    setting = _setting(case)
    n, variance = len(case.x), second_moment(setting, ADDITIVE)
    away = np.zeros(n)
    away[0] = variance**0.5
    law = SquareLaw((variance / n,) * n, tuple((away**2).tolist()), SQUARE_SAMPLES)
    # Away from their centre by one deviation; a larger mean square is larger in both parts.
    samples = setting.draw(case.rng, SQUARE_SAMPLES) - setting.mean + away
    moments = Moments(np.zeros(n))
    moments.add((1 + bend) ** 0.5 * samples)
    return SquareDecision(quantity="mean square", law=law, share=share).evidence(moments.mean_square)


def _rate(case: Case, share: Share, bend: float) -> RateEvidence:
    from verify.statistics.rates import Estimate, fit_power_law

    estimates = []
    for N_g in BATCHES:
        setting = _setting(case, factor=lambda N: N ** (bend / 2), N_g=N_g)
        moments = setting.sampler(block=BLOCK).reach(RATE_SAMPLES)
        dof = float(len(case.x) * (moments.count - 1))
        estimates.append(Estimate({"N_g": float(N_g)}, moments.variance, dof, samples=moments.count))
    return fit_power_law(estimates, share, quantity="variance")["N_g"]


def _bounded(case: Case, share: Share, bend: float) -> ComparisonEvidence:
    """Mean of rare hits, a jump seen between two near points."""
    from verify.evidence import ComparisonEvidence
    from verify.statistics.sequential import EmpiricalBernstein

    rate = 0.05
    sequence = EmpiricalBernstein(share.error, BOUNDED_SAMPLES)
    sequence.add((case.rng.random(BOUNDED_SAMPLES) < rate + bend).astype(np.float64))
    low, high = sequence.interval()
    half = (high - low) / 2
    return ComparisonEvidence(
        quantity="bounded mean", measured=(low + high) / 2, relation="==", predicted=rate, tolerance=half,
        rung="statistical", error_rate=share.error, power=POWER, samples=BOUNDED_SAMPLES,
        # A larger rate scatters more and its interval is wider: by the root of the rate, which is at most doubled.
        detectable=2**0.5 * half * (1 + 3.1 / (2 * np.log(2 / share.error)) ** 0.5),
    )  # fmt: skip


def _relative(evidence: ComparisonEvidence | RateEvidence) -> float:
    from verify.evidence import ComparisonEvidence

    if not isinstance(evidence, ComparisonEvidence) or evidence.detectable is None:
        return 0.0
    return evidence.detectable / evidence.predicted
