"""The page of the paper's assertions is made from the data, and the command lists the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spec.claims import find
from spec.text.assertions import load_assertions
from verify.cli.main import invoke
from verify.report.formats.inventory import page

PAGE = Path(__file__).parents[4] / "docs" / "assertions.md"
INVENTORY = load_assertions()


def test_the_page_is_what_the_data_make() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(INVENTORY), (
        "python -m verify.report.formats.inventory > docs/assertions.md"
    )


def test_the_page_has_every_assertion_in_order_and_every_statement() -> None:
    rows = [line.split(" | ") for line in page(INVENTORY).splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert [int(row[0].removeprefix("| ")) for row in rows] == [entry.number for entry in INVENTORY.assertions]
    for row, entry in zip(rows, INVENTORY.assertions, strict=True):
        assert all(f"`{full}`" in row[4] for full in entry.covered_by)
        assert row[2].startswith(str(entry.quote.lines[0]) if entry.quote else "none")


def test_a_kind_and_a_reason_are_shown() -> None:
    entry = INVENTORY.assertions[0]
    made = entry.model_copy(update={"kind": "implied", "decided_by": ("undecidable",), "reason": "No *image*."})
    text = page(INVENTORY.model_copy(update={"assertions": (made,)}))
    assert "*Taken for granted.*" in text
    assert r"left open: No \*image\*." in text


def test_the_command_lists_all_or_a_claims_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["claims", "--assertions", "--json"]) == 0
    every = json.loads(capsys.readouterr().out)
    assert [entry["number"] for entry in every] == list(range(1, len(INVENTORY.assertions) + 1))
    assert invoke(["claims", "background", "--assertions", "--json"]) == 0
    own = json.loads(capsys.readouterr().out)
    assert {entry["number"] for entry in own} == {
        number for full, _ in find("background").statements() for number in INVENTORY.covering[full]  # type: ignore[attr-defined]  # a claim, by its id
    }  # fmt: skip
    assert invoke(["claims", "background/nonsmooth", "--assertions"]) == 0
    shown = capsys.readouterr().out
    assert "Constrained bilevel objectives can be nonsmooth." in shown
    assert f"{len(INVENTORY.covering['background/nonsmooth'])} assertions" in shown
    assert invoke(["claims", "no-such-claim", "--assertions"]) == 2


def test_a_statement_says_its_sources_and_what_it_covers(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["claims", "related-rates/projection-rate"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "ICLR 2024 (abstract)" in shown
    assert "left open: Only the abstract was read" in shown
    assert "(36, 38)" in shown
    assert invoke(["claims", "inner-cost/shared-sample"]) == 0
    shown = capsys.readouterr().out
    assert "Our consequence of the text:" in shown
    assert "As written:" not in shown
