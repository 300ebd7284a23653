"""The paper's argument: a place for every assertion, in order; ties that lead somewhere; lines that rise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import InvalidInputError
from spec.claims import find
from spec.text.argument import Argument, ArgumentPassage, checked, load_argument, misquoted, pieces, quoted_places
from spec.text.assertions import load_assertions
from spec.text.extract import load_extract
from spec.text.quotes import digest_of
from tests.spec.test_claims import VERDICT_WORDS

ARGUMENT = load_argument()
NUMBERS = [entry.number for entry in load_assertions().assertions]


def changed(old: str, new: str) -> Argument:
    """The argument with a piece of its text replaced, where it stands first."""
    text = ARGUMENT.model_dump_json()
    assert old in text
    return Argument.model_validate_json(text.replace(old, new, 1))


def test_every_assertion_has_one_place_in_reading_order() -> None:
    assert [number for passage in ARGUMENT.passages for number in passage.numbers] == NUMBERS
    assert [number for part in ARGUMENT.parts for number in part.numbers] == NUMBERS


def test_every_labelled_line_of_the_source_lies_in_a_passage() -> None:
    spans = [passage.lines for passage in ARGUMENT.passages if passage.lines]
    lines = {passage.line for passage in load_extract().of("label")}
    assert len(lines) > 50
    assert [line for line in sorted(lines) if not any(first <= line <= last for first, last in spans)] == []


def test_lines_rise() -> None:
    ends = [end for passage in ARGUMENT.passages if passage.lines for end in passage.lines]
    assert ends == sorted(ends)
    assert all(part.lines == (part.passages[0].lines[0], part.passages[-1].lines[1]) for part in ARGUMENT.parts[:-1])
    assert ARGUMENT.parts[-1].lines is None


@pytest.mark.parametrize("number", NUMBERS)
def test_an_assertion_without_its_place_is_refused(number: int) -> None:
    told = next(tie for tie in (f"{{{number}}}", f"{{{number}|") if tie in ARGUMENT.model_dump_json())
    with pytest.raises(InvalidInputError, match=f"next {number}"):
        checked(changed(told, told.replace("{", "{see ") if told.endswith("}") else "{bias-bound|"))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("{2}", "{1}", "next 2"),
        ("{328}", "{327}", "next 328"),
        ("{2}", "{2|No second derivative is ever formed}", "leave the words of assertion 2 to its row"),
        ("{bias-bound/T1|", "{bias-bound/T9|", "known claim or step"),
        ("{see 161}", "{see 999}", "known assertion"),
        ("[55,66]", "[50,66]", "lines that rise"),
        ("[935,979]", "[935,5000]", "lines that rise"),
        ('"line":361', '"line":100', "within its passage"),
    ],
)
def test_what_leads_nowhere_is_refused(old: str, new: str, why: str) -> None:
    with pytest.raises(InvalidInputError, match=why):
        checked(changed(old, new))


def test_an_algorithm_has_lines_that_count_from_one() -> None:
    shown = {passage.algorithm: [step.number for step in passage.steps] for passage in ARGUMENT.passages}
    assert shown == {0: [], 1: list(range(1, 8)), 2: list(range(1, 14))}
    step = {"number": 2, "line": 1, "text": "a", "digest": "0" * 16}
    with pytest.raises(ValueError, match="count from 1"):
        ArgumentPassage.model_validate({"text": "a", "algorithm": 1, "steps": [step]})
    with pytest.raises(ValueError, match="for an algorithm"):
        ArgumentPassage.model_validate({"text": "a", "steps": [step | {"number": 1}]})


def test_no_text_says_whether_it_holds() -> None:
    texts = [text for passage in ARGUMENT.passages for text in passage.texts]
    assert [text for text in texts if VERDICT_WORDS.search(text)] == []


def test_what_takes_a_line_s_place_is_tied_to_a_statement_whose_text_is_repaired() -> None:
    tied = {piece.statement for passage in ARGUMENT.passages for piece in passage.ties if piece.statement}
    covering = load_assertions().covering
    assert tied
    assert tied <= covering.keys()
    assert [full for full in tied if find(full).as_written == find(full).repaired] == []


def test_an_assertion_s_words_stand_in_its_row_alone() -> None:
    sentences = {entry.number: entry.asserts for entry in load_assertions().assertions}
    told = [
        piece for passage in ARGUMENT.passages for text in passage.paragraphs for piece in pieces(text) if piece.number
    ]
    assert len(told) > 300
    assert [piece.words for piece in told] == [sentences[piece.number] for piece in told]


@given(st.lists(st.tuples(st.sampled_from("ab λ_{H,y}"), st.sampled_from(["", "12", "bias-bound/T1"]))))
def test_pieces_give_back_every_word_and_tie(parts: list[tuple[str, str]]) -> None:
    # Braces within words come in pairs.
    parts = [(words.replace("{", "").replace("}", "") or "w", tie) for words, tie in parts]
    found = list(pieces("".join(f"{{{tie}|{words}}}" if tie else words for words, tie in parts)))
    assert "".join(piece.words for piece in found) == "".join(words for words, _ in parts)
    ties = [("see " if p.elsewhere else "") + (p.statement or str(p.number or "")) for p in found]
    assert [tie for tie in ties if tie] == [tie for _, tie in parts if tie]


def test_braces_of_an_index_end_no_tie() -> None:
    (piece,) = pieces("{120|constants L_{H,y} and L_{H,λ}}")
    assert (piece.number, piece.words) == (120, "constants L_{H,y} and L_{H,λ}")


def test_a_line_is_known_by_its_words_and_not_by_its_spaces() -> None:
    source = ["one", "two  three", "\tfour"]
    assert digest_of(source, 2, 3) == digest_of(["", "two three four"], 2, 2)
    assert digest_of(source, 2, 3) != digest_of(source, 1, 3)


def test_of_another_source_every_place_is_named() -> None:
    other = list(misquoted(ARGUMENT, ["other words"] * 2000))
    assert len(other) == quoted_places(ARGUMENT) > 390
    assert {number for one in other for number in one.numbers} >= {
        entry.number for entry in load_assertions().assertions if entry.quote
    }


def test_lines_without_their_digest_are_refused() -> None:
    with pytest.raises(ValueError, match="with lines of the source"):
        ArgumentPassage.model_validate({"text": "a", "lines": [1, 2]})
