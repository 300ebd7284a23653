"""Checks of the steps that change one thing at a time: null subjects, stronger claims and catalogued bugs fail them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from spec import atlas, load_claims
from spec.claims import find as statement
from verify.checks.measuring.case import Case, checks, find_profile
from verify.checks.measuring.estimates.silence import NoNoiseError
from verify.conformance.bugs.bent_subject import by_id
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.verdict import Verdict, combine, decide

OF_A_SUBJECT = {
    "bias-bound/L-H-lambda": "hard-activation",
    "bias-bound/y-star-error": "drops-g-difference",
    "bias-bound/triangle": "keeps-dual-term",
    "dual-extraction/T1": "smoother-ramp",
    "dual-extraction/T2": "hard-activation",
    "solution-error/gradient-difference": "half-penalty-in-solve",
}
"""Each with a catalogued bug that it refutes."""
OF_MATHEMATICS = ("bias-bound/alpha-to-zero", "dual-extraction/jacobian-bound")


class Null:
    """Every stage answers the same vector, whatever it is asked."""

    name = "null"

    def __init__(self, entry):
        self.entry = entry

    def of(self, size):
        return np.array([self.entry() for _ in range(size)])

    def lower_level(self, problem, x):
        return self.of(problem.m), self.of(problem.p)

    def activation(self, h, lam, h_width, lam_width):
        return self.of(len(h))

    def penalty_minimiser(self, problem, x, call, tol):
        return self.of(problem.m)

    def hypergradient(self, problem, x, call, rng):
        return self.of(problem.n)

    def hypergradient_samples(self, problem, x, call, rng, replications):
        return np.array([self.of(problem.n) for _ in range(replications)])


RANDOM = np.random.default_rng(11)
NULLS = {"zero": lambda: 0.0, "constant": lambda: 1.25, "random": lambda: float(RANDOM.normal())}


def verdicts(claim, subject, reading="repaired", bound=None, instances=None):
    found = {}
    check, asked = checks()[claim], statement(claim)
    for name in instances or check.instances:
        told, sense = asked.interpreted(reading)
        case = Case(
            claim=claim, bound=asked.assertion(reading).bound, reading_name=reading, reading=told, sense=sense,
            instance=atlas.find(name), stages=StageCalls(subject), profile=find_profile("ci"),
            rng=np.random.default_rng(5),
        )  # fmt: skip
        try:
            evidence = check.function(case).evidence
        except NoNoiseError as silent:
            evidence = (silent.evidence,)
        found[name] = decide(bound or case.bound, evidence).verdict
    return found


@pytest.mark.parametrize("claim", [*OF_A_SUBJECT, *OF_MATHEMATICS])
def test_the_reference_is_supported_everywhere(claim):
    assert set(verdicts(claim, ReferenceSubject()).values()) == {Verdict.SUPPORTED}


@pytest.mark.parametrize(
    ("claim", "refuted_on"),
    [
        ("bias-bound/L-H-lambda", "toy1"),
        ("bias-bound/alpha-to-zero", "concave-upper"),
        ("dual-extraction/T1", "weakly-active"),
        ("dual-extraction/T2", "weakly-active"),
    ],
)
def test_what_is_refuted_as_written(claim, refuted_on):
    assert verdicts(claim, ReferenceSubject(), "as-written")[refuted_on] is Verdict.REFUTED


@pytest.mark.parametrize("claim", ["bias-bound/y-star-error", "bias-bound/triangle", "dual-extraction/jacobian-bound",
                                   "solution-error/gradient-difference"])  # fmt: skip
def test_what_holds_as_written(claim):
    assert combine(verdicts(claim, ReferenceSubject(), "as-written").values()) is Verdict.SUPPORTED


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("claim", OF_A_SUBJECT)
def test_a_subject_that_does_nothing_is_refuted(claim, null):
    assert combine(verdicts(claim, Null(NULLS[null])).values()) is Verdict.REFUTED


@pytest.mark.parametrize(("claim", "bug"), OF_A_SUBJECT.items())
def test_a_catalogued_bug_is_refuted(claim, bug):
    assert combine(verdicts(claim, by_id(bug)).values()) is Verdict.REFUTED


@pytest.mark.parametrize("claim", [name for name in OF_A_SUBJECT if statement(name).repaired.bound.exponents])
def test_half_an_order_more_is_refuted(claim):
    bound = statement(claim).repaired.bound
    raised = bound.model_copy(update={"exponents": {"alpha": bound.exponents["alpha"] + Fraction(1, 2)}})
    assert combine(verdicts(claim, ReferenceSubject(), bound=raised).values()) is Verdict.REFUTED


def test_every_step_of_the_three_lemmas_is_checked():
    for claim in ("dual-extraction", "solution-error", "bias-bound"):
        assert all(full_id in checks() for full_id, _ in load_claims()[claim].statements())
