"""The symbols: those of the notation's one table, and what a symbol in a sentence says."""

from __future__ import annotations

import re
from pathlib import Path

from markupsafe import Markup

from verify.report import wording
from verify.report.site.words.glossary import explained, grouped, symbols

NOTATION = (Path(__file__).parents[5] / "docs" / "notation.md").read_text(encoding="utf-8")


def test_the_page_has_the_rows_of_the_notations_tables() -> None:
    rows = []
    for section in re.split(r"^## ", NOTATION, flags=re.MULTILINE)[1:-1]:
        name, *lines = section.splitlines()
        cells = [[cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in lines
                 if line.startswith("| ") and not line.startswith("| paper ")]  # fmt: skip
        rows += [(name, *row) for row in cells]
    assert len(rows) > 30
    assert [(s.group, s.paper, s.code, s.meaning) for s in symbols().symbol] == rows
    assert [name for name, _ in grouped()] == list(dict.fromkeys(row[0] for row in rows))


def test_a_symbol_is_explained_where_it_first_stands_and_only_there() -> None:
    made = explained(wording.typeset("ỹ* and ỹ and ỹ*, weights ρ of ρ_i"))
    assert made.count("<abbr") == 3
    assert 'title="the computed lower-level solution (line 3 of Algorithm 1)">ỹ*</abbr> and' in made
    assert re.sub(r"</?abbr[^>]*>", "", made) == wording.typeset("ỹ* and ỹ and ỹ*, weights ρ of ρ_i")


def test_tags_and_words_are_left_alone() -> None:
    text = Markup('<a title="ρ">αρε</a>')
    assert explained(text) == text
    assert explained(Markup("Cρ")) == "Cρ"
