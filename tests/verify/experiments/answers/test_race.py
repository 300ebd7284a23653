"""One problem of the board: all are held to the error at every point; what differs in time alone changes no answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from f2csa_ref.objectives import QuadraticObjectives
from spec.exact import Vector
from verify.experiments.answers import board_field as entrants
from verify.experiments.answers import race
from verify.experiments.answers.answering import Answer, Answering, Effort
from verify.experiments.answers.ours import FastF2csa, FastImplicitEntrant
from verify.experiments.answers.race import UNIT, WANTED, measured
from verify.experiments.model import Row

COUNTS = (1, 2, 2, 1)


class Slower(FastF2csa):
    """The same method, busy for a while before each answer."""

    name = "F2CSA, slower"

    def prepare(self, q: QuadraticObjectives, effort: Effort) -> Answering:
        return _Late(super().prepare(q, effort))


class _Late:
    def __init__(self, answering: Answering) -> None:
        self.answering, self.preparation = answering, answering.preparation

    def at(self, x: Vector, rng: np.random.Generator | None = None) -> Answer:
        until = time.process_time() + 2e-3
        while time.process_time() < until:
            pass
        return self.answering.at(x, rng)


class Wrong(FastImplicitEntrant):
    name = "wrong"

    def prepare(self, q: QuadraticObjectives, effort: Effort) -> Answering:
        return _Off(super().prepare(q, effort))


class _Off(_Late):
    """Right at the first two points that it is asked for, 1 % off at all others."""

    def __init__(self, answering: Answering) -> None:
        super().__init__(answering)
        self.calls = 0

    def at(self, x: Vector, rng: np.random.Generator | None = None) -> Answer:
        self.calls += 1
        right = self.answering.at(x, rng)
        return right if self.calls <= 2 else Answer(1.01 * right.hypergradient, right.work)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entrants, "OURS", (FastImplicitEntrant(), FastF2csa(), Slower(), Wrong()))
        patch.setattr(entrants, "PUBLIC", ())
        return measured({"rows": "box", "d": 12, "condition": 10.0, "seed": 0}, counts=COUNTS)


def _of(rows: list[Row], name: str, points: str = "walking") -> dict[Any, Mapping[str, Any]]:
    return {row["wanted"]: row for row in rows if row["entrant"] == name and row.get("points") == points}


def test_no_answer_is_worse_than_the_error_it_stands_for(rows: list[Row]) -> None:
    reached = [row for row in rows if row["status"] == "reached"]
    assert reached
    for row in reached:
        error, wanted = row["error"], row["wanted"]
        assert isinstance(error, float)
        assert isinstance(wanted, float)
        assert error <= wanted


def test_the_unit_reaches_all_and_takes_its_own_time(rows: list[Row]) -> None:
    found = _of(rows, UNIT)
    assert set(found) == set(WANTED)
    assert all(row["bytes over the unit's"] == 1.0 for row in found.values())


def test_a_slower_entrant_of_one_method_gives_the_same_answers_at_the_same_work(rows: list[Row]) -> None:
    swift, slow = _of(rows, "F2CSA"), _of(rows, "F2CSA, slower")
    assert set(swift) == set(slow)
    for wanted, row in swift.items():
        same = ("error", "alpha", "tol", "products", "factorisations", "bytes", "draws")
        assert [row[name] for name in same] == [slow[wanted][name] for name in same]
        assert slow[wanted]["time over the unit's"] > row["time over the unit's"]


def test_what_is_right_only_where_efforts_are_chosen_is_not_called_there(rows: list[Row]) -> None:
    status = {row["wanted"]: row["status"] for row in rows if row["entrant"] == "wrong"}
    assert status[1e-4] == "not reached"


def test_a_kind_of_points_each_and_preparation_apart(rows: list[Row]) -> None:
    kinds = {row["points"] for row in rows if row["entrant"] == "F2CSA" and row["status"] == "reached"}
    assert kinds == {race.PREPARING, race.COLD, race.WALKING, race.FRESH}
    assert all(row["factorisations"] == 0 for row in _of(rows, "F2CSA", race.PREPARING).values())
    assert all(row["pairs"] == 2 for row in _of(rows, "F2CSA").values())


def test_who_is_left_out_at_a_size_is_said() -> None:
    place = {"rows": "box", "d": 10, "condition": 10.0, "seed": 0}
    found = measured(place, counts=COUNTS, without=[e.name for e in entrants.OURS if e.name != UNIT])
    said = {row["entrant"]: row["status"] for row in found if row["entrant"] != UNIT and row["entrant"] in
            {e.name for e in entrants.OURS}}  # fmt: skip
    assert set(said.values()) == {"left out: not run at this size"}
