"""A second look at what the first leaves undecided, within the error that one look may spend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from verify.checks.measuring.case import Case, Measurement
from verify.evidence.model import ComparisonEvidence, RateEvidence
from verify.verdict import Verdict, decide


def looked_twice(case: Case, measure: Callable[[Case], Measurement]) -> Measurement:
    """A measurement, made once more with a step's more samples where it leaves its claim undecided.

    Both looks may err half as often as the case; the second one stands by itself.
    """
    half, level = case.error_budget / 2, case.level
    measurement = measure(replace(case, error_budget=half))
    if decide(case.bound, measurement.evidence).verdict is Verdict.INCONCLUSIVE:
        # As much may be spent on the second look as on the first: a level more takes less of a share.
        measurement = measure(replace(case, error_budget=half * (level + 3) / (level + 1), level=level + 1))
    # What either look may err by is what both together may.
    spent = {"error_rate": case.share.single.error}
    sampled = (RateEvidence, ComparisonEvidence)
    both = (
        one.model_copy(update=spent) if isinstance(one, sampled) and one.error_rate is not None else one
        for one in measurement.evidence
    )
    return replace(measurement, evidence=tuple(both))
