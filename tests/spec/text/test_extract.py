"""The extract of the paper's source: shipped, written as it is read, corrected without loss."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import InvalidInputError
from spec.files import parse_toml
from spec.text.extract import Correction, Extract, Passage, correct, corrected_extract, dumps_extract, load_extract

PASSAGE = Passage(kind="order", line=3, name="D", says="Θ", powers={"δ": Fraction(1), "M": Fraction(-1, 2)})
EXTRACT = Extract(sha256="0" * 64, lines=9, passages=(PASSAGE, Passage(kind="pair", line=5, symbols=("a", "b"))))


def test_the_shipped_extract_is_in_reading_order_and_short():
    extract = load_extract()
    lines = [passage.line for passage in extract.passages]
    assert lines == sorted(lines)
    assert lines[-1] <= extract.lines
    # At most a few words or a formula of each: the source itself is not shipped.
    assert all(len(passage.says.split()) <= 12 for passage in extract.of("meaning", "part"))


def test_corrections_change_passages_and_take_none_away():
    extract, corrected = load_extract(), corrected_extract()
    assert len(corrected.passages) == len(extract.passages) + 2
    assert corrected.sha256 == extract.sha256
    letters = {passage.says for passage in extract.of("order", "upper")}
    assert {passage.says for passage in corrected.of("order", "upper")} <= letters | {"≤"}


def test_a_correction_changes_what_it_is_about_and_nothing_else():
    made = correct(EXTRACT, (Correction(step="s", why="w", where={"name": "D"}, to={"powers": {"δ": "2"}}),))
    assert made.passages[0].powers == {"δ": 2}
    assert made.passages[1] == EXTRACT.passages[1]


@pytest.mark.parametrize(
    "correction",
    [
        {"where": {"name": "none"}, "to": {"says": "O"}},
        {"where": {"name": "D"}, "to": {"says": "Θ"}},
        {"where": {}, "to": {"says": "O"}},
        {"add": PASSAGE},
        {"add": Passage(kind="pair", line=1), "where": {"name": "D"}},
    ],
)
def test_a_correction_without_effect_is_refused(correction):
    with pytest.raises(InvalidInputError, match="correction of s"):
        correct(EXTRACT, (Correction(step="s", why="w", **correction),))


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


@given(st.lists(st.builds(
    Passage, kind=st.sampled_from(["label", "order", "term"]), line=st.integers(1, 10**6), name=TEXTS, says=TEXTS,
    symbols=st.lists(TEXTS, max_size=3).map(tuple), number=st.integers(0, 99),
    powers=st.dictionaries(TEXTS, st.fractions(max_denominator=6), max_size=3),
), max_size=4))  # fmt: skip
def test_an_extract_is_read_as_it_was_written(passages):
    extract = Extract(sha256="a" * 64, lines=1, passages=tuple(passages))
    assert parse_toml(Extract, dumps_extract(extract), "test") == extract
