"""What a check says of a statement, on chosen instances and against a chosen bound."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from spec import atlas
from spec.claims import find as statement
from tests import kept
from verify.campaign.plan import DEFAULT_SEED, Task
from verify.checks.measuring.case import Case, checks, find_profile
from verify.report.model import Result
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.verdict import Verdict, combine, decide


def found(claim, reading="repaired", bound=None, instances=None):
    """Verdicts by instance."""
    made = {}
    for name in instances or checks()[claim].instances:
        case = case_of(claim, reading, name, bound)
        made[name] = decide(case.bound, checks()[claim].function(case).evidence).verdict
    return made


def case_of(claim, reading, name, bound=None) -> Case:
    """What a check is given on an instance, the reference being asked."""
    asked = statement(claim)
    told, sense = asked.interpreted(reading)
    return Case(
        claim=claim, bound=bound or asked.assertion(reading).bound, reading_name=reading,
        reading=told, sense=sense, instance=atlas.find(name), stages=StageCalls(ReferenceSubject()),
        profile=find_profile("ci"), rng=np.random.default_rng(5),
    )  # fmt: skip


@cache
def result_of(claim: str, reading: str, instance: str) -> Result:
    """What a run of the ``ci`` profile says of one claim, reading and instance: decided, and no fault."""
    result = kept.result_of(Task(claim, reading, instance, "reference", "ci", DEFAULT_SEED))
    assert result.fault is None, result.fault
    assert result.verdict is not Verdict.INCONCLUSIVE, result.sentence
    return result


def verdict(claim, reading="repaired", bound=None, instances=None) -> Verdict:
    """One verdict over the instances."""
    return combine(found(claim, reading, bound, instances).values())


def stronger(claim, variable, by):
    """The repaired bound with one exponent moved."""
    bound = statement(claim).repaired.bound
    return bound.model_copy(
        update={"exponents": bound.exponents | {variable: bound.exponents[variable] + Fraction(by)}}
    )
