from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from spec import AS_WRITTEN, CHOICES, REPAIRED, InvalidInputError, Reading, Sense
from spec.reading import NAMED, alternatives

FIELDS = list(Reading.model_fields)


def readings() -> st.SearchStrategy[dict[str, str]]:
    return st.fixed_dictionaries({}, optional={field: st.sampled_from(alternatives(field)) for field in FIELDS})


def test_the_two_named_readings_differ_in_every_choice() -> None:
    assert Reading() == REPAIRED
    assert set(AS_WRITTEN.differences(REPAIRED)) == set(FIELDS)
    assert REPAIRED.differences(REPAIRED) == {}
    assert {"as-written": AS_WRITTEN, "repaired": REPAIRED} == NAMED


def test_the_table_of_choices_covers_every_field_and_agrees_with_the_readings() -> None:
    assert [choice.field for choice in CHOICES] == [*FIELDS, *Sense.model_fields]
    for choice in CHOICES:
        assert choice.repaired == getattr(REPAIRED if choice.field in FIELDS else Sense(), choice.field)
        assert {*choice.values, choice.repaired} <= set(alternatives(choice.field))
        assert choice.values[0] == choice.as_written
        assert choice.is_repair or len(choice.values) > 1
        assert len(set(choice.values)) == len(choice.values)
        assert all(one.words and one.passage for one in choice.literal)
        assert choice.words(choice.repaired)
        assert choice.location
        assert choice.matters
        if choice.field in FIELDS:
            assert choice.as_written == getattr(AS_WRITTEN, choice.field)


@given(readings(), readings())
def test_differences_are_exactly_what_choosing_restores(mine: dict[str, str], theirs: dict[str, str]) -> None:
    one, other = REPAIRED.choose(**mine), AS_WRITTEN.choose(**theirs)
    assert other.choose(**one.differences(other)) == one
    assert hash(other.choose(**one.differences(other))) == hash(one)
    assert set(one.differences(other)) == set(other.differences(one))


@given(readings())
def test_choosing_from_text_is_choosing(chosen: dict[str, str]) -> None:
    expected = AS_WRITTEN.choose(**chosen)
    assert AS_WRITTEN.choose_from_text([f"{field}={value}" for field, value in chosen.items()]) == expected
    spelt = [f" {field.replace('_', '-')} = {value} " for field, value in chosen.items()]
    assert AS_WRITTEN.choose_from_text(spelt) == expected


def test_of_two_assignments_the_last_counts() -> None:
    assert REPAIRED.choose_from_text(["dual_term=frozen", "dual_term=cancelled"]) == REPAIRED


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("dual_term", "--choose: must have the form FIELD=VALUE; got dual_term"),
        ("", "--choose: must have the form FIELD=VALUE; got ''"),
        ("=", "reading: must be one of dual_term, "),
        ("self=frozen", "reading: must be one of dual_term, "),
        ("model_config=1", "reading: must be one of dual_term, "),
        ("dual_term=", "reading.dual_term: must be one of frozen, map, both-maps, cancelled; got ''"),
        ("dual_term=frozen=1", "reading.dual_term: must be one of frozen, map, both-maps, cancelled; got frozen=1"),
        ("dual_term=Frozen", "reading.dual_term: must be one of frozen, map, both-maps, cancelled; got Frozen"),
    ],
)
def test_a_wrong_assignment_is_refused(assignment: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        REPAIRED.choose_from_text([assignment])
    assert str(caught.value).startswith(message)


def test_readings_are_frozen_and_closed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        REPAIRED.dual_term = "frozen"  # type: ignore[misc]  # that it cannot be assigned is what is tested
    wrong: Any = {"dual_terms": "frozen"}
    with pytest.raises(ValidationError, match="Extra inputs"):
        Reading(**wrong)
