import json

import pytest

from benchmarks.board_table import BEGIN, END, main, replaced
from verify.experiments.answers.board_table import by_problem, markdown

WHERE = {"rows": "box", "d": 100, "condition": 10.0, "seed": 0}


def reached(entrant: str, wanted: float, points: str, ratio: float) -> dict[str, object]:
    return {**WHERE, "entrant": entrant, "wanted": wanted, "status": "reached", "points": points,
            "time over the unit's": ratio}  # fmt: skip


ROWS = [
    reached("F2CSA", 1e-2, "walking", 1.234), reached("F2CSA", 1e-2, "fresh", 12.6),
    reached("F2CSA", 1e-2, "cold", 3.0),
    {**WHERE, "entrant": "F2CSA", "wanted": 1e-6, "status": "not reached"},
    {**WHERE, "entrant": "F2CSA, page", "status": "left out: not run at this size"},
    {**WHERE, "d": 10, "entrant": "F2CSA", "wanted": 1e-2, "status": "not reached"},
]  # fmt: skip


def test_a_problem_has_one_row_with_times_or_why_there_are_none() -> None:
    (row,) = by_problem(ROWS)
    assert row["time, walk and fresh points"] == "box, d = 100, condition 10"
    assert row["F2CSA at 1e-2"] == "1.23, 13"
    assert row["F2CSA at 1e-6"] == "not reached"
    assert row["F2CSA, page at 1e-2"] == "left out"
    assert row["F2CSA, first-order at 1e-2"] == ""


def test_the_document_gets_the_table_of_the_run_between_its_marks(tmp_path, capsys) -> None:
    run = {"name": "board", "size": "whole", "seed": 3, "environment": {"numpy": "2.0"}, "rows": ROWS}
    data, document = tmp_path / "board.json", tmp_path / "d.md"
    data.write_text(json.dumps(run))
    document.write_text(f"before\n{BEGIN}old\n{END}after\n")
    assert main([str(data), str(document)]) == 0
    once = document.read_text()
    assert once.startswith("before\n") and once.endswith(f"{END}after\n") and "old" not in once
    assert markdown(list(by_problem(ROWS))) in once
    assert "seed 3, numpy 2.0" in once
    assert replaced(once, json.dumps(run)) == once
    document.write_text("no marks\n")
    assert main([str(data), str(document)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("text", ["{}", "not json", "[]"])
def test_what_is_no_board_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"board|Expecting"):
        replaced(f"{BEGIN}{END}", text)
