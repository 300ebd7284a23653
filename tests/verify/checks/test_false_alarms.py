"""A false alarm of a test of samples' shape costs further samples, not a verdict."""

from __future__ import annotations

from dataclasses import replace

from verify.campaign.plan import Task, perform
from verify.checks.measuring.runs import iteration_runs
from verify.checks.measuring.runs.iteration_runs import TIMES
from verify.subjects import ReferenceSubject


def test_squares_that_seem_to_scatter_too_much_are_looked_at_once_more(monkeypatch):
    real, asked = iteration_runs.law_of_variance, []

    def alarmed(*given):
        asked.append(given)
        taken = real(*given)
        return replace(taken, worth=0.05 * taken.worth) if len(asked) <= len(TIMES) else taken

    monkeypatch.setattr(iteration_runs, "law_of_variance", alarmed)
    found = perform(Task("inner-loop-remark", "repaired", "interior", "reference", "smoke", 1), ReferenceSubject())
    assert found.fault is None, found.fault
    assert str(found.verdict) == "SUPPORTED"
    assert len(asked) == 2 * len(TIMES)
