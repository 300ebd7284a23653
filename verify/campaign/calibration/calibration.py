"""Run decisions many times on subjects that are right and on subjects that are barely wrong, and count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from spec.exact import Vector
from verify.campaign.calibration.comparisons import COMPARISONS, ComparisonKind, bare_case
from verify.campaign.calibration.exponents import exponent_kinds
from verify.campaign.calibration.law_columns import LawAchieved
from verify.campaign.calibration.outcomes import Outcome, outcome, runs_to_show
from verify.campaign.calibration.sweeps import asked, run_sweeps
from verify.checks.measuring.case import Case
from verify.evidence.budget import POWER, Share
from verify.evidence.model import ComparisonEvidence, FrozenData, RateEvidence
from verify.evidence.samples.laws import binomial_interval
from verify.verdict import Verdict, decide

CONFIDENCE = 0.999
"""Level of the intervals around achieved rates: with some fifty of them, one is off by chance in a run out of twenty
at most."""

SWEEP_RUNS = 200
"""Sampled sweeps of one law: fits cost more than comparisons."""


class Achieved(FrozenData):
    """How often one kind of decision came out wrong, with an interval at confidence 0.999.

    The promise is the largest probability of that; what was counted shows that it is kept, or broken, or neither.
    """

    decision: str
    runs: int
    wrong: int
    promised: float
    interval: tuple[float, float]
    outcome: Outcome

    @property
    def runs_needed(self) -> int:
        """Runs none of which would have to be wrong to show it kept."""
        return runs_to_show(self.promised, CONFIDENCE)


class Calibration(FrozenData):
    """Achieved error rates beside the promised ones: on subjects that are right, and barely wrong.

    ``budget`` is what a run of all kinds may refute falsely, ``whole`` how often one did; ``power`` is the promised
    probability of refuting a subject that is wrong by exactly the stated smallest violation. Of laws that sweeps have
    a right claim may be refuted, or one half an order stronger supported, as rarely; they may be left undecided.
    ``laws`` are decisions on noise of other laws, each at the whole budget.
    """

    budget: float
    power: float
    whole: Achieved
    false_refutations: tuple[Achieved, ...]
    missed_violations: tuple[Achieved, ...]
    laws: tuple[LawAchieved, ...] = ()
    sweeps_refuted: tuple[Achieved, ...] = ()
    sweeps_supported: tuple[Achieved, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Of all promises together: broken if one is, kept if all are."""
        outcomes = {row.outcome for row in self.rows} | {row.outcome for row in self.laws}
        return "broken" if "broken" in outcomes else "not shown" if "not shown" in outcomes else "kept"

    @property
    def rows(self) -> tuple[Achieved, ...]:
        """All rows of the table but those of other noise."""
        decisions = (self.whole, *self.false_refutations, *self.missed_violations)
        return (*decisions, *self.sweeps_refuted, *self.sweeps_supported)


def refuted(evidence: ComparisonEvidence | RateEvidence, case: Case) -> bool:
    """What the only verdict function says."""
    return decide(case.bound, [evidence]).verdict is Verdict.REFUTED


def _missed(kind: ComparisonKind, evidence: ComparisonEvidence | RateEvidence, case: Case) -> bool:
    """Whether a violation is supported, or where one sample size was to see it, not refuted."""
    verdict = decide(case.bound, [evidence]).verdict
    return verdict is Verdict.SUPPORTED if kind.supports else verdict is not Verdict.REFUTED


def run_many(numbers: Sequence[int], *, seed: int, budget: float) -> list[tuple[list[bool], list[bool]]]:
    """Runs by number: for each, which kinds refuted the right subject, and which missed the barely wrong one."""
    decisions = []
    share = Share(budget / len(kinds()))
    violations = _violations(share)
    for number in numbers:
        false, missed = [], []
        for which, kind in enumerate(kinds()):
            null = bare_case(seed, number, which, 0)
            false.append(refuted(kind.run(null, share, kind.right), null))
            wrong = bare_case(seed, number, which, 1)
            missed.append(_missed(kind, kind.run(wrong, share, violations[which]), wrong))
        decisions.append((false, missed))
    return decisions


def summarise(runs: Iterable[tuple[list[bool], list[bool]]], budget: float) -> Calibration:
    """Counts with their intervals."""
    rows = list(runs)
    names = [kind.name for kind in kinds()]
    false, missed = (np.array([row[which] for row in rows]) for which in (0, 1))

    def each(wrong: Vector, promised: float) -> tuple[Achieved, ...]:
        return tuple(_achieved(name, len(rows), int(wrong[:, i].sum()), promised) for i, name in enumerate(names))

    return Calibration(
        budget=budget, power=POWER,
        whole=_achieved("a whole run", len(rows), int(false.any(axis=1).sum()), budget),
        false_refutations=each(false, budget / len(names)), missed_violations=each(missed, 1 - POWER),
    )  # fmt: skip


def with_sweeps(table: Calibration, runs: int, seed: int) -> Calibration:
    """The table with the laws of sweeps, each over at most :data:`SWEEP_RUNS` runs."""
    share = Share(table.budget / len(asked()))
    refuted, supported = [], []
    for name, wrong in run_sweeps(min(runs, SWEEP_RUNS), seed=seed, share=share):
        refuted.append(_achieved(name, len(wrong), sum(right for right, _ in wrong), share.error))
        supported.append(_achieved(name, len(wrong), sum(stronger for _, stronger in wrong), share.missed))
    return table.model_copy(update={"sweeps_refuted": tuple(refuted), "sweeps_supported": tuple(supported)})


def _achieved(name: str, runs: int, wrong: int, promised: float) -> Achieved:
    interval = binomial_interval(wrong, runs, CONFIDENCE)
    return Achieved(
        decision=name, runs=runs, wrong=wrong, promised=promised, interval=interval, outcome=outcome(interval, promised)
    )


def _violations(share: Share) -> list[float]:
    """The smallest violation each kind states, read off one decision on a right subject."""
    return [kind.bend(kind.run(bare_case(0, 0, i, 2), share, kind.right)) for i, kind in enumerate(kinds())]


def kinds() -> tuple[ComparisonKind, ...]:
    """All kinds of decisions."""
    return (*COMPARISONS, *exponent_kinds())
