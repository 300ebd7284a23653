"""Deviations are shrunk to the smallest instance, and the repro shows them when pasted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.verify.conformance.replays import played_here
from tests.verify.conformance.subjects import OnlyHypergradient
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.catalogue import find
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.places.places import place_of
from verify.conformance.probes.probes import lower_level_probe
from verify.conformance.repro.repro import reproduce
from verify.conformance.repro.shrink import ShrunkInstance, shrink
from verify.method.lines import Stage
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls

SMALL = (
    "unconstrained-lower-level", "stale-lower-level", "frozen-lower-level", "hard-activation", "shifted-rows",
    "half-penalty-in-solve", "stops-by-distance", "keeps-dual-term", "single-precision", "narrow-ramp",
    "reseeds-every-call", "never-clips", "averages-iterates", "queries-the-end",
)  # fmt: skip


@pytest.mark.parametrize("id_", SMALL)
def test_the_repro_shows_the_deviation_on_a_tiny_instance(id_: str) -> None:
    mutant = find(id_)
    seen = look(StageCalls(by_id(id_)), only=[mutant.stage])
    made = reproduce(seen, f"load_subject({mutant.source!r})", played_here)
    assert made is not None
    if made.problem is not None and mutant.stage not in ("samples",) and id_ != "narrow-ramp":
        rows = made.problem.get("constraints", {}).get("B", [])
        assert len(made.x) == 1
        assert len(rows) <= 1
    assert made.sentence.endswith("A fresh process shows it, too.")
    found = played_here(made.code)  # what a reader would do with it
    assert found.shows is True
    got, _, must = found.last_line.partition(" must be ")
    assert got.startswith("got ")
    assert must
    assert got.removeprefix("got ") != must


def test_two_dimensions_are_kept_where_one_does_not_show_it() -> None:
    seen = look(StageCalls(by_id("clips-components")), only=["optimise"])
    made = reproduce(seen, "load_subject('verify.conformance.bugs.bent_subject:ClipsComponents')", played_here)
    assert made is not None
    assert "two-dimensions" in made.sentence
    assert played_here(made.code).last_line.count(",") == 2  # two components each


def test_inner_mistakes_of_an_oracle_call_shrink_too() -> None:
    seen = look(StageCalls(OnlyHypergradient(by_id("always-active"))), only=["hypergradient"])
    made = reproduce(seen, "your_subject")
    assert made is not None
    assert "n = 1, m = 1, 1 row" in made.sentence


@pytest.mark.parametrize("stage", ["lower_level", "optimise"])
def test_nothing_is_reproduced_where_nothing_is_wrong(stage: Stage) -> None:
    assert (
        reproduce(look(StageCalls(ReferenceSubject()), only=[stage]), "load_subject('reference')", played_here) is None
    )


def test_an_instance_survives_the_way_through_matrices() -> None:
    place = place_of("two-of-three")
    again = ShrunkInstance.of(place.problem, place.point).place
    assert again is not None
    assert again.problem.to_dict() == place.problem.to_dict()
    assert np.array_equal(again.y_star, place.y_star)


def test_smaller_instances_are_smaller() -> None:
    instance = ShrunkInstance.of(place_of("scalar-rational").problem, np.array([1.0]))
    for candidate in instance.smaller():
        before = sum(_weight(v) for block in instance.blocks.values() for v in block.flat)
        after = sum(_weight(v) for block in candidate.blocks.values() for v in block.flat)
        assert after < before


def _weight(value: Fraction) -> int:
    return abs(value.numerator) + 2 * (value.denominator - 1) + (value < 0)


def test_shrinking_ends_when_its_time_is_up() -> None:
    probe = lower_level_probe(place_of("random-3x5x4"))
    stages = StageCalls(by_id("zero-multipliers"))
    got = probe.ask(stages)
    assert shrink(stages, probe, got, tries=0).probe is probe
