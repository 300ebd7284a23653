"""What is asked of x ↦ ĝ alone: no stage is given, and null subjects, stronger claims and known bugs fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from spec.claims import find as statement
from tests.verify.checks.test_step_checks import NULLS, Null, verdicts
from tests.verify.conformance.subjects import OnlyHypergradient
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.measuring.case import checks
from verify.conformance.bugs.bent_subject import by_id
from verify.subjects import ReferenceSubject
from verify.verdict import Verdict, combine

CLAIMS = ("bias-bound/black-box", "bias-bound/black-box-kinks", "variance-bound/black-box")
FEW = {
    "bias-bound/black-box": ("toy1", "two-of-three", "random-2x3x4"),
    "bias-bound/black-box-kinks": ("toy2",),
    "variance-bound/black-box": ("toy1",),
}


class Unaided(OnlyHypergradient):
    """Takes no stage from outside, and offers its samples at once."""

    name = "unaided"

    def hypergradient(self, problem, x, call, rng):
        assert all(given is None for given in call.stages.values())
        return super().hypergradient(problem, x, call, rng)

    def hypergradient_samples(self, problem, x, call, rng, replications):
        assert all(given is None for given in call.stages.values())
        return self.subject.hypergradient_samples(problem, x, call, rng, replications)


class WrongFarDown(Unaided):
    """Right but for a factor 3/2 below α = 0.02."""

    name = "wrong-far-down"

    def hypergradient(self, problem, x, call, rng):
        return super().hypergradient(problem, x, call, rng) * (1.5 if call.alpha < 0.02 else 1.0)


def outcome(claim, subject, **more):
    return combine(verdicts(claim, subject, instances=FEW[claim], **more).values())


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_subject_that_takes_no_stages_is_supported(claim):
    assert outcome(claim, Unaided()) is Verdict.SUPPORTED


@pytest.mark.parametrize("claim", CLAIMS)
def test_as_written_it_fails(claim):
    assert outcome(claim, ReferenceSubject(), reading="as-written") is Verdict.REFUTED


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_subject_that_does_nothing_is_not_supported(claim, null):
    allowed = {Verdict.REFUTED, Verdict.INCONCLUSIVE} if null == "random" else {Verdict.REFUTED}
    assert outcome(claim, Null(NULLS[null])) in allowed


@pytest.mark.parametrize(
    ("claim", "bug"),
    [
        ("bias-bound/black-box", "keeps-dual-term"),
        ("bias-bound/black-box", "drops-implicit-term"),
        ("bias-bound/black-box-kinks", "drops-implicit-term"),
        ("variance-bound/black-box", "independent-draws"),
        ("variance-bound/black-box", "ignores-batch"),
    ],
)
def test_a_catalogued_bug_is_refuted(claim, bug):
    assert outcome(claim, by_id(bug)) is Verdict.REFUTED


def test_an_error_that_begins_far_down_is_refuted():
    assert outcome("bias-bound/black-box", WrongFarDown()) is not Verdict.SUPPORTED


@pytest.mark.parametrize("claim", CLAIMS[:2])
def test_half_an_order_more_is_refuted(claim):
    bound = statement(claim).repaired.bound
    raised = bound.model_copy(update={"exponents": {"alpha": bound.exponents["alpha"] + Fraction(1, 2)}})
    assert outcome(claim, ReferenceSubject(), bound=raised) is Verdict.REFUTED


def test_rows_times_alpha_leave_the_truth_alone():
    from spec import atlas
    from verify.checks.black_box import _slope_of_multipliers, _with_rows_times
    from verify.truth.geometry import quadratic_of
    from verify.truth.lower_level import lower_level

    instance = atlas.find("random-2x3x4")
    problem, scale = quadratic_of(instance.problem), Fraction(1, 8)
    scaled = _with_rows_times(problem, scale)
    one, other = (lower_level.solve(each, instance.x) for each in (problem, scaled))
    assert one.y_star == other.y_star
    assert lower_level.hypergradient(problem, instance.x) == lower_level.hypergradient(scaled, instance.x)
    slopes = [_slope_of_multipliers(each, one.strictly_active) for each in (problem, scaled)]
    assert slopes[1] == pytest.approx(slopes[0] / float(scale))
    # L_λ against a difference quotient of the exact multipliers.
    step = Fraction(1, 10**6)
    columns = []
    for j in range(problem.n):
        ends = [
            lower_level.solve(problem, [v + sign * step * (k == j) for k, v in enumerate(instance.x)]).lam
            for sign in (1, -1)
        ]
        columns.append([float((a - b) / (2 * step)) for a, b in zip(*ends, strict=True)])
    assert slopes[0] == pytest.approx(np.linalg.norm(np.array(columns).T, 2))


class TakesNoStages:
    """Right from outside; stage values it is given it does not look at."""

    name = "takes-no-stages"

    def hypergradient(self, problem, x, call, rng):
        return ReferenceSubject().hypergradient(problem, x, replace(call, y_star=None, lam=None, y_penalty=None), rng)


@pytest.mark.parametrize("claim", CLAIMS)
def test_one_that_takes_no_stage_values_is_right_all_the_same(claim):
    assert checks()[claim].unaided
    name = checks()[claim].instances[0]
    task = Task(claim, "repaired", name, "takes-no-stages", "smoke", DEFAULT_SEED)
    assert perform(task, TakesNoStages()).verdict is Verdict.SUPPORTED
