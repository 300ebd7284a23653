"""Achieved error rates beside promised ones, and the command that shows them."""

from __future__ import annotations

import json

import pytest

from verify.cli import invoke
from verify.statistics import calibration
from verify.statistics.calibration import binomial_interval, kinds, run_many, summarise


@pytest.fixture(scope="module")
def found():
    return run_many(range(12), seed=0, budget=0.3)


def test_runs_do_not_depend_on_how_they_are_grouped(found):
    split = run_many(range(4), seed=0, budget=0.3) + run_many(range(4, 12), seed=0, budget=0.3)
    assert split == found


def test_every_kind_is_counted_on_right_and_on_barely_wrong_subjects(found):
    table = summarise(found, 0.3)
    assert len(table.false_refutations) == len(table.missed_violations) == len(kinds())
    assert table.whole.runs == 12
    assert table.kept
    assert sum(row.promised for row in table.false_refutations) == pytest.approx(table.whole.promised)


def test_a_broken_promise_is_said():
    wrong = summarise([([True] * len(kinds()), [True] * len(kinds()))] * 40, 1e-2)
    assert not wrong.kept
    assert not wrong.whole.kept
    assert not any(row.kept for row in wrong.missed_violations)


@pytest.mark.parametrize(("wrong", "runs"), [(0, 100), (3, 100), (100, 100)])
def test_binomial_interval_contains_what_was_seen(wrong, runs):
    low, high = binomial_interval(wrong, runs)
    assert 0 <= low <= wrong / runs <= high <= 1
    assert high - low < 0.2


def test_the_command_prints_json_and_a_table(monkeypatch, capsys):
    monkeypatch.setattr(calibration, "kinds", lambda: kinds()[:2])
    assert invoke(["calibrate", "--runs", "3", "--jobs", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["budget"] == 0.01
    assert len(shown["false_refutations"]) == 2
    assert invoke(["calibrate", "--runs", "3", "--jobs", "1"]) == 0
    assert "Every promise was kept." in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["--budget", "0"], ["--budget", "1"], ["--runs", "0"], ["--seed", "-1"], ["--jobs", "0"]]
)
def test_wrong_numbers_are_refused_in_one_line(arguments, capsys):
    assert invoke(["calibrate", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
