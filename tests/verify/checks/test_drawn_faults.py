"""Draws on which a check once faulted, or refuted what is proven: each answers now."""

from __future__ import annotations

import pytest

from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.subjects import ReferenceSubject
from verify.verdict import Verdict

ANSWERED = {
    "bias-bound": ["rows:84", "moving-box:132"],
    "bias-bound/ramp": ["rows:84", "moving-box:78", "moving-box:132", "moving-box:137"],
    "bias-bound/black-box": ["rows:94", "moving-box:141"],
    "bias-bound/T3": ["rows:118", "fixed-rows:43", "fixed-rows:168"],
    "bias-bound/hessian-lipschitz": ["rows:118"],
    "bias-bound/from-two-lemmas": ["fixed-rows:56", "fixed-rows:185"],
    "hypergradient-accuracy/jensen": ["rows:164", "rows:185"],
    "inner-loop-remark/penalty-solve": ["rows:164", "rows:185", "box:128"],
    "goldstein-convergence/moment-order": ["rows:93", "rows:178"],
    "solution-error": ["ill-conditioned:106"],
    "solution-error/active-rows": ["ill-conditioned:106"],
}
AS_WRITTEN = [
    ("solution-error/active-rows", "ill-conditioned:106", Verdict.SUPPORTED),
    ("bias-bound/ramp", "experiment:77", Verdict.REFUTED),
    ("hypergradient-accuracy/jensen", "rows:164", Verdict.SUPPORTED),
    ("hypergradient-accuracy/jensen", "rows:185", Verdict.SUPPORTED),
]
"""Literal texts on draws where their check faulted, or refuted an inequality of Jensen's where the bias is 0."""


@pytest.mark.parametrize(("claim", "name"), [(claim, name) for claim, names in ANSWERED.items() for name in names])
def test_a_repaired_statement_holds_there(claim, name):
    task = Task(claim, "repaired", f"drawn:{name}", "reference", "smoke", DEFAULT_SEED)
    result = perform(task, ReferenceSubject())
    assert result.fault is None, result.fault
    assert result.verdict is Verdict.SUPPORTED, result.sentence


@pytest.mark.parametrize(("claim", "name", "verdict"), AS_WRITTEN)
def test_a_literal_text_is_answered_there(claim, name, verdict):
    result = perform(Task(claim, "as-written", f"drawn:{name}", "reference", "smoke", DEFAULT_SEED), ReferenceSubject())
    assert result.fault is None, result.fault
    assert result.verdict is verdict, result.sentence


@pytest.mark.parametrize("reading", ["as-written", "repaired", "choose:dual_term=map", "choose:dual_term=both-maps"])
@pytest.mark.parametrize("name", ["weakly-active:18", "weakly-active:38"])
def test_where_a_row_stays_weakly_active_nothing_faults(name, reading):
    """F has a gradient there although y* has none: a literal reading that needs that has no value, the others have."""
    result = perform(
        Task("bias-bound/T3", reading, f"drawn:{name}", "reference", "smoke", DEFAULT_SEED), ReferenceSubject()
    )
    assert result.fault is None, result.fault
    assert (result.verdict is Verdict.NOT_APPLICABLE) == (reading != "as-written")


@pytest.mark.parametrize("reading", ["as-written", "repaired"])
def test_where_the_minimiser_is_0_its_rounding_is_no_fault(reading):
    """Its row does not move with x there, so that line 6 has no size, and what a minimiser in doubles is off is all."""
    result = perform(
        Task("bias-bound/T3-uniform", reading, "drawn:rows:23", "reference", "full", DEFAULT_SEED), ReferenceSubject()
    )
    assert result.fault is None, result.fault
