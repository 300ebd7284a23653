"""One question, one answer: what verify finds, what refute finds and what follows from the orders do not disagree.

An order that does not follow is a break of the *argument*. The statement may hold by another route; every such case is
named here with that route. The other way round there is none: what follows from bounds that hold cannot be refuted.
"""

from __future__ import annotations

from typing import get_args

import pytest

from spec import load_claims
from spec.claims import ReadingName
from verify.campaign.baseline.storage import shipped_record
from verify.checks.measuring.case import checks
from verify.proofs.orders.inference import Following
from verify.proofs.orders.table import order_table
from verify.proofs.refutation.search import minimal_counterexample, readings_searched, refutable
from verify.verdict import Verdict, combine

READINGS = get_args(ReadingName)
STATEMENTS = [full_id for claim in load_claims().values() for full_id, _ in claim.statements()]
TRUE_BY_ANOTHER_ROUTE = {
    "solution-error": "the difference of the gradients is O(α) at the moving minimiser, not O(α⁻¹)",
    "solution-error/gradient-difference": "h is O(α²) at the minimiser, which the fixed point's bound does not use",
    "solution-error/active-rows": "the penalty's own curvature α₂ resists along active rows",
    "goldstein-convergence/explicit-constants": "judged under the convergence theorem's own bias hypothesis",
}
"""Breaks of an argument whose statement is supported as written."""


def verdict(full_id, reading):
    start = f"{full_id}|{reading}|"
    return combine(Verdict(found) for key, found in shipped_record().items() if key.startswith(start))


def following(full_id, reading):
    return {row.following for row in order_table(full_id) if (row.step, row.reading) == (full_id, reading)}


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("claim", sorted(refutable()))
def test_refute_and_verify_agree(claim, reading):
    assert claim in checks(), "refute speaks of a statement that verify does not check"
    budget = {} if reading == "as-written" else {"weight": 4, "tries": 3}
    found = minimal_counterexample(claim, reading, **budget)
    judged = verdict(claim, reading)
    assert judged in (Verdict.SUPPORTED, Verdict.REFUTED)
    assert (found is not None) == (judged is Verdict.REFUTED)


OTHERWISE = [
    (claim, reading, judged)
    for claim in sorted(refutable())
    for reading in readings_searched(claim)
    if reading not in READINGS and (judged := verdict(claim, reading)) is not None
]
"""What refute can be asked of the other points of the lattice, with the verdict on record."""


def test_refute_and_verify_agree_under_other_readings():
    assert len({claim for claim, *_ in OTHERWISE}) >= 8
    assert {judged for *_, judged in OTHERWISE} == {Verdict.SUPPORTED, Verdict.REFUTED}
    for claim, reading, judged in OTHERWISE:
        budget = {} if judged is Verdict.REFUTED else {"weight": 3, "tries": 2}
        found = minimal_counterexample(claim, reading, **budget)
        assert (found is not None) == (judged is Verdict.REFUTED), (claim, reading)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("full_id", STATEMENTS)
def test_orders_and_verify_agree(full_id, reading):
    found, judged = following(full_id, reading), verdict(full_id, reading)
    if not found:
        return
    assert full_id in checks(), "orders speaks of a statement that verify does not check"
    if found == {Following.FOLLOWS}:
        assert judged is Verdict.SUPPORTED
    elif judged is Verdict.SUPPORTED:
        assert full_id in TRUE_BY_ANOTHER_ROUTE
    else:
        assert judged in (Verdict.REFUTED, Verdict.VACUOUS)


def test_every_route_named_is_needed():
    for full_id in TRUE_BY_ANOTHER_ROUTE:
        assert following(full_id, "as-written") - {Following.FOLLOWS}
        assert verdict(full_id, "as-written") is Verdict.SUPPORTED


@pytest.mark.parametrize("claim", sorted(refutable()))
def test_where_both_speak_refute_and_orders_agree(claim):
    if minimal_counterexample(claim) is not None:
        assert following(claim, "as-written") != {Following.FOLLOWS}
