"""A letter is made anew from a premise, and a space made empty; few places cover what many tell."""

from __future__ import annotations

import pytest
from flint import fmpq

from verify.truth.theorems.covering import cover
from verify.truth.theorems.data_ties import TiedPlace, ties
from verify.truth.theorems.repair import equations

TIE = ties()["shift.shift_bound"]
INSIDE = next(place for place in TIE.places if place.role != "outside" and place.values["W"])


def missed(*changes: tuple[str, str, fmpq]) -> tuple[int, ...]:
    place = TiedPlace(INSIDE.kind, INSIDE.draft, "outside", changes)
    return TIE.statement().at(TIE.letters(place)).missed


def test_premises_that_give_a_letter_are_found() -> None:
    assert {(e.name, e.premise) for e in equations(TIE.tree)} >= {("u", 1), ("r", 7), ("c", 7), ("dg", 7)}


@pytest.mark.parametrize("name", ["r", "c"])
def test_a_letter_made_anew_mends_its_premise(name: str) -> None:
    changed = ("nu", "*", fmpq(2))
    assert missed(changed) == (7,)
    assert missed(changed, (name, "solved", fmpq(7))) == ()


def test_a_map_is_made_anew() -> None:
    tie = ties()["bias.master_identity"]
    premise = next(e.premise for e in equations(tie.tree) if e.name == "St")
    changes = (("G", "*", fmpq(2)), ("St", "solved", fmpq(premise)))
    for count, broken in ((1, True), (2, False)):
        place = TiedPlace("point", {"atlas": "scalar-rational", "alpha": fmpq(1, 10)}, "outside", changes[:count])
        assert (premise in tie.statement().at(tie.letters(place)).missed) is broken


def test_a_space_made_empty_has_no_vector_but_0() -> None:
    values = TIE.letters(TiedPlace(INSIDE.kind, INSIDE.draft, "outside", (("W", "collapsed", fmpq(0)),)))
    assert all(not any(w) for w in values["W"])
    assert not any(values["nu"]) and not any(values["B"](values["e"]))


def test_a_cover_covers() -> None:
    assert cover([{1}, {1, 2}, {3}, {2, 3}], [0]) == [0, 3]
