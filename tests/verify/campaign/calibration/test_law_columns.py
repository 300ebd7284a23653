"""The decisions on noise of other laws: counted, summed up, and no promise broken in a few runs."""

from __future__ import annotations

import pytest

from verify.campaign.calibration import law_columns
from verify.campaign.calibration.law_columns import DECISIONS, NOT_ASKED, LawAchieved, run_laws, summarise_laws
from verify.campaign.calibration.noise_laws import NOISE_LAWS

LAWS = ("Gauss", "t3", "anisotropic", law_columns.SHARED)
"""One a kind: light tails, heavy ones, directions that differ, and draws that are not independent."""


@pytest.mark.parametrize("law", LAWS)
def test_a_law_meets_every_decision_and_keeps_its_promise(law, monkeypatch):
    monkeypatch.setattr(law_columns, "NOISE_LAWS", {law: NOISE_LAWS[law]})
    rows = run_laws(range(1), seed=0, budget=1e-2)
    table = summarise_laws(rows, 1e-2)
    assert len(table) == len(DECISIONS) - sum(law == other for _, other in NOT_ASKED)
    assert all(row.outcome == "not shown" and row.runs == 1 for row in table)
    assert not any(row.supported for row in table)


def test_the_smallest_violation_found_is_of_the_size_that_the_decision_is_asked_for(monkeypatch):
    monkeypatch.setattr(law_columns, "NOISE_LAWS", {"Gauss": NOISE_LAWS["Gauss"]})
    found = {name: law_columns.smallest_found(name, 3, seed=0, budget=1e-2)["Gauss"] for name in law_columns.SIZES}
    assert 0.03 <= found["mean"] <= 0.1
    assert 0.1 <= found["variance"] <= 0.3
    assert 0.1 <= found["mean square"] <= 0.3


def test_decisions_as_the_oracles_statements_ask_find_what_they_are_asked_for():
    found = law_columns.smallest_as_asked(1, seed=0, error=1e-9)
    for name, (wanted, _) in law_columns.AS_ASKED.items():
        assert found[name] <= wanted


def test_a_broken_promise_is_said():
    row = LawAchieved(
        law="t3",
        decision="variance",
        runs=200,
        wrong_runs=200,
        refuted=180,
        supported=0,
        left_open=0,
        error=1e-2,
        missed=1e-3,
    )
    assert row.outcome == "broken"
    assert row.model_copy(update={"refuted": 0, "supported": 20}).outcome == "broken"
    open_ = row.model_copy(update={"refuted": 0, "left_open": 200})
    assert open_.outcome == "not shown"
    assert open_.model_copy(update={"runs": 10_000, "wrong_runs": 10_000}).outcome == "kept"
