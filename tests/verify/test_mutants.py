"""Each wrong implementation changes a verdict, and the right one does not."""

from __future__ import annotations

import pytest

import verify
from tests.verify.mutants import CATALOGUE, Caught
from verify.results import Verdict


def judge(case: Caught, subject: object) -> verify.Result:
    report = verify.run([case.claim], subject=subject, readings=[case.reading], instances=[case.instance], profile="ci")
    (result,) = [r for r in report.results if r.claim == case.claim]
    return result


@pytest.mark.parametrize("case", CATALOGUE, ids=lambda c: f"{c.mutant.name}-{c.claim}-{c.instance}")
def test_the_claim_it_breaks_catches_the_mutant(case: Caught) -> None:
    right, wrong = judge(case, "reference"), judge(case, case.mutant())
    assert right.verdict == Verdict(case.reference), right.sentence
    assert wrong.verdict is not None, wrong.fault
    assert wrong.verdict != right.verdict, wrong.sentence


def test_every_mutant_of_the_catalogue_is_a_different_program() -> None:
    assert len({case.mutant for case in CATALOGUE}) >= 12
