"""The page of the formula language is that of the files."""

from __future__ import annotations

from pathlib import Path

from spec.formulas import load_quantities
from verify.report.formats.formula_page import page

PUBLISHED = Path(__file__).parents[4] / "docs" / "formulas.md"


def test_the_published_page_is_made_from_the_files() -> None:
    made = "made again by: python -m verify.report.formats.formula_page > docs/formulas.md"
    assert PUBLISHED.read_text(encoding="utf-8") == page(), made


def test_every_quantity_has_a_row() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| `")]
    assert len(rows) == len(load_quantities())
