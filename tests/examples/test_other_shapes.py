"""Programs of other shapes, adapted: an oracle alone, penalty multipliers, a torch module; each letter reads right."""

from __future__ import annotations

import importlib.util

import pytest

import verify


def letter(name: str) -> str:
    return str(verify.conform(f"examples.other_shapes.{name}", stages_only=True, in_process=True))


def test_an_oracle_alone_is_told_its_weights_and_its_dual_term() -> None:
    said = letter("oracle_alone:mine")
    assert "in its activation ρ is 1 where h ≥ 0, to a small tolerance, and 0 elsewhere; " in said
    assert "line 6 = the right one + α₁·Aᵀ(ρ∘λ̃)" in said
    assert "It gives all 32 answers that are off" in said


def test_penalty_multipliers_are_told_what_to_declare() -> None:
    said = letter("penalty_multipliers:Undeclared")
    assert "With accuracy = 1e-07 on the subject" in said
    assert "deviates in lower_level" in said


def test_penalty_multipliers_that_declare_it_are_clean() -> None:
    assert ".penalty_multipliers:Solver: no deviation." in letter("penalty_multipliers:Solver").splitlines()[0]


def test_a_forgotten_two_of_a_penalty_is_named() -> None:
    assert "but 0.5·λ is returned in place of λ" in letter("penalty_multipliers:Halved")


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed; it is no dependency")
def test_a_module_with_its_own_optimiser_is_told_its_dual_term_and_its_steps() -> None:
    said = letter("torch_module:Subject")
    assert "line 6 = the right one + α₁·Aᵀλ̃" in said
    assert "the result of 200 gradient steps from ỹ*, divided by the largest curvature" in said
