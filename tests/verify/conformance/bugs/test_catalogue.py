"""The catalogue of wrong implementations is complete, well-formed and loadable."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from typing import get_args

import pytest
from pydantic import ValidationError

from spec import InvalidInputError, Reading
from spec.claims import find as find_claim
from verify.checks.measuring.case import checks
from verify.conformance.bugs import bent_subject
from verify.conformance.bugs.bent_subject import by_id, subject_class
from verify.conformance.bugs.catalogue import CATALOGUE, ROWS, find
from verify.conformance.bugs.model import Bug, BugType, Rules
from verify.method.lines import Stage
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
    assert {mutant.type for mutant in CATALOGUE} == set(get_args(BugType))


@pytest.mark.parametrize("mutant", CATALOGUE, ids=IDS)
def test_an_entry_says_what_it_is(mutant: Bug) -> None:
    subject = by_id(mutant.id)
    assert name_of(subject) == mutant.id
    assert type(load_subject(mutant.source)) is type(subject)
    assert type(pickle.loads(pickle.dumps(subject))) is type(subject)
    assert (type(subject).__doc__ or "").endswith(".")
    assert mutant.effect.endswith(".")
    assert mutant.caught_by
    for catch in mutant.caught_by:
        find_claim(catch.claim)
        assert catch.instance in checks()[catch.claim].instances


def test_an_entry_is_found_by_its_id() -> None:
    assert type(by_id("weak-penalties")) is subject_class(find("weak-penalties")) is bent_subject.WeakPenalties
    with pytest.raises(InvalidInputError, match="did you mean weak-penalties"):
        find("weak-penalty")


def test_no_two_bugs_play_by_the_same_rules() -> None:
    assert max(Counter((bug.stage, bug.rules, str(bug.formulas)) for bug in CATALOGUE).values()) == 1
    assert all(bug.rules != Rules() or bug.formulas for bug in CATALOGUE)


def test_what_vectors_alone_show_has_a_flag() -> None:
    assert [bug.id for bug in ROWS if bug.flag is None and bug not in CATALOGUE] == []


def test_a_wrong_subject_is_asked_for_by_the_name_of_its_class() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'KeepsTheDualTerm'"):
        bent_subject.KeepsTheDualTerm  # noqa: B018  # asking is the test


@pytest.mark.parametrize("field", ["pul", "lower_level"])
def test_a_rule_that_is_none_is_refused(field: str) -> None:
    row = {"id": "a", "stage": "samples", "type": "sign", "does": "A.", "effect": "A.", "rules": {field: "none"}}
    with pytest.raises(ValidationError, match=field):
        Bug.model_validate(row)
