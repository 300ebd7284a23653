"""Achieved error rates beside promised ones, and the command that shows them."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from tests.verify.own_results import own_results
from verify.campaign.calibration import calibration, law_columns
from verify.campaign.calibration.calibration import CONFIDENCE, kinds, run_many, summarise, with_sweeps
from verify.campaign.calibration.comparisons import bare_case
from verify.campaign.calibration.noise_laws import NOISE_LAWS
from verify.campaign.calibration.outcomes import outcome, runs_to_show
from verify.campaign.calibration.sweeps import LAWS, asked, exact, wrong_decisions
from verify.cli.main import invoke
from verify.evidence.budget import Share
from verify.evidence.model import Law, Point
from verify.evidence.rates.rates import fit_rate
from verify.evidence.samples.laws import binomial_interval
from verify.verdict import RESOLUTION


@pytest.fixture(scope="module")
def found():
    return run_many(range(5), seed=0, budget=0.3)


def test_runs_do_not_depend_on_how_they_are_grouped(found):
    split = run_many(range(2), seed=0, budget=0.3) + run_many(range(2, 5), seed=0, budget=0.3)
    assert split == found


def test_every_kind_is_counted_on_right_and_on_barely_wrong_subjects(found):
    table = summarise(found, 0.3)
    assert len(table.false_refutations) == len(table.missed_violations) == len(kinds())
    assert table.whole.runs == 5
    assert table.outcome == "not shown"
    assert sum(row.promised for row in table.false_refutations) == pytest.approx(table.whole.promised)


def test_every_law_that_a_decision_may_name_is_calibrated():
    assert {kind.law for kind in kinds()} == set(get_args(Law))
    assert len({kind.name for kind in kinds()}) == len(kinds())


def test_every_calibrated_law_is_one_that_checks_rest_on():
    asked = {
        "as-written": ("stochastic-oracles/mean-square-smoothness", "goldstein-convergence/explicit-constants",
                       "goldstein-convergence/noise-term"),
        "repaired": ("stochastic-oracles/unbiasedness", "stochastic-oracles/noise-reaches-gradient",
                     "stochastic-oracles/draws-as-stated",
                     "variance-bound/independence", "hypergradient-accuracy/decomposition", "hypergradient-accuracy",
                     "inner-cost/svrg", "goldstein-convergence/explicit-constants"),
    }  # fmt: skip
    used = set()
    for reading, claims in asked.items():
        for claim in claims:
            results = own_results(claim, readings=[reading], instances=["toy1", "absolute-fixed"])
            used |= {e.law for result in results for e in result.evidence if e.kind != "premise"}
    # Others are those of a subject without noise, and of dependent estimates, which the reference has not.
    unused = {"different answers (fourth moment)", "variance (chi-square)", "variances along directions (chi-square)"}
    assert used - {None} == set(get_args(Law)) - unused


def test_a_right_exponent_is_as_far_off_as_a_verdict_allows():
    (kind,) = [kind for kind in kinds() if kind.name == "exponent (sub-Gaussian)"]
    case = bare_case(0, 0, 0, 0)
    assert kind.right == RESOLUTION
    share = Share(1e-4)
    assert kind.run(case, share, kind.right).exponent == pytest.approx(-0.9, abs=0.05)


def test_no_law_that_sweeps_have_is_refuted_or_passes_for_one_half_an_order_stronger(found):
    table = with_sweeps(summarise(found, 0.3), 8, 1)
    rows = (*table.sweeps_refuted, *table.sweeps_supported)
    assert len(table.sweeps_refuted) == len(table.sweeps_supported) == len(asked())
    assert sum(row.wrong for row in rows) == 0
    assert set(rows) < set(table.rows)


def test_what_a_verdict_would_get_wrong_of_a_law_is_counted():
    linear = next(swept for swept in LAWS if swept.name == "a")
    square = fit_rate(
        [Point(at=a, measured=a**2) for a in (0.4, 0.2, 0.1, 0.05)], quantity="q", variable="alpha"
    )  # fmt: skip
    assert wrong_decisions(linear, square) == (True, True)
    assert wrong_decisions(linear, exact(linear, 0)) == (False, False)


def test_a_broken_promise_is_said():
    wrong = summarise([([True] * len(kinds()), [True] * len(kinds()))] * 40, 1e-2)
    assert wrong.outcome == wrong.whole.outcome == "broken"
    assert {row.outcome for row in wrong.missed_violations} == {"broken"}


def test_few_runs_show_nothing_and_so_many_as_it_says_show_a_promise_kept():
    few = summarise([([False] * len(kinds()), [False] * len(kinds()))], 1e-2)
    assert {row.outcome for row in few.rows} == {"not shown"}
    for promised in (0.3, 1e-2, 1e-3):
        needed = runs_to_show(promised, CONFIDENCE)
        assert outcome(binomial_interval(0, needed, CONFIDENCE), promised) == "kept"
        assert outcome(binomial_interval(0, needed - 1, CONFIDENCE), promised) == "not shown"
    enough = [([False] * len(kinds()), [False] * len(kinds()))] * runs_to_show(1e-3, CONFIDENCE)
    assert {row.outcome for row in summarise(enough, 0.5).missed_violations} == {"kept"}


@pytest.mark.parametrize(("wrong", "runs"), [(0, 100), (3, 100), (100, 100)])
def test_binomial_interval_contains_what_was_seen(wrong, runs):
    low, high = binomial_interval(wrong, runs, CONFIDENCE)
    assert 0 <= low <= wrong / runs <= high <= 1
    assert high - low < 0.2


def test_the_command_prints_json_and_a_table(monkeypatch, capsys):
    monkeypatch.setattr(calibration, "kinds", lambda: kinds()[:2])
    assert invoke(["calibrate", "--runs", "3", "--law-runs", "0", "--jobs", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["budget"] == 0.01
    assert len(shown["false_refutations"]) == 2
    monkeypatch.setattr(law_columns, "NOISE_LAWS", {"Laplace": NOISE_LAWS["Laplace"]})
    assert invoke(["calibrate", "--runs", "1", "--jobs", "1"]) == 0
    table = capsys.readouterr().out
    assert "No promise was broken, but" in " ".join(table.split())
    assert "not shown" in table
    assert "noise of other laws" in table
    assert "Laplace" in table


@pytest.mark.parametrize(
    "arguments",
    [["--budget", "0"], ["--budget", "1"], ["--runs", "0"], ["--law-runs", "-1"], ["--seed", "-1"], ["--jobs", "0"]],
)
def test_wrong_numbers_are_refused_in_one_line(arguments, capsys):
    assert invoke(["calibrate", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
