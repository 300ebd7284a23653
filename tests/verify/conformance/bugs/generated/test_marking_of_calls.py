"""What is said of whole calls and of memories counts only where it gives a subject's own answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from spec.exact import Vector
from verify.conformance.blame.memory.remembered_values import OF_STAGE, TakenOver
from verify.conformance.blame.memory.state_rules import StateRule
from verify.conformance.bugs.generated.marking import Unheld, describes
from verify.conformance.bugs.generated.mistakes import Mistake
from verify.conformance.bugs.generated.unseen import Unseen, draw_unseen
from verify.conformance.probes.probes import Probe
from verify.method.edits import Edit, all_edits
from verify.method.plain_subject import PlainMethod
from verify.subjects.protocol import StageCalls


@pytest.fixture(scope="module")
def unseen() -> Unseen:
    return draw_unseen(np.random.default_rng(3), 2)


def edit(procedure: str, step: str, formula: str) -> Edit:
    return next(e for e in all_edits() if (e.procedure, e.step, e.formula) == (procedure, step, formula))


@dataclass
class Played:
    """The answers of another subject, as an explanation."""

    subject: Any
    sentence: str = "as that one does"
    edits: int = 1
    stages: StageCalls = field(init=False)

    def __post_init__(self) -> None:
        self.stages = StageCalls(self.subject)

    def answer(self, probe: Probe) -> Vector | None:
        return probe.ask(self.stages)


def test_what_is_said_of_a_call_may_tell_edits_of_the_stages_it_computes(unseen: Unseen) -> None:
    solve = edit("lagrangian", "alpha_1", "(2 * alpha) ** (-2)")
    handed = edit("oracle", "y_penalty", "penalty_minimiser(y_star, lam, shifted(rho), alpha)")
    both = Unheld(Mistake(edits=(solve, handed)), unseen)
    assert describes(both, "hypergradient", Played(both.subject((0, 1)))) == {0, 1}
    for less in ((0,), (1,)):
        assert describes(both, "hypergradient", Played(both.subject(less))) == frozenset()
    assert describes(both, "hypergradient", Played(PlainMethod())) == frozenset()


def test_a_memory_of_noise_is_held_against_calls_with_given_normals(unseen: Unseen) -> None:
    old = edit("noise", "noise_f", "sigma_f * size_f * previous('noise_f.z_f', z_f).sum(0) / N_g")
    normals = Unheld(Mistake(edits=(old,)), unseen)
    rules = [
        (spot.places, keeping, StateRule("", TakenOver(spot, keeping), near=True))
        for spot in OF_STAGE["samples"] for keeping in ("before", "first")
    ]  # fmt: skip
    kept = [(places, keeping) for places, keeping, rule in rules if describes(normals, "samples", rule)]
    assert kept == [(frozenset({"z_f"}), "before")]
