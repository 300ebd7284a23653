"""The board says who is ahead where, ours behind included, and drops nobody without a word."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from verify.experiments import hypergradient_board as board
from verify.experiments.answers import board_field as entrants
from verify.experiments.answers.board_field import Field
from verify.experiments.answers.ours import FastF2csa, FastImplicitEntrant, PageF2csa
from verify.experiments.answers.race import COLD, FRESH, PREPARING, UNIT, WALKING, WANTED
from verify.experiments.hypergradient_board_words import described
from verify.experiments.model import Experiment, Row
from verify.experiments.work_cells import Bench


def rows_of(ratio: float, *, reached: int = len(WANTED), status: str = "", d: int = 100) -> Iterator[Row]:
    """F2CSA at a ratio to the unit on one problem, down to so many errors."""
    for wanted in WANTED:
        for name, method, over in ((UNIT, "implicit gradient", 1.0), ("F2CSA", "F2CSA", ratio)):
            at: Row = {"rows": "box", "d": d, "condition": 10.0, "seed": 0, "entrant": name, "method": method,
                       "implementation": "some", "wanted": wanted}  # fmt: skip
            if name != UNIT and (status or WANTED.index(wanted) >= reached):
                yield at | {"status": status or "not reached"}
                continue
            for points in (PREPARING, COLD, WALKING, FRESH):
                yield at | {
                    "status": "reached", "points": points, "time over the unit's": over, "lower quartile": 0.9,
                    "upper quartile": 1.1, "products": 8.0, "factorisations": 0.0, "bytes over the unit's": over,
                }  # fmt: skip


def told(*rows: Iterator[Row], absent: tuple[str, ...] = ()) -> Experiment:
    field = Field((FastImplicitEntrant(), FastF2csa()), absent)
    return described([row for each in rows for row in each], field, "quick", 0)


def test_who_is_ahead_is_said_and_who_is_behind() -> None:
    ahead = told(rows_of(0.5), rows_of(2.0, d=10))
    assert "of 2 problems, on 1 at 1e-2" in ahead.lead
    assert "0.50 of its time at best" in ahead.lead
    assert "Behind it is on 1 and 1 at 1e-2" in ahead.lead
    behind = told(rows_of(2.0, reached=2))
    assert behind.lead.startswith(
        "Along a walk F2CSA has the answer before every implicit gradient, of 1 problems, nowhere"
    )
    assert "1e-12 it does not reach on 1 of 1" in behind.lead
    first = behind.rows[0]
    assert first["walking"] == "2.00 times; ahead 0, level 0, behind 1, not reached 0"
    assert behind.rows[4]["walking"] == "ahead 0, level 0, behind 0, not reached 1"


def test_what_differs_by_less_than_the_unit_from_itself_is_level() -> None:
    assert told(rows_of(1.03)).rows[0]["fresh"] == "1.03 times; ahead 0, level 1, behind 0, not reached 0"


def test_who_is_kept_away_and_who_is_not_here_is_a_line_each() -> None:
    found = told(rows_of(1.0, status="left out: the lower level is infeasible"), absent=("jaxopt, which needs jax",))
    assert "Not here is jaxopt, which needs jax." in found.sentences
    assert "F2CSA left out: the lower level is infeasible (box, d = 100, condition 10)." in found.sentences


def test_no_second_stands_on_the_page() -> None:
    found = told(rows_of(0.5))
    assert not any("seconds" in plot.y_label for plot in found.plots)
    assert all("seconds" not in name for row in found.rows for name in row)


def test_a_small_board_from_end_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entrants, "OURS", (FastImplicitEntrant(), FastF2csa(), PageF2csa()))
    monkeypatch.setattr(entrants, "PUBLIC", ())
    monkeypatch.setattr(board, "CONDITIONS", {"quick": (10.0,)})
    monkeypatch.setattr(board, "COUNTS", {"small": (1, 2, 2, 1)})
    found = board.run(Bench(None, {}), "quick", 0, largest=10)
    assert found.setting["dimensions"] == [10]
    assert [row["relative error"] for row in found.rows[: len(WANTED)]] == list(WANTED)
    assert {row["rows"] for row in found.rows if "rows" in row} == {"box", "5 rows"}
    assert len(found.plots) == 3
