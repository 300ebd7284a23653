"""Each random defect changes the verdict of the claim it breaks, at the default profile."""

from __future__ import annotations

import pytest

import verify
from tests.meta.stochastic_mutants import CAUGHT
from verify.subjects import ReferenceSubject


def judge(subject, claim, instance):
    report = verify.run([claim], subject=subject, readings=["repaired"], instances=[instance])
    (result,) = [r for r in report.results if r.claim == claim]
    return result


@pytest.mark.parametrize(
    ("mutant", "claim", "instance"), CAUGHT, ids=[f"{m.name}-{c}-{i}" for m, c, i in CAUGHT]
)  # fmt: skip
def test_the_claim_it_breaks_refutes_the_mutant(mutant, claim, instance):
    found = judge(mutant(), claim, instance)
    assert found.fault is None, found.fault
    assert str(found.verdict) == "REFUTED", found.sentence


@pytest.mark.parametrize(("claim", "instance"), sorted({(c, i) for _, c, i in CAUGHT if c.startswith("v")}))
def test_the_reference_is_not_refuted_there(claim, instance):
    assert str(judge(ReferenceSubject(), claim, instance).verdict) == "SUPPORTED"
