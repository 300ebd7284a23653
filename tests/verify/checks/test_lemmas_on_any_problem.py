"""Each lemma of sections 3 to 5, repaired, on problems that Hypothesis draws: no fault, no contradiction.

What holds in the atlas may hold by its choice. Where a premise fails a drawn problem says nothing, and has to say so.
"""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec.drawn import FAMILIES, name_of
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.measuring.case import checks
from verify.checks.measuring.where_asked import can_draw
from verify.subjects import ReferenceSubject
from verify.verdict import Verdict

LEMMAS = {
    "solution map": ("lipschitz-solution",),
    "multipliers": (
        "dual-extraction",
        "dual-extraction/T1",
        "dual-extraction/linear-term",
        "dual-extraction/active-rows",
    ),
    "shift": ("solution-error", "solution-error/monotonicity", "solution-error/gradient-difference"),
    "bias": ("bias-bound", "bias-bound/T1", "bias-bound/T2", "bias-bound/T3", "bias-bound/ramp", "bias-bound/triangle"),
    "accuracy": ("hypergradient-accuracy/jensen", "hypergradient-accuracy/mean-squared-identity"),
    "cost": ("inner-cost/smoothness", "inner-cost/condition-number", "inner-cost/strong-convexity"),
    "outer loop": ("goldstein-convergence/moment-order",),
}


@lru_cache(maxsize=1)
def askable() -> dict[str, list[str]]:
    """By statement, the families on whose problems it can be asked."""
    return {
        claim: [family.name for family in FAMILIES.values() if can_draw(checks()[claim], family)]
        for claims in LEMMAS.values() for claim in claims
    }  # fmt: skip


@pytest.mark.parametrize("lemma", LEMMAS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_repaired_lemma_holds_wherever_its_premises_do(lemma: str, data: st.DataObject) -> None:
    claim = data.draw(st.sampled_from([one for one in LEMMAS[lemma] if askable()[one]]), "statement")
    problem = name_of(data.draw(st.sampled_from(askable()[claim]), "family"), data.draw(st.integers(0, 10**6), "seed"))
    result = perform(Task(claim, "repaired", problem, "reference", "smoke", DEFAULT_SEED), ReferenceSubject())
    assert result.fault is None, (claim, problem, result.fault)
    assert result.verdict in (Verdict.SUPPORTED, Verdict.NOT_APPLICABLE), (claim, problem, result.sentence)


def test_every_lemma_can_be_asked_of_drawn_problems() -> None:
    assert all(any(askable()[claim] for claim in claims) for claims in LEMMAS.values())
