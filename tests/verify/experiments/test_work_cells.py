"""Cells are performed once, kept, and taken up again; another run's are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spec import InvalidInputError
from verify.experiments.work_cells import Bench, Cell, _line, least_seconds

HEADER = {"experiment": "squares", "seed": 1}
CELLS = [Cell("work_cells:least_seconds", {"call": None, "repeats": 0, "most_seconds": float(k)}) for k in range(3)]
"""With no repeats it answers infinity at once, whatever it is given."""


def test_answers_come_in_the_order_of_the_cells() -> None:
    told: list[tuple[int, int, str]] = []
    bench = Bench(None, HEADER, show=lambda *said: told.append(said))
    assert bench.perform("all", CELLS) == [float("inf")] * 3
    assert told == [(k, 3, "all") for k in range(4)]


def test_workers_answer_as_this_process_does() -> None:
    assert Bench(None, HEADER, jobs=2).perform("all", CELLS) == Bench(None, HEADER).perform("all", CELLS)


def test_a_finished_cell_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "squares.cells.jsonl"
    Bench(path, HEADER).perform("first", CELLS[:2])
    lines = path.read_text().splitlines()
    # What is on file is what counts: here it says something else than a repetition would.
    path.write_text("\n".join([lines[0], _line(CELLS[0].key, 7.0), lines[2]]) + "\n")
    again = Bench(path, HEADER, resume=True)
    assert again.perform("all", CELLS) == [7.0, float("inf"), float("inf")]
    assert again.reused == 2
    assert len(path.read_text().splitlines()) == 4


def test_a_fresh_folder_has_nothing_to_reuse(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "squares.cells.jsonl", HEADER)
    bench.perform("first", CELLS)
    # The same cells asked for again, or twice at once, were not there before this run.
    bench.perform("again", [*CELLS, *CELLS])
    assert bench.reused == 0
    again = Bench(tmp_path / "squares.cells.jsonl", HEADER, resume=True)
    again.perform("all", [*CELLS, *CELLS])
    assert again.reused == 3


def test_workers_stay_for_the_next_stage_and_go_where_a_cell_fails() -> None:
    bench = Bench(None, HEADER, jobs=1 + 1)
    bench.perform("first", CELLS[:1])
    pool = bench._pool
    bench.perform("second", CELLS[1:])
    assert bench._pool is pool is not None
    with pytest.raises(AttributeError):
        bench.perform("third", [Cell("work_cells:no_such_work", {"k": k}) for k in range(3)])
    assert bench._pool is None
    assert bench.perform("fourth", CELLS) == [float("inf")] * 3


def test_a_torn_line_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "squares.cells.jsonl"
    Bench(path, HEADER).perform("all", CELLS)
    path.write_text(path.read_text()[:-9])
    again = Bench(path, HEADER, resume=True)
    assert len(again.perform("all", CELLS)) == 3
    assert again.reused == 2


@pytest.mark.parametrize("damage", [("Infinity", "7.0"), ("Infinity", "null"), ('"answer"', '"reply"'), ("}", "")])
def test_a_changed_line_is_refused_and_kept(tmp_path: Path, damage: tuple[str, str]) -> None:
    path = tmp_path / "squares.cells.jsonl"
    Bench(path, HEADER).perform("all", CELLS)
    lines = path.read_text().splitlines()
    text = "\n".join([*lines[:2], lines[2].replace(*damage), lines[3]]) + "\n"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=r"line 3 of squares\.cells\.jsonl is not; remove it"):
        Bench(path, HEADER, resume=True)
    assert path.read_text() == text


def test_cells_asked_for_twice_were_not_there_before(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "squares.cells.jsonl", HEADER)
    bench.perform("all", [*CELLS, CELLS[0]])
    bench.perform("again", CELLS)
    assert bench.reused == 0


@pytest.mark.parametrize(
    ("text", "resume", "said"),
    [
        (json.dumps({"schema": "f2csa-cells/1", **HEADER}), False, "holds finished cells"),
        (json.dumps({"schema": "f2csa-cells/1", "experiment": "squares", "seed": 2}), True, "it differs in seed"),
        ("my own notes", True, "must find a file of finished cells"),
        ("[1, 2]", True, "must find a file of finished cells"),
    ],
)
def test_another_file_is_refused_and_kept(tmp_path: Path, text: str, resume: bool, said: str) -> None:
    path = tmp_path / "squares.cells.jsonl"
    path.write_text(text + "\n")
    with pytest.raises(InvalidInputError, match=said):
        Bench(path, HEADER, resume=resume)
    assert path.read_text() == text + "\n"


def test_cells_are_told_apart_by_what_they_do_and_with_what() -> None:
    keys = {cell.key for cell in CELLS} | {Cell("work_cells:other", CELLS[0].arguments).key}
    assert len(keys) == 4
    assert Cell("a:b", {"x": 1, "y": 2}).key == Cell("a:b", {"y": 2, "x": 1}).key


def test_the_least_of_a_few_is_taken_and_time_is_kept() -> None:
    calls: list[int] = []
    assert 0 <= least_seconds(lambda: calls.append(1), repeats=5, most_seconds=60) < 1
    assert len(calls) == 5
    least_seconds(lambda: calls.append(1), repeats=5, most_seconds=-1)
    assert len(calls) == 6
