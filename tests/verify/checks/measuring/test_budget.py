"""One budget, split over everything the suite can decide."""

from __future__ import annotations

import numpy as np
import pytest

import verify
from spec import InvalidInputError
from tests import kept
from tests.verify.own_results import own_results
from verify.campaign.calibration.comparisons import bare_case
from verify.checks.measuring import case
from verify.checks.measuring.case import OverspentError, checks, enforce
from verify.evidence.budget import TOTAL_ERROR, Share
from verify.evidence.model import ComparisonEvidence
from verify.subjects import ReferenceSubject


def evidence(error_rate, law="mean (bets)"):
    return ComparisonEvidence(quantity="q", measured=1, relation="==", predicted=1, error_rate=error_rate, law=law)


def test_the_shares_of_a_full_run_add_up_to_the_budget():
    assert bare_case(0, 0, 0, 0).share.error * case.full_run_decisions() == pytest.approx(TOTAL_ERROR)


def test_another_check_makes_every_share_smaller(monkeypatch):
    before = case.full_run_decisions()
    found = dict(checks())
    some = found["variance-bound"]
    found["variance-bound/again"] = some
    monkeypatch.setattr("verify.checks.measuring.case.checks", lambda: found)
    case.full_run_decisions.cache_clear()
    try:
        assert case.full_run_decisions() > before
    finally:
        monkeypatch.undo()
        case.full_run_decisions.cache_clear()


def test_a_check_cannot_spend_more_decisions_or_error_than_it_registered():
    check = checks()["variance-bound/pairing-alone"]
    enforce(check, [evidence(1e-9)] * check.decisions, 1e-9)
    with pytest.raises(OverspentError, match="registered 1"):
        enforce(check, [evidence(1e-9)] * (check.decisions + 1), 1e-9)
    with pytest.raises(OverspentError, match="allowed 1e-09"):
        enforce(check, [evidence(2e-9)], 1e-9)


@pytest.fixture(scope="module")
def report():
    return kept.run(["variance-bound", "hypergradient-accuracy"], instances=["toy1"], profile="ci")


def test_no_check_of_a_run_overspends_and_each_decision_carries_its_share(report):
    assert not report.faults
    for result in report.results:
        spent = [e.error_rate for e in result.evidence if getattr(e, "error_rate", None) is not None]
        assert len(spent) <= checks()[result.claim].decisions
        assert all(rate <= TOTAL_ERROR / case.full_run_decisions() * (1 + 1e-9) for rate in spent)


def test_a_share_is_the_same_whatever_is_selected(report):
    one = own_results("variance-bound", instances=["toy1"])
    rates = [
        {getattr(e, "error_rate", None) for r in made if r.claim == "variance-bound" for e in r.evidence} - {None}
        for made in (one, report.results)
    ]
    assert rates[0] == rates[1]


def test_what_was_drawn_must_state_its_error_and_what_that_rests_on():
    check = checks()["variance-bound/independence"]
    silent = evidence(None)
    enforce(check, [silent] * check.sure, 1e-9)
    with pytest.raises(OverspentError, match="1 of its numbers state no error rate and 0 are registered as sure"):
        enforce(check, [silent] * (check.sure + 1), 1e-9)
    enforce(check, [silent] * (check.sure + 1), 1e-9, drew=False)
    with pytest.raises(OverspentError, match="no law behind it"):
        enforce(check, [evidence(1e-9, law=None)], 1e-9)


class DrawsForNothing(ReferenceSubject):
    """Uses the generator in every stage that is given one."""

    def __getattribute__(self, name):
        found = super().__getattribute__(name)
        if name not in ("optimise", "optimise_runs", "lower_level_runs", "penalty_runs", "hypergradient_runs"):
            return found

        def drawing(*args):
            next(arg for arg in args if isinstance(arg, np.random.Generator)).random()
            return found(*args)

        return drawing


@pytest.mark.parametrize(
    ("claim", "instance"),
    [("inner-cost/primal-dual-sign", "toy1"), ("inner-cost/linear-rate", "absolute-moving"),
     ("inner-loop-remark/noise-free", "interior"), ("goldstein-convergence/clip", "kink"),
     ("goldstein-convergence/block-radius", "kink"), ("goldstein-convergence/lipschitz-scaling", "kink")],
)  # fmt: skip
def test_a_subject_that_draws_where_nothing_is_random_is_no_fault(claim, instance):
    report = verify.run([claim], instances=[instance], subject=DrawsForNothing())
    assert not report.faults, [r.fault for r in report.faults]


SURE = sorted(claim for claim, check in checks().items() if check.sure and not check.decisions)
SLOW = ("goldstein-convergence/bias-hypothesis", "goldstein-convergence/membership")
"""Certified distances along a run; both are run by every record of the verdicts."""


@pytest.mark.parametrize("claim", [claim for claim in SURE if claim not in SLOW])
def test_what_is_registered_as_sure_comes_out_the_same_for_other_draws(claim):
    asked = {"readings": ["as-written", "repaired"], "instances": checks()[claim].instances[:1], "profile": "smoke"}
    one, two = (own_results(claim, seed=seed, **asked) for seed in (3, 4))
    for first, second in zip(one, two, strict=True):
        assert first.fault is None, first.fault
        assert first.verdict == second.verdict, (first.sentence, second.sentence)


@pytest.mark.parametrize("error", [0.0, 1.0, -1.0])
def test_a_share_is_a_probability(error):
    with pytest.raises(InvalidInputError, match="error: must be > 0 and < 1"):
        Share(error)
