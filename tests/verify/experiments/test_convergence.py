"""The experiments' words say what their runs show: who wins, who is apart, who ends at a Goldstein point."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from verify.experiments import across_kinks, convergence, tuning
from verify.experiments.benchmark_problems import Course
from verify.experiments.compared_methods import DSBLO_2, F2CSA, PIGD, PRINTED_SSIGD, SSIGD, Contender
from verify.experiments.convergence_words import described as told_of_losses
from verify.experiments.convergence_words import rise
from verify.experiments.kinks_words import Ends
from verify.experiments.kinks_words import described as told_of_kinks
from verify.experiments.method_runs import MethodRuns
from verify.experiments.model import Experiment
from verify.experiments.tuning import Budget, Tuned
from verify.experiments.work_cells import Bench


def runs_of(name: str, end: float, *, distance: float = 0.0, stopped: str = "", seconds: float = 1e-3) -> MethodRuns:
    """Two runs from 10 to ``end``, 0 being the lowest F."""
    losses = [10.0, 5.0 + end / 2, end + 0.1, end]
    record: dict[str, Any] = {
        "calls": [0.0, 5.0, 20.0, 40.0], "products": [0.0, 50.0, 200.0, 400.0], "loss": losses, "at": [0.0, 2.0, 3.0],
        "lower": [1.0, distance, distance], "upper": [1.0, distance, distance], "certified": [1.0] * 3, "noise": 0.5,
        "held": [0.02, 0.04, 0.0, 0.06],
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
    assert slow.left_after(quick.whole_time) == pytest.approx([5.05 / 10] * 2)
    told = losses(quick, slow, runs_of(DSBLO_2, 0.3, seconds=4e-3))
    assert "SSIGD in 1 and F2CSA in 1" in told.lead


def test_a_faster_program_of_a_method_changes_nothing_on_equal_work_and_time_says_whose_it_is() -> None:
    def told(seconds: float) -> Experiment:
        rivals = [runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.3)]
        swapped = [runs_of(F2CSA, 0.2, seconds=seconds), *rivals]
        return losses(*(replace(one, entrant=replace(one.entrant, fast=True)) for one in swapped))

    slow, quick = told(4e-3), told(1e-5)
    assert slow.rows[0]["place, equal work"] == quick.rows[0]["place, equal work"]
    first, second = (found.sentences[0].split("; in equal time") for found in (slow, quick))
    assert first[0] == second[0]
    assert first[1] != second[1]
    assert "s of the prepared programs" in first[1]
    assert slow.findings == quick.findings
    assert (
        "s of the plain pages" in losses(runs_of(F2CSA, 0.2), runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.3)).sentences[0]
    )


def test_pages_stand_beside_and_decide_nothing() -> None:
    best = [runs_of(F2CSA, 0.05), runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.3)]
    pages = [replace(runs_of(name, end), beside="page") for name, end in ((F2CSA, 0.4), (SSIGD, 0.1), (DSBLO_2, 0.3))]
    told = losses(*best, *pages)
    assert told.lead.startswith("F2CSA comes furthest down")
    assert "(its plain page: place 4 %)" in told.lead
    assert any(said.startswith("As plain pages") and "SSIGD comes furthest" in said for said in told.sentences)
    assert [row["method"] for row in told.rows[:6]] == [
        F2CSA,
        SSIGD,
        DSBLO_2,
        *(f"{n}, page" for n in (F2CSA, SSIGD, DSBLO_2)),
    ]
    assert told.findings == losses(*best).findings


def test_a_method_that_fails_early_does_not_set_the_time() -> None:
    early = runs_of(SSIGD, 0.1, stopped="F has grown", seconds=1e-9)
    told = losses(runs_of(F2CSA, 0.2), early, runs_of(DSBLO_2, 0.3))
    assert "in equal time, 0.04 s" in told.sentences[0]
    assert "1 to without end (one fails)" not in told.finding("convergence-experiment").sentence
    assert "without end (one fails)" in told.finding("convergence-experiment").sentence


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
    # A run that failed has no certificate.
    failed = Ends.of(runs_of(F2CSA, 0.1, stopped="F has grown"), 0.1)
    assert (failed.there, failed.away, failed.failed, failed.shown) == (0, 0, 2, "0 of 2 (2 failed)")
    undecided = runs_of(F2CSA, 0.1)
    bounds = {"lower": [1.0, 0.05, 0.05], "upper": [1.0, 0.3, 0.3]}
    found = Ends.of(replace(undecided, records=[record | bounds for record in undecided.records]), 0.1)
    assert (found.there, found.away) == (0, 0)


def kinks(*runs: MethodRuns, **setting: float) -> Experiment:
    return told_of_kinks(runs, [], {"target of the distance": 0.1, **setting}, ("quick", 0))


def five(one: MethodRuns) -> MethodRuns:
    return replace(one, records=[one.records[0]] * 5, lows=[0.0] * 5)


def test_of_kinks_the_first_sentence_names_who_gets_there() -> None:
    told = kinks(runs_of(F2CSA, 0.1, distance=0.5), runs_of(SSIGD, 0.1))
    assert told.lead.startswith("At a Goldstein point, by proof, ends SSIGD on the most runs, 2 of 2 (16 to 100 %)")
    assert "F2CSA on 0 of 2 (0 to 84 %): the intervals overlap" in told.lead
    assert told.rows[0] == {"method": F2CSA, "place": "0 of 2"}
    nobody = kinks(runs_of(F2CSA, 0.1, distance=0.5), runs_of(SSIGD, 0.1, distance=0.5))
    assert "0 of 2" in nobody.lead


def test_few_draws_say_nothing_of_always_or_alone() -> None:
    alone = [runs_of(F2CSA, 0.1), runs_of(SSIGD, 0.1, distance=0.5)]
    few = kinks(*alone)
    for word in ("alone", "always get", "oonest with"):
        assert word not in few.lead
    assert "So few draws" in few.lead
    assert not any("soonest" in said for said in few.sentences)
    enough = kinks(*map(five, alone))
    assert "F2CSA alone has all its runs there on: place, the next on 0 of 5." in enough.lead
    assert "5 of 5 (48 to 100 %)" in enough.lead
    assert "overlap" not in kinks(*map(five, (runs_of(SSIGD, 0.1), runs_of(F2CSA, 0.1)))).lead


def test_a_failure_is_not_called_certified() -> None:
    told = kinks(
        runs_of(F2CSA, 0.1), runs_of(SSIGD, 0.1, stopped="no step at call 1"), runs_of(DSBLO_2, 0.1, distance=0.5)
    )
    said = told.sentences[0]
    assert "SSIGD fails (no step at call 1)" in said
    assert "DS-BLO, option II on none, by proof" in said


def test_curves_below_the_floor_have_lanes_of_their_own() -> None:
    (plot,) = kinks(runs_of(F2CSA, 0.1), runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.1, distance=0.5)).plots
    ends = [series.y[-1] for series in plot.series]
    assert ends[2] == 0.5
    assert 1e-4 < ends[1] < ends[0] < 1e-3
    assert "below 0.001 a lane" in plot.x_label


def test_the_pairs_are_printed_and_what_is_freed_is_said() -> None:
    long, short = runs_of(DSBLO_2, 0.1), runs_of(DSBLO_2, 0.1)
    short = replace(short, entrant=Contender(DSBLO_2, 0.001))
    freed, kept = (kinks(runs_of(F2CSA, 0.1), one, **{"Goldstein radius": 0.05}) for one in (long, short))
    assert "of its tuned pairs none keeps" in freed.sentences[-1]
    assert "DS-BLO, option II on place keeps" in kept.sentences[-1]
    assert {"tuned method": DSBLO_2, "place": "0.001; β tied to γ₁"} in kept.rows


def test_a_further_number_at_the_end_of_those_tried_is_flagged() -> None:
    here = [runs_of(F2CSA, 0.2), runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.3)]
    at_end = Tuned(0.1, 0.03, False, 0.97, ends=("β = 0.97",))
    here[2] = replace(here[2], entrant=Contender(DSBLO_2, 0.1, further=0.97), tuned=at_end)
    told = "At an end of what was tried, so that the best may lie beyond: DS-BLO, option II on place (β = 0.97)."
    assert told in losses(*here).sentences
    flag = "At an end of the further numbers tried, so that the best may lie beyond: "
    assert flag + "DS-BLO, option II on place (β = 0.97)." in kinks(*here).sentences
    here[2] = replace(here[2], tuned=replace(at_end, ends=()))
    assert not any("was tried" in said for said in losses(*here).sentences)
    for name, ends in tuning.OPEN_ENDS.items():
        assert set(ends) <= {value for value, _ in tuning.FURTHER[name]}


def test_the_best_of_two_problems_ran_on_both() -> None:
    here = [runs_of(F2CSA, 0.2), runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.3), runs_of(PIGD, 0.01)]
    there = [replace(one, variant="other") for one in here[:3]]
    assert losses(*here, *there).lead.startswith("SSIGD comes furthest down in all 4 comparisons")


def test_shares_of_two_seeds_are_printed_as_a_range() -> None:
    one = runs_of(F2CSA, 0.2)
    one.records[1] = one.records[1] | {"loss": [10.0, 9.0, 8.0, 7.0]}
    told = losses(one, runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.3))
    assert "F2CSA leaves on equal work: place 2 % to 70 %." in told.lead


def test_what_the_box_holds_is_said() -> None:
    runs = [runs_of(F2CSA, 0.2), runs_of(SSIGD, 0.1), runs_of(DSBLO_2, 0.3)]
    assert any("place 2, 0, 6." in said for said in losses(*runs).sentences)
    for one in runs:
        one.records[:] = [record | {"held": [0.0] * 4} for record in one.records]
    assert any("No path meets a constraint on place" in said for said in losses(*runs).sentences)


def test_a_problem_that_is_not_drawn_is_tuned_from_other_starts() -> None:
    for name, at in across_kinks.PLACES.items():
        kept = [across_kinks.kept_for_tuning(name, 1000 + k) for k in range(2)]
        judged = [across_kinks._drawn(name, k) for k in range(5)]
        assert not set(kept) & set(judged)
        assert len(set(kept)) == 2
        assert all([not x for x in one.start] == [not x for x in at.start] for one in kept)


def test_kinks_are_tuned_on_what_is_judged() -> None:
    def scored(upper: list[float], *, certified: float = 1.0, stopped: str = "") -> float:
        record = {"upper": upper, "at": [0.0, 1.0, 2.0], "calls": [0.0, 100.0, 400.0], "stopped": stopped}
        return across_kinks.score(record | {"certified": [1.0, 1.0, certified]}, 0.0)

    order = [
        scored([1.0, 0.0, 0.0]), scored([1.0, 1.0, 0.0]), scored([1.0, 0.0, 0.3]), scored([1.0, 0.0, 30.0]),
        scored([1.0, 0.0, 0.0], stopped="F has grown"),
    ]  # fmt: skip
    assert order == sorted(order) == [0.25, 1.0, pytest.approx(1.23, abs=0.01), pytest.approx(1.97, abs=0.01), 3.0]
    assert scored([1.0, 0.0, 0.0], certified=0.0) > 0.99


def test_a_small_convergence_experiment_from_end_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convergence, "D", 3)
    monkeypatch.setattr(convergence, "BUDGET", {"quick": Budget(40.0)})
    monkeypatch.setattr(tuning, "FURTHER", {name: each[:1] for name, each in tuning.FURTHER.items()})
    monkeypatch.setattr(convergence, "SEEDS", {"quick": 1})
    monkeypatch.setattr(convergence, "LENGTHS", {"quick": (0.1,)})
    monkeypatch.setattr("verify.experiments.budgeted_run.TIMED_CALLS", 5)
    found = convergence.run(Bench(None, {}), "quick", 0)
    assert {f.statement for f in found.findings} == {"convergence-experiment", "convergence-experiment/stable"}
    methods = {row["method"] for row in found.rows if "method" in row}
    assert {F2CSA, SSIGD, DSBLO_2, PRINTED_SSIGD} <= methods
    assert len(found.plots) == 6


def test_a_small_kinks_experiment_from_end_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(across_kinks, "QUICK", ("one kink",))
    monkeypatch.setattr(across_kinks, "PLACES", {"one kink": Course("kink", 0.05, start=(0.9,))})
    monkeypatch.setattr(across_kinks, "METHODS", (F2CSA, SSIGD, DSBLO_2))
    monkeypatch.setattr(across_kinks, "CALLS", {"quick": 40})
    monkeypatch.setattr(across_kinks, "LENGTHS", {"quick": (0.3, 0.03)})
    monkeypatch.setattr(tuning, "FURTHER", {name: each[:1] for name, each in tuning.FURTHER.items()})
    found = across_kinks.run(Bench(None, {}), "quick", 0)
    assert found.rows[0]["method"] == F2CSA
    assert any(
        row.get("distance, upper") == 0.0 and row["lower bound certified"] for row in found.rows if "alpha" in row
    )
