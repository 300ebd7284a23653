"""What an implementation is compared on is right, complete and fair."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from spec import Quadratic, parse_problem
from tests.verify.conformance.subjects import Iterative
from verify.conformance.blame.sums.handed_rows import handed_rows
from verify.conformance.places.places import JudgedPlace, place_of
from verify.conformance.places.sizes import ANY_PROGRAM
from verify.conformance.probes.playing import asked
from verify.conformance.probes.probes import (
    FROM_PAIR,
    FROM_RHO,
    FROM_SCRATCH,
    WHOLE,
    chain_probe,
    probes,
    thin,
    vector_probes,
)
from verify.conformance.vectors.generation import all_vectors
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls


def test_every_stage_and_every_way_of_giving_stages_is_asked() -> None:
    stages = Counter(probe.stage for probe in probes())
    assert set(stages) == {"lower_level", "activation", "penalty_minimiser", "hypergradient"}
    given = Counter(probe.given for probe in probes() if probe.stage == "hypergradient")
    assert set(given) == {WHOLE, FROM_RHO, FROM_PAIR, FROM_SCRATCH}
    assert len({probe.id for probe in probes()}) == len(probes())


def test_the_reference_meets_every_probe_with_room_to_spare() -> None:
    stages = StageCalls(ReferenceSubject())
    assert max(probe.excess_of(stages) for probe in probes()) < 0.8


def test_an_honest_iterative_implementation_meets_every_probe() -> None:
    stages = StageCalls(Iterative())
    missed = {p.id: p.excess_of(stages) for p in (*probes(), *vector_probes()) if not p.needs_draws}
    assert {name: excess for name, excess in missed.items() if not excess <= 1} == {}


def test_every_other_width_shows_in_a_call_that_weighs_rows_itself() -> None:
    asked = [probe for probe in probes() if "-width/" in probe.id]
    rivals = [rows for rows in handed_rows() if rows.widths is not None]
    said = {rows.what: [(probe, rows.answer(probe)) for probe in asked] for rows in rivals}
    unseen = [w for w, pairs in said.items() if all(a is not None and p.excess(a) <= 1 for p, a in pairs)]
    assert unseen == ["2τ·max(1,‖B‖)·α³ for the width 2τ·max(1,‖B‖)·α³ of h's ramp"]
    assert len(rivals) > 50


def test_thin_rows_are_the_same_rows() -> None:
    place = place_of("two-of-three")
    smaller = thin(place)
    assert np.linalg.norm(smaller.problem.arrays.B, 2) < 1 < np.linalg.norm(place.problem.arrays.B, 2)
    np.testing.assert_array_equal(smaller.y_star, place.y_star)
    np.testing.assert_array_equal(smaller.lam, 4 * place.lam)


def test_the_reference_meets_the_published_vectors() -> None:
    stages = StageCalls(ReferenceSubject())
    assert len(vector_probes()) >= 200
    assert max(probe.excess_of(stages) for probe in vector_probes()) <= 1


def test_a_wrong_answer_is_off_and_one_that_is_no_number_too() -> None:
    probe = probes()[0]
    assert probe.excess(probe.expected) == 0
    assert probe.excess(probe.expected + 2 * probe.tolerance) == pytest.approx(2)
    assert not probe.excess(probe.expected * np.nan) <= 1


def test_the_room_for_the_penalty_solve_shrinks_with_alpha() -> None:
    wide, narrow = (chain_probe(place_of("toy1"), alpha, FROM_RHO, "own-solve") for alpha in (0.1, 0.02))
    assert narrow.tolerance[0] < 0.3 * wide.tolerance[0]


def test_a_point_without_a_unique_pair_says_so() -> None:
    assert place_of("toy1").moved(1.0).has_one_pair
    assert not place_of("licq-fails").has_one_pair
    toy = place_of("toy1")
    empty = parse_problem(toy.problem.to_dict() | {"constraints": {"A": [[1]], "B": [[0]], "b": [0]}})
    assert isinstance(empty, Quadratic)
    assert not JudgedPlace("empty", empty, toy.x).has_one_pair


def test_a_published_vector_asks_what_its_file_asks_and_allows_other_orders_of_summation() -> None:
    published = {vector.id: asked(vector) for vector in all_vectors() if vector.rejects is None}
    for probe in vector_probes():
        written = published[probe.id]
        assert np.array_equal(probe.expected, written.expected)
        # Files round tolerances up to three digits.
        assert (probe.tolerance >= 0.99 * ANY_PROGRAM.roundings * written.tolerance).all()
        assert (probe.stage, probe.given, probe.needs_draws) == (written.stage, written.given, written.needs_draws)
