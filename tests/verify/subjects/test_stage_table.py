"""A stage is its row: in the documents, in Python and in messages."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from verify.subjects import ReferenceSubject
from verify.subjects.adapters import EndToEnd
from verify.subjects.protocol import StageCalls
from verify.subjects.stage_table import END_TO_END, ROWS, STAGES, Asked, Value, values
from verify.subjects.wire.messages import PARAMS, RESULTS

WIRE = (Path(__file__).parents[3] / "docs" / "wire.md").read_text(encoding="utf-8")
DOCUMENTED = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", WIRE.split("## Stages")[1].split("Activation:")[0], re.M)


def written(given: tuple[Value, ...], stated: set[str]) -> str:
    """Values as the document writes them: `` `h` (p), `lam` (p), `h_width, lam_width` ``."""
    groups: list[str] = []
    open_group: list[str] = []
    for value in given:
        sizes = () if value.name in stated else value.sizes
        open_group.append(value.name)
        if sizes:
            groups.append(f"`{', '.join(open_group)}` ({' × '.join(sizes)})")
            open_group = []
    return ", ".join([*groups, *([f"`{', '.join(open_group)}`"] if open_group else [])])


def test_the_document_lists_the_rows_in_order() -> None:
    assert [name for name, *_ in DOCUMENTED] == list(ROWS)
    assert set(ROWS) == {*STAGES, END_TO_END}


@pytest.mark.parametrize("line", DOCUMENTED, ids=lambda line: line[0])
def test_the_document_says_what_a_row_says(line: tuple[str, str, str]) -> None:
    name, params, result = line
    row = ROWS[name]
    # The sizes of x are stated once, above the table.
    assert params == written(row.sends, {"x"})
    parts = [part for part in row.gives if part.name != "calls"]
    assert result.startswith(written(tuple(parts), set()))
    assert ("`calls` (one number" in result) == (len(parts) < len(row.gives))


@pytest.mark.parametrize("stage", ROWS)
def test_methods_and_messages_have_the_rows_names(stage: Asked) -> None:
    row = ROWS[stage]
    for method in (getattr(EndToEnd if stage == END_TO_END else ReferenceSubject, stage), getattr(StageCalls, stage)):
        assert tuple(inspect.signature(method).parameters)[1:] == row.takes
    assert list(PARAMS[stage].model_fields) == [value.name for value in row.sends]
    assert list(RESULTS[stage].model_fields) == [value.name for value in row.gives]


def test_a_value_has_its_sizes_and_may_be_missing() -> None:
    assert values("x[T+1,n] tol? seed") == (
        Value("x", ("T+1", "n"), False), Value("tol", (), True), Value("seed", (), False),
    )  # fmt: skip
