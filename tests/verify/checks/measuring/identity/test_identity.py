"""Stages are held to what they are asked: a bound that holds of zero is no credit to zero."""

from __future__ import annotations

import numpy as np
import pytest

from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.measuring.identity.identity import PREMISE
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.null_subjects import null_subjects
from verify.evidence.model import PremiseEvidence
from verify.subjects import ReferenceSubject
from verify.verdict import Verdict


def judged(claim, subject, reading="repaired", instance="toy1", **more):
    return perform(Task(claim, reading, instance, "stranger", "smoke", DEFAULT_SEED), subject, **more)


class RightAtOneAlpha(ReferenceSubject):
    """Computes what it is asked at the first alpha of the sweeps, and nothing elsewhere."""

    def hypergradient(self, problem, x, call, rng):
        answer = super().hypergradient(problem, x, call, rng)
        return answer if call.alpha == 0.1 else np.zeros_like(answer)


@pytest.mark.parametrize("claim", ["bias-bound/T1", "bias-bound/L-H-lambda", "dual-extraction/T2"])
def test_zero_is_refuted_where_a_bound_holds_of_it(claim):
    assert judged(claim, null_subjects()["zero"]).verdict is Verdict.REFUTED


def test_right_at_one_alpha_is_not_right():
    result = judged("bias-bound/L-H-lambda", RightAtOneAlpha())
    assert result.verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", ["zero", "constant", "random"])
def test_a_refutation_of_the_text_is_no_credit(name):
    assert judged("bias-bound/T3", ReferenceSubject(), "as-written").verdict is Verdict.REFUTED
    result = judged("bias-bound/T3", null_subjects()[name], "as-written")
    assert result.verdict is Verdict.NOT_APPLICABLE
    (unmet,) = [e for e in result.evidence if isinstance(e, PremiseEvidence) and not e.holds]
    assert unmet.premise == PREMISE


@pytest.mark.parametrize("name", ["noise-unaided", "constant-unaided"])
def test_who_takes_no_stages_is_asked_for_an_answer(name):
    for instance in ("toy1", "two-of-three"):
        result = judged("variance-bound/black-box", null_subjects()[name], instance=instance)
        assert result.verdict is Verdict.REFUTED, result.sentence


@pytest.mark.parametrize(
    ("bug", "claim", "instance"),
    [
        ("hard-activation", "dual-extraction/ramp-slope", "toy1"),
        ("smoother-ramp", "dual-extraction/ramp-slope", "toy1"),
        ("halves-the-steps", "inner-cost/linear-rate", "two-of-three"),
        ("noise-twice", "stochastic-oracles", "toy1"),
        ("noise-twice", "stochastic-oracles/bounded-variance", "toy1"),
        ("noise-twice", "variance-bound/f-noise-only", "toy1"),
    ],
)
def test_the_checks_see_a_bug_by_themselves(bug, claim, instance):
    assert judged(claim, by_id(bug), instance=instance, held=False).verdict is Verdict.REFUTED
    assert judged(claim, ReferenceSubject(), instance=instance).verdict is Verdict.SUPPORTED


class ZeroRuns(ReferenceSubject):
    """Counts rightly and answers zeros."""

    name = "zero-runs"

    def hypergradient_runs(self, *given):
        estimates, calls = super().hypergradient_runs(*given)
        return 0 * estimates, calls

    def penalty_runs(self, *given):
        y, calls = super().penalty_runs(*given)
        return 0 * y, calls


@pytest.mark.parametrize("instance", ["toy1", "two-of-three"])
def test_counts_of_runs_that_estimate_nothing_are_no_credit(instance):
    for claim in ("inner-cost", "inner-cost/total"):
        assert judged(claim, ZeroRuns(), instance=instance).verdict is Verdict.REFUTED
    svrg = judged("inner-cost/svrg", ZeroRuns(), instance=instance)
    assert svrg.fault == "penalty_runs answered the same after every number of epochs: no rate shows"


class Held(ReferenceSubject):
    """Right, and a stranger: its stages are held to what they are asked."""

    name = "held"


@pytest.mark.parametrize("instance", ["toy1", "two-of-three"])
def test_right_runs_are_credited(instance):
    for claim in ("inner-cost", "inner-cost/total", "inner-cost/svrg", "inner-cost/shared-sample"):
        assert judged(claim, Held(), instance=instance).verdict is Verdict.SUPPORTED


def test_zeros_are_no_refutation_of_the_text_where_own_answers_alone_are_asked():
    right = judged("bias-bound/black-box", ReferenceSubject(), "as-written")
    assert right.verdict is Verdict.REFUTED
    assert judged("bias-bound/black-box", null_subjects()["zero"], "as-written").verdict is Verdict.NOT_APPLICABLE
