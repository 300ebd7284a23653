"""Every theorem holds on data, comes near to equality somewhere, and tells each mistyping of its statement."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from flint import fmpq

from verify.proofs.kernel.theorems import load_theorems
from verify.truth.theorems.adversary import search
from verify.truth.theorems.mistypings import mistypings
from verify.truth.theorems.ties import HERE, KERNEL, NEAR, Place, reason, theorem_names, ties

TIES = ties()
RECORD = json.loads((HERE / "places.json").read_text(encoding="utf-8"))["found"]
YOUNGER = "about the paper's steps, written after the ties: held by the kernel alone, against no stage yet"
YOUNG = {
    "steps", "weights", "budget", "moving", "existence", "several", "pieces", "kinks", "conditioning", "residual",
    "holder", "conditional", "costs", "activation", "block", "instances", "arithmetic", "slopes",
}  # fmt: skip
NOT_TIED = {name: YOUNGER for name in theorem_names() if name.split(".")[0] in YOUNG}
"""Theorems without a tie, with the reason; the report gives them no ratio."""
ATLAS = ("toy1", "toy2", "scalar-rational", "interior", "two-of-three", "box-rational", "fixed-rows", "moving-box")
OF_POINTS = {"point", "inactive weights", "minimiser", "adjoint", "all errors", "multipliers", "T2", "penalty system",
             "direction", "as written", "curvature", "multipliers, any rows", "multipliers, weights one"}  # fmt: skip


def test_names_match_both_ways() -> None:
    names = set(theorem_names())
    tied = {name for name in TIES if name.split(".")[0] not in BEYOND}
    assert names == tied | NOT_TIED.keys()
    assert all(NOT_TIED.values())


BEYOND = {"estimator", "truth", "toy1", "row_scaling", "kink", "switching", "concave", "curvature"}
"""First words of what is ours: identities that the kernel does not spell out."""


def test_statements_are_the_kernels_own() -> None:
    kernels = json.loads((KERNEL.parent / "proofs.json").read_text(encoding="utf-8"))["theorems"]
    ours = json.loads((HERE / "statements.json").read_text(encoding="utf-8"))
    assert {name: kernels[name]["statement"].split(" : ", 1)[1] for name in ours} == ours


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
def test_every_mistyping_is_told(name: str) -> None:
    tie, told = TIES[name], RECORD[name]["told"]
    wrong = {mistyping.name: mistyping.tree for mistyping in mistypings(tie.tree)}
    assert wrong.keys() == told.keys() | set(RECORD[name]["survivors"])
    for mistyping, place in told.items():
        assert tie.fault(tie.places[place], tie.statement(wrong[mistyping])), mistyping


def test_what_goes_unnoticed_has_a_reason() -> None:
    unnoticed = [(name, mistyping) for name, row in RECORD.items() for mistyping in row["survivors"]]
    assert [pair for pair in unnoticed if not reason(*pair)] == []
    of_conclusions = [name for name, mistyping in unnoticed if mistyping.startswith("conclusion")]
    assert len(unnoticed) < sum(row["mistypings"] for row in RECORD.values()) / 5
    assert not {"shift.shift_bound", "shift.row_bound", "bias.master_identity", "bias.error_bound"} & set(
        of_conclusions
    )


@pytest.mark.parametrize("instance", ATLAS)
def test_theorems_hold_on_the_atlas(instance: str) -> None:
    checked = 0
    for tie in TIES.values():
        for kind in OF_POINTS & set(tie.kinds):
            for alpha in (fmpq(1, 10), fmpq(1, 50)):
                place = Place(kind, {"atlas": instance, "alpha": alpha})
                assert not tie.fault(place, tie.statement()), (tie.name, kind)
                checked += 1
    assert checked > 40


def test_a_false_theorem_is_broken_by_the_search() -> None:
    tie = TIES["hilbert.cauchy_schwarz"]
    doubled = next(wrong for wrong in mistypings(tie.tree) if wrong.name == "conclusion: inner(v, w) doubled")
    assert search(replace(tie, tree=doubled.tree, places=()), budget=100).broken
