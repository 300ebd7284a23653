"""What stands under the paper's name has its place and digest, and nothing else is let in."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import InvalidInputError
from spec.files import parse_toml
from spec.text.argument import checked, load_argument, misquoted
from spec.text.assertions import IN_THE_TEXT, Inventory, load_assertions
from spec.text.quotes import Quote, digest_of

ROWS = (resources.files("spec") / "assertions.toml").read_text(encoding="utf-8")
ARGUMENT = (resources.files("spec") / "paper/argument.toml").read_text(encoding="utf-8")
QUOTE_LINE = r"\nquote = [^\n]*"
SOURCE = ["One two three", "four  five", "six"]
WORDS = " ".join(SOURCE).split()


@given(st.data())
def test_words_are_found_in_their_lines_whatever_stands_beside_them(data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(WORDS)))
    last = data.draw(st.integers(first, len(WORDS)))
    quote = Quote(lines=(1, 3), words=(first, last), digest=digest_of(SOURCE, 1, 3, (first, last)))
    assert quote.stands_in(SOURCE)
    assert quote.stands_in(["Before", *SOURCE]) == (last < len(WORDS))  # the last line moved out of its place
    assert quote.stands_in(["Before One two three", *SOURCE[1:]])
    changed = [word.upper() if at == first - 1 else word for at, word in enumerate(WORDS)]
    assert quote.stands_in([" ".join(changed), "", ""]) == (changed == WORDS)


def test_whole_lines_are_these_lines_and_no_more() -> None:
    quote = Quote(lines=(1, 2), digest=digest_of(SOURCE, 1, 2))
    assert quote.stands_in(SOURCE)
    assert not quote.stands_in(["Before One two three", *SOURCE[1:]])
    assert not quote.stands_in([])


@pytest.mark.parametrize("ends", [{"lines": (2, 1)}, {"lines": (0, 1)}, {"lines": (1, 1), "words": (3, 2)}])
def test_a_place_counts_from_one_upwards(ends: dict[str, tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="must count from 1"):
        Quote.model_validate({"digest": "0" * 16} | ends)


def test_all_that_the_paper_says_or_grants_is_quoted_and_nothing_of_ours() -> None:
    rows = load_assertions().assertions
    assert [row.number for row in rows if row.kind in IN_THE_TEXT and row.quote is None] == []
    assert [row.number for row in rows if row.kind == "consequence" and row.quote is not None] == []
    assert sum(row.quote is not None for row in rows) > 300


@pytest.mark.parametrize("number", [1, 44, 139, 320])
def test_an_assertion_without_the_papers_words_is_refused_in_one_line(number: int) -> None:
    at = ROWS.index(f"number = {number}\n")
    bare = ROWS[:at] + re.sub(QUOTE_LINE, "", ROWS[at:], count=1)
    with pytest.raises(InvalidInputError) as told:
        parse_toml(Inventory, bare, "assertions.toml")
    assert str(told.value) == (
        f"assertions.toml.assertions.{number - 1}.quote: "
        f"must be given for what stands under the paper's name; got {number}"
    )


def test_words_of_ours_under_the_papers_name_are_refused() -> None:
    at = ROWS.index('kind = "consequence"')
    quote = re.search(QUOTE_LINE, ROWS)
    assert quote is not None
    named = ROWS[:at] + quote[0].strip() + "\n" + ROWS[at:]
    with pytest.raises(InvalidInputError, match=r"assertions\.toml\.assertions\.\d+\.quote: must not be given"):
        parse_toml(Inventory, named, "assertions.toml")


def test_a_line_of_an_algorithm_without_its_digest_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = re.sub(r'(line = 202\n)digest = "\w+"\n', r"\1", ARGUMENT)
    assert bare != ARGUMENT
    monkeypatch.setattr("spec.text.argument.package_text", lambda _path: bare)
    with pytest.raises(InvalidInputError) as told:
        load_argument.__wrapped__()
    assert re.fullmatch(
        r"paper/argument\.toml\.parts\.\d+\.passages\.\d+\.steps\.2\.digest: is required", str(told.value)
    )


@pytest.mark.parametrize(("old", "new"), [("[50,52]", "[50,50]"), ('"line":202', '"line":203')])
def test_words_quoted_from_another_place_are_refused(old: str, new: str) -> None:
    text = load_argument().model_dump_json()
    assert old in text
    with pytest.raises(InvalidInputError, match=r"paper/argument\.toml: must have the words of assertion \d+ within"):
        checked(type(load_argument()).model_validate_json(text.replace(old, new, 1)))


def test_one_assertions_words_changed_are_told_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = load_assertions()
    row = rows.assertions[138]
    assert row.quote is not None
    other = row.model_copy(update={"quote": row.quote.model_copy(update={"digest": "0" * 16})})
    one = Inventory.model_construct(assertions=(other,))
    monkeypatch.setattr("spec.text.argument.load_assertions", lambda: one)
    found = [entry for entry in misquoted(load_argument(), [""] * 1000) if entry.what == row.place]
    assert [(entry.lines, entry.numbers) for entry in found] == [(row.quote.lines, (139,))]
