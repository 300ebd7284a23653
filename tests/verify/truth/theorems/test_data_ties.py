"""Every theorem holds on data, comes near to equality somewhere, and tells each mistyping of its statement."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from dataclasses import replace

import pytest
from flint import fmpq

from verify.proofs.kernel.theorems import load_theorems
from verify.truth.theorems.adversary import search
from verify.truth.theorems.data_ties import HERE, KERNEL, NEAR, TiedPlace, reason, reason_row, reason_rows, ties
from verify.truth.theorems.mistypings import mistypings

TIES = ties()
NAMES = [row["coq"] for row in tomllib.loads((KERNEL / "theorems.toml").read_text(encoding="utf-8"))["theorem"]]
RECORD = json.loads((HERE / "places.json").read_text(encoding="utf-8"))["found"]
OF_PIECES = "says that something lies in a hull of pieces' estimates, for which the sentences' reader has no words"
OF_SETS = "has a predicate among its letters, for which the sentences' reader has no words"
OF_POLYNOMIALS = "about a computation with polynomials, compared with the checker in fractions on whole reports"
OF_SOLUTIONS = (
    "that a linear system has a solution, which the sentences' reader is told by the place and cannot compute"
)
OF_MINIMISERS = "asks for a minimiser among all y of what is no polynomial, which the sentences' reader cannot decide"
OF_CASES = "its parts have premises of their own that no place meets together, as dh/dx = 0 beside any dh/dx"
OF_WORDS = "has a quotient of whole numbers, or a choice by a test, for which the sentences' reader has no words"
OF_TERMS = "of the terms that printed sentences are made of: it passes what they are on to theorems that are tied"
NOT_TIED_FILES = {
    "several": OF_PIECES, "pieces": OF_PIECES, "conditional": OF_SETS, "polynomials": OF_POLYNOMIALS,
    "definite": OF_POLYNOMIALS, "certificate_check": OF_POLYNOMIALS, "penalty": OF_TERMS, "accuracy": OF_TERMS,
}  # fmt: skip
NOT_TIED = {
    name: NOT_TIED_FILES[of]
    for name in NAMES
    if (of := name.split(".")[0]) in NOT_TIED_FILES and name not in TIES
} | {
    "kinks.uniformity_one_row": OF_SETS, "existence.invertible": OF_SOLUTIONS, "holder.holder_truth": OF_MINIMISERS,
    "holder.holder_estimate": OF_MINIMISERS, "slopes.weights_gradient": OF_CASES, "slopes.mixed_derivative": OF_CASES,
    "arithmetic.whole_steps": OF_WORDS, "arithmetic.first_step": OF_WORDS, "instances.pieces_instance": OF_PIECES,
    "instances.coin_instance": OF_WORDS,
}  # fmt: skip
"""Theorems without a tie, with the reason; the report gives them no ratio."""
ATLAS = ("toy1", "toy2", "scalar-rational", "interior", "two-of-three", "box-rational", "fixed-rows", "moving-box")
OF_POINTS = {"point", "inactive weights", "minimiser", "adjoint", "all errors", "multipliers", "T2", "penalty system",
             "direction", "as written", "curvature", "multipliers, any rows", "multipliers, weights one",
             "one multiplier", "linear part", "value part", "errors apart", "change of gradient", "moving weights",
             "moving weights, active rows", "moving weights, any y", "moving weights, second minimiser",
             "moving weights, estimate", "residual", "from the minimiser", "same solution", "split",
             "parent"}  # fmt: skip


def test_names_match_both_ways() -> None:
    names = set(NAMES)
    tied = {name for name in TIES if name.split(".")[0] not in BEYOND}
    assert names == tied | NOT_TIED.keys()
    assert all(NOT_TIED.values())


BEYOND = {"estimator", "truth", "toy1", "row_scaling", "kink", "switching", "concave", "curvature", "ramp", "rows"}
"""First words of what is ours: identities that the kernel does not spell out."""


def test_the_table_has_the_ratios_of_the_ties() -> None:
    for theorem in load_theorems().theorem:
        recorded = RECORD.get(theorem.coq, {"ratio": None})["ratio"]
        assert (theorem.ratio is None) == (recorded is None)
        assert theorem.ratio is None or 0 <= recorded - theorem.ratio < 1e-4


@pytest.mark.parametrize("name", TIES)
def test_a_theorem_holds_at_its_places(name: str) -> None:
    tie = TIES[name]
    assert tie.places
    assert tie.faults() == []


@pytest.mark.parametrize("name", TIES)
def test_every_bound_comes_near_to_equality(name: str) -> None:
    tie = TIES[name]
    ratio, recorded = tie.largest_ratio, RECORD[name]["ratio"]
    assert (ratio is None) == (recorded is None)
    if ratio is not None:
        assert ratio == pytest.approx(recorded, abs=2e-6)
        assert tie.floor <= ratio <= tie.ceiling + 1e-9
        assert (tie.floor, tie.ceiling) == (NEAR, 1.0) or tie.reason


@pytest.mark.parametrize("name", TIES)
def test_mistypings_are_told(name: str) -> None:
    tie, told = TIES[name], RECORD[name]["told"]
    wrong = {mistyping.name: mistyping.tree for mistyping in mistypings(tie.tree)}
    assert wrong.keys() == told.keys() | set(RECORD[name]["survivors"])
    for mistyping in list(told)[len(name) % EACH :: EACH]:
        place = tie.places[told[mistyping]]
        assert tie.fault(place, tie.statement(wrong[mistyping])), mistyping


EACH = 2
"""Of the mistypings told, the suite tries every second one; ``python -m verify.truth.theorems`` tries all."""
UNNOTICED = [(name, mistyping) for name, row in RECORD.items() for mistyping in row["survivors"]]


def test_what_goes_unnoticed_has_a_reason() -> None:
    assert [pair for pair in UNNOTICED if not reason(*pair)] == []
    assert {id(row) for pair in UNNOTICED if (row := reason_row(*pair)) is not None} == set(map(id, reason_rows()))


def test_few_mistypings_go_unnoticed() -> None:
    total, of = Counter[bool](), Counter[bool]()
    for name, tie in TIES.items():
        for mistyping in mistypings(tie.tree):
            left_out = mistyping.name.endswith("left out")
            total[left_out] += 1
            of[left_out] += (name, mistyping.name) in UNNOTICED
    assert of[False] < MOST_MISTYPED * total[False]
    assert of[True] < MOST_LEFT_OUT * total[True]
    whole = {"shift.row_bound", "bias.master_identity", "bias.error_bound", "bias.bias_bound_alpha"}
    assert not whole & {name for name, mistyping in UNNOTICED if mistyping.startswith("conclusion")}


MOST_MISTYPED = 0.058
"""Share of mistyped signs, constants and powers that may go unnoticed."""
MOST_LEFT_OUT = 0.422
"""Share of premises left out, which a true theorem may well do without."""


@pytest.mark.parametrize("name", ["steps.part_of_whole", "weights.ramp_slope", "row_scaling.estimate"])
def test_a_search_is_made_again_as_it_was(name: str) -> None:
    found = search(TIES[name], json.loads((HERE / "places.json").read_text(encoding="utf-8"))["budget"])
    assert tuple(found.places) == TIES[name].places


@pytest.mark.parametrize("instance", ATLAS)
def test_theorems_hold_on_the_atlas(instance: str) -> None:
    checked = 0
    for tie in TIES.values():
        for kind in OF_POINTS & set(tie.kinds):
            for alpha in (fmpq(1, 10), fmpq(1, 50)):
                place = TiedPlace(kind, {"atlas": instance, "alpha": alpha})
                assert not tie.fault(place, tie.statement()), (tie.name, kind)
                checked += 1
    assert checked > 40


def test_a_false_theorem_is_broken_by_the_search() -> None:
    tie = TIES["hilbert.cauchy_schwarz"]
    doubled = next(wrong for wrong in mistypings(tie.tree) if wrong.name == "conclusion: inner(v, w) doubled")
    assert search(replace(tie, tree=doubled.tree, places=()), budget=100).broken
