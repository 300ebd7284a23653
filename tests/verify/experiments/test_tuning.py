"""One protocol for all: every method gets every length, and the best is taken and flagged at an end."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest

from verify.experiments.benchmark_problems import Course
from verify.experiments.compared_methods import DESCENT, DSBLO_2, F2CSA, PARENT, PIGD, SSIGD, ZEROTH
from verify.experiments.tuning import FURTHER, LENGTHS, Budget, Judging, Tuned, left, share, trials, tuned
from verify.experiments.work_cells import Bench

COURSE = Course("paper", 0.1, 3, 10.0, 7)


def test_the_best_length_is_taken_and_flagged_at_an_end() -> None:
    lengths = (100.0, 0.03, 0.0003)
    taken, rows = tuned(Bench(None, {}), {"small": [COURSE]}, {"small": (SSIGD, DESCENT)}, Budget(30, "calls"), lengths)
    assert len(rows) == 6
    for name in (SSIGD, DESCENT):
        by_length = {row["length tried"]: row["share of the fall left"] for row in rows if row["method"] == name}
        assert taken["small", name].length == 0.03 == min(by_length, key=by_length.__getitem__)  # type: ignore[arg-type]
        assert not taken["small", name].at_end
        assert by_length[100.0] == math.inf
    taken, _ = tuned(Bench(None, {}), {"small": [COURSE]}, {"small": (SSIGD,)}, Budget(30, "calls"), (0.03, 0.0003))
    assert taken["small", SSIGD].at_end


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"loss": [3.0, 2.0], "stopped": ""}, 0.5), ({"loss": [3.0, 2.0], "stopped": "F has grown"}, math.inf),
        ({"loss": [3.0, math.nan], "stopped": ""}, math.inf), ({"loss": [3.0, 4.0], "stopped": ""}, 1.5),
    ],
)  # fmt: skip
def test_the_share_of_the_fall_that_is_left(record: dict[str, Any], expected: float) -> None:
    assert left(record, 1.0) == expected


def test_no_fall_to_make() -> None:
    assert share(1.0, 1.0, 1.0) == 0.0
    assert share(2.0, 1.0, 1.0) == math.inf


def test_two_lengths_a_decade() -> None:
    for lengths in LENGTHS.values():
        assert all(abs(a / b - 10**0.5) < 1e-6 for a, b in pairwise(lengths))


def test_every_method_has_as_many_trials_of_its_two_numbers() -> None:
    names = (SSIGD, DSBLO_2, PIGD, DESCENT)
    lengths = (0.1, 0.0316227766, 0.01)
    taken, rows = tuned(Bench(None, {}), {"small": [COURSE]}, {"small": names}, Budget(8, "calls"), lengths, Judging())
    assert {taken["small", name].trials for name in names} == {trials(lengths)} == {8}
    for name in names:
        mine = [row for row in rows if row["method"] == name]
        assert len({(row["length tried"], row["further number tried"]) for row in mine}) == len(mine) == 8
        (best,) = [row for row in mine if row["taken"]]
        assert best["share of the fall left"] == min(row["share of the fall left"] for row in mine)  # type: ignore[type-var]
        made = taken["small", name].contender(name)
        assert (made.length, made.told) == (best["length tried"], best["further number tried"])


def test_all_methods_have_three_further_trials() -> None:
    assert {len(each) for each in FURTHER.values()} == {3}
    assert all(value != 0.0 for each in FURTHER.values() for value, _ in each)


def test_a_score_of_ones_own_decides() -> None:
    # By the end's F alone the longest is the worst; judged by its calls alone the first is taken.
    judging = Judging(further=False, score=lambda record, _low: -max(record["loss"]), label="height")
    taken, rows = tuned(
        Bench(None, {}), {"small": [COURSE]}, {"small": (DESCENT,)}, Budget(30, "calls"), (30.0, 0.03), judging
    )
    assert taken["small", DESCENT].length == 30.0
    assert all("height" in row for row in rows)


def test_own_numbers_have_as_many_trials_for_every_method_and_go_past_an_end() -> None:
    names = (SSIGD, DSBLO_2, PIGD, F2CSA, PARENT, ZEROTH)
    lengths, judging = (0.1, 0.0316227766, 0.01), Judging(rounds=4, fast=True)
    taken, rows = tuned(Bench(None, {}), {"small": [COURSE]}, {"small": names}, Budget(8, "calls"), lengths, judging)
    assert {taken["small", name].trials for name in names} == {trials(lengths, 4)} == {14}
    for name in names:
        mine = [row for row in rows if row["method"] == name]
        assert len({(row["length tried"], row["further number tried"]) for row in mine}) == len(mine) == 14
        scores = {(row["length tried"], row["further number tried"]): row["share of the fall left"] for row in mine}
        best = taken["small", name].contender(name)
        assert scores[best.length, best.told] == min(scores.values())  # type: ignore[type-var]
    # Eight calls from afar want the longest steps: the grid's end was left.
    assert max(float(row["length tried"] or 0) for row in rows if row["method"] == SSIGD) > max(lengths)


def test_a_page_keeps_what_its_method_was_tuned_to_at_its_best() -> None:
    given = {("small", SSIGD): Tuned(0.1, 0.0, False, 0.5, own=(("perturbation", 1e-3),))}
    judging = Judging(further=False, given=given)
    taken, rows = tuned(
        Bench(None, {}), {"small": [COURSE]}, {"small": (SSIGD,)}, Budget(8, "calls"), (0.1, 0.03), judging
    )
    assert len(rows) == 2
    assert taken["small", SSIGD].further == 0.5
    assert taken["small", SSIGD].own == (("perturbation", 1e-3),)
