from __future__ import annotations

from dataclasses import replace

import numpy as np

from spec.atlas import find
from spec.claims import find as find_claim
from spec.reading import REPAIRED
from verify.checks.measuring.case import Case, Measurement, checks, compare, find_profile
from verify.checks.measuring.estimates.second_look import looked_twice
from verify.subjects.protocol import StageCalls
from verify.subjects.reference import ReferenceSubject
from verify.verdict import Verdict, decide

CLAIM = "goldstein-convergence/second-moment"


def case() -> Case:
    statement = find_claim(CLAIM)
    reading, sense = statement.interpreted("repaired")
    assert CLAIM in checks()
    assert reading == REPAIRED
    return Case(
        claim=CLAIM, bound=statement.assertion("repaired").bound, reading_name="repaired", reading=reading, sense=sense,
        instance=find("toy1"), stages=StageCalls(ReferenceSubject()), profile=find_profile("ci"),
        rng=np.random.default_rng(0), seed=0,
    )  # fmt: skip


def measured(tolerance: float, looks: list[Case], error: float | None = 1e-9) -> Measurement:
    """A sampled value within the bound by half a unit, and a numeric one that no error is spent on."""
    said = compare("a mean", 0.5, "<=", 1.0).model_copy(update={
        "rung": "statistical", "error_rate": error, "detectable": tolerance, "wanted": 0.1, "power": 0.999,
        "samples": 100, "samples_needed": 400, "tolerance": 0.0,
    })  # fmt: skip
    return Measurement((said, compare("a value", 0.0, "==", 0.0)))


def test_what_is_decided_is_measured_once_and_reports_what_both_looks_may_err_by() -> None:
    at, looks = case(), []

    def once(seen: Case) -> Measurement:
        looks.append(seen)
        return measured(0.05, looks)

    found = looked_twice(at, once)
    assert [look.level for look in looks] == [at.level]
    assert looks[0].error_budget == at.error_budget / 2
    assert decide(at.bound, found.evidence).verdict is Verdict.SUPPORTED
    assert [one.error_rate for one in found.evidence] == [at.share.single.error, None]


def test_what_is_open_is_measured_again_with_more_and_may_stay_open() -> None:
    at, looks = case(), []

    def twice(seen: Case) -> Measurement:
        looks.append(seen)
        return measured(0.05 if seen.level > at.level else 5.0, looks)

    def never(seen: Case) -> Measurement:
        looks.append(seen)
        return measured(5.0, looks)

    assert decide(at.bound, looked_twice(at, twice).evidence).verdict is Verdict.SUPPORTED
    assert [look.level for look in looks] == [at.level, at.level + 1]
    # Both together spend no more than one look may.
    assert sum(look.share.single.error for look in looks) <= at.share.single.error * (1 + 1e-12)
    assert decide(replace(at).bound, looked_twice(at, never).evidence).verdict is Verdict.INCONCLUSIVE
