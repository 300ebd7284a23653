"""The catalogue of wrong implementations is complete, well-formed and loadable."""

from __future__ import annotations

import re
from collections import Counter
from typing import get_args

import pytest

from spec import InvalidInputError, Reading
from spec.claims import find as find_claim
from verify.checks.measuring.case import checks
from verify.conformance.bugs.catalogue import CATALOGUE, by_id, find
from verify.conformance.bugs.entry import BugType, Mutant, Stage
from verify.subjects import load_subject, name_of

IDS = [mutant.id for mutant in CATALOGUE]


def test_ids_are_unique_and_never_change_their_form() -> None:
    assert len(CATALOGUE) >= 30
    assert max(Counter(IDS).values()) == 1
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", id_) for id_ in IDS)


def test_every_choice_of_the_reading_is_made_as_written_by_one_mutant_alone() -> None:
    assert sorted(m.choice for m in CATALOGUE if m.choice) == sorted(Reading.model_fields)


def test_every_stage_and_every_kind_of_mistake_is_met() -> None:
    assert {mutant.stage for mutant in CATALOGUE} == set(get_args(Stage))
    assert {mutant.bug_type for mutant in CATALOGUE} == set(get_args(BugType))


@pytest.mark.parametrize("mutant", CATALOGUE, ids=IDS)
def test_an_entry_says_what_it_is(mutant: Mutant) -> None:
    subject = mutant.make()
    assert name_of(subject) == mutant.id
    assert type(load_subject(mutant.source)) is type(subject)
    assert (type(subject).__doc__ or "").endswith(".")
    assert mutant.effect.endswith(".")
    assert mutant.caught_by
    for catch in mutant.caught_by:
        find_claim(catch.claim)
        assert catch.instance in checks()[catch.claim].instances


def test_an_entry_is_found_by_its_id() -> None:
    assert type(by_id("weak-penalties")) is find("weak-penalties").make
    with pytest.raises(InvalidInputError, match="did you mean weak-penalties"):
        find("weak-penalty")
