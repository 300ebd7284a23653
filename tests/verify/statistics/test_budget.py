"""One budget, split over everything the suite can decide."""

from __future__ import annotations

import pytest

import verify
from spec import InvalidInputError
from verify.evidence import ComparisonEvidence
from verify.registry import checks
from verify.statistics import budget
from verify.statistics.budget import TOTAL_ERROR, OverspentError, Share, enforce


def evidence(error_rate):
    return ComparisonEvidence(quantity="q", measured=1, relation="==", predicted=1, error_rate=error_rate)


def test_the_shares_of_a_full_run_add_up_to_the_budget():
    assert budget.share().error * budget.full_run_decisions() == pytest.approx(TOTAL_ERROR)


def test_another_check_makes_every_share_smaller(monkeypatch):
    before = budget.full_run_decisions()
    found = dict(checks())
    some = found["variance-bound"]
    found["variance-bound/again"] = some
    monkeypatch.setattr("verify.registry.checks", lambda: found)
    budget.full_run_decisions.cache_clear()
    try:
        assert budget.full_run_decisions() > before
    finally:
        monkeypatch.undo()
        budget.full_run_decisions.cache_clear()


def test_a_check_cannot_spend_more_decisions_or_error_than_it_registered():
    check = checks()["variance-bound/pairing-alone"]
    enforce(check, [evidence(1e-9)] * check.decisions, 1e-9)
    with pytest.raises(OverspentError, match="registered 1"):
        enforce(check, [evidence(1e-9)] * (check.decisions + 1), 1e-9)
    with pytest.raises(OverspentError, match="allowed 1e-09"):
        enforce(check, [evidence(2e-9)], 1e-9)


def test_no_check_of_a_run_overspends_and_each_decision_carries_its_share():
    report = verify.run(["variance-bound", "hypergradient-accuracy"], instances=["toy1"], profile="ci")
    assert not report.faults
    for result in report.results:
        spent = [e.error_rate for e in result.evidence if getattr(e, "error_rate", None) is not None]
        assert len(spent) <= checks()[result.claim].decisions
        assert all(rate <= budget.share().error * (1 + 1e-9) for rate in spent)


def test_a_share_is_the_same_whatever_is_selected():
    one = verify.run(["variance-bound"], instances=["toy1"], readings=["repaired"])
    two = verify.run(["variance-bound", "stochastic-oracles"], instances=["toy1"])
    rates = [
        {getattr(e, "error_rate", None) for r in report.results if r.claim == "variance-bound" for e in r.evidence}
        - {None}
        for report in (one, two)
    ]
    assert rates[0] == rates[1]


@pytest.mark.parametrize("error", [0.0, 1.0, -1.0])
def test_a_share_is_a_probability(error):
    with pytest.raises(InvalidInputError, match="error: must be > 0 and < 1"):
        Share(error)
