"""The experiments' words say what their runs show: who wins, who is apart, who ends at a Goldstein point."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from verify.experiments import across_kinks, convergence
from verify.experiments.bench import Bench
from verify.experiments.contenders import DSBLO_2, F2CSA, PRINTED_SSIGD, SSIGD, Contender
from verify.experiments.convergence_words import described as told_of_losses
from verify.experiments.convergence_words import rise
from verify.experiments.courses import Course
from verify.experiments.kinks_words import Ends
from verify.experiments.kinks_words import described as told_of_kinks
from verify.experiments.method_runs import MethodRuns
from verify.experiments.model import Experiment
from verify.experiments.tuning import Budget, Tuned


def runs_of(name: str, end: float, *, distance: float = 0.0, stopped: str = "", seconds: float = 1e-3) -> MethodRuns:
    """Two runs from 10 to ``end``, 0 being the lowest F."""
    losses = [10.0, 5.0 + end / 2, end + 0.1, end]
    record: dict[str, Any] = {
        "calls": [0.0, 5.0, 20.0, 40.0], "products": [0.0, 50.0, 200.0, 400.0], "loss": losses, "at": [0.0, 2.0, 3.0],
        "lower": [1.0, distance, distance], "upper": [1.0, distance, distance], "certified": [1.0] * 3, "noise": 0.5,
        "stopped": stopped,
    }  # fmt: skip
    return MethodRuns("place", Contender(name, 0.1), [record, record], [0.0, 0.0], seconds, Tuned(0.1, end / 10, False))


def losses(*runs: MethodRuns) -> Experiment:
    return told_of_losses(runs, [], {}, "quick", 0)


def test_a_rival_that_wins_is_named_first() -> None:
    told = losses(runs_of(F2CSA, 0.2), runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.3))
    assert told.lead.startswith("SSIGD comes furthest down in all 2 comparisons")
    assert losses(runs_of(F2CSA, 0.01), runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.3)).lead.startswith("F2CSA comes")


def test_equal_time_is_read_where_the_first_budget_is_spent() -> None:
    slow, quick = runs_of(SSIGD, 0.1, seconds=4e-3), runs_of(F2CSA, 0.2, seconds=1e-3)
    assert slow.left_after(quick.whole_time) == pytest.approx((5.05 - 0.0) / 10)
    told = losses(quick, slow, runs_of(DSBLO_2, 0.3, seconds=4e-3))
    assert "SSIGD in 1 and F2CSA in 1" in told.lead


def test_falls_within_a_twentieth_are_similar_and_others_are_not() -> None:
    near = losses(runs_of(F2CSA, 0.4), runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.1)).finding("convergence-experiment")
    assert near.measured == pytest.approx(9.9 / 9.6)
    assert "at similar losses (place)" in near.sentence
    far = losses(runs_of(F2CSA, 4.0), runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.1)).finding("convergence-experiment")
    assert "similar losses nowhere" in far.sentence
    failed = losses(runs_of(F2CSA, 0.1, stopped="F has grown"), runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.1))
    assert failed.finding("convergence-experiment").measured == math.inf


def test_a_rise_is_measured_in_noises() -> None:
    assert rise(runs_of(F2CSA, 0.2)) == 0.0
    climbing = runs_of(F2CSA, 0.2)
    climbing.records[1] = climbing.records[1] | {"loss": [10.0, 2.0, 4.5, 1.0]}
    assert rise(climbing) == 5.0


def test_ends_are_told_apart_by_certified_bounds() -> None:
    assert Ends.of(runs_of(F2CSA, 0.1, distance=0.05), 0.1).shown == "2 of 2, from call 20"
    assert Ends.of(runs_of(F2CSA, 0.1, distance=0.2), 0.1).away == 2
    assert Ends.of(runs_of(F2CSA, 0.1, stopped="F has grown"), 0.1).away == 2
    undecided = runs_of(F2CSA, 0.1)
    bounds = {"lower": [1.0, 0.05, 0.05], "upper": [1.0, 0.3, 0.3]}
    found = Ends.of(replace(undecided, records=[record | bounds for record in undecided.records]), 0.1)
    assert (found.there, found.away) == (0, 0)


def test_of_kinks_the_first_sentence_names_who_gets_there() -> None:
    runs = [runs_of(F2CSA, 0.1, distance=0.5), runs_of(SSIGD, 0.1)]
    told = told_of_kinks(runs, [], {"target of the distance": 0.1}, ("quick", 0))
    assert told.lead.startswith(
        "Every run of SSIGD ends at a Goldstein point, certified, on 1 of 1 problems, of F2CSA on 0"
    )
    assert told.rows[0] == {"method": F2CSA, "place": "0 of 2"}
    nobody = [runs_of(F2CSA, 0.1, distance=0.5), runs_of(SSIGD, 0.1, distance=0.5)]
    assert "on 0" in told_of_kinks(nobody, [], {"target of the distance": 0.1}, ("quick", 0)).lead


def test_a_small_convergence_experiment_from_end_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convergence, "D", 3)
    monkeypatch.setattr(convergence, "BUDGET", {"quick": Budget(100.0)})
    monkeypatch.setattr(convergence, "SEEDS", {"quick": 1})
    monkeypatch.setattr(convergence, "LENGTHS", {"quick": (0.1,)})
    monkeypatch.setattr("verify.experiments.budgeted_run.TIMED_CALLS", 5)
    found = convergence.run(Bench(None, {}), "quick", 0)
    assert {f.statement for f in found.findings} == {"convergence-experiment", "convergence-experiment/stable"}
    methods = {row["method"] for row in found.rows}
    assert {F2CSA, SSIGD, DSBLO_2, PRINTED_SSIGD} <= methods
    assert len(found.plots) == 6


def test_a_small_kinks_experiment_from_end_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(across_kinks, "QUICK", ("one kink",))
    monkeypatch.setattr(across_kinks, "PLACES", {"one kink": Course("kink", 0.05, start=(0.9,))})
    monkeypatch.setattr(across_kinks, "CALLS", {"quick": 40})
    monkeypatch.setattr(across_kinks, "LENGTHS", {"quick": (0.3, 0.03)})
    found = across_kinks.run(Bench(None, {}), "quick", 0)
    assert found.rows[0]["method"] == F2CSA
    assert any(
        row.get("distance, upper") == 0.0 and row["lower bound certified"] for row in found.rows if "alpha" in row
    )
