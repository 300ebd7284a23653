"""Another alpha in one stage, or in a whole call, has a name, and its number is measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import verify
from verify.conformance.bugs.bent_subject import BentSubject
from verify.conformance.model import Conformance
from verify.subjects import Call, ReferenceSubject

IN_A_CALL = "the whole call is made with"


def told(subject: ReferenceSubject) -> Conformance:
    return verify.conform(subject, stages_only=True)


@pytest.mark.parametrize(("factor", "power", "words"), [(1.1, 1, "1.1α"), (0.1, 0, "0.1")])
def test_a_call_that_is_made_with_another_alpha_is_one_sentence(factor: float, power: int, words: str) -> None:
    class Subject(ReferenceSubject):
        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any = None) -> Any:
            return super().hypergradient(problem, x, replace(call, alpha=factor * call.alpha**power), rng)

    found = told(Subject())
    (diagnosis,) = [one for one in found.diagnoses if one.stage == "hypergradient"]
    assert diagnosis.sentence.startswith(f"{IN_A_CALL} {words} where α belongs (")
    # The distance told is that of whole calls, whose solves stop, not that of line 6 alone.
    assert float(diagnosis.sentence.split("as it says, to ")[1].split()[0]) > 0.01
    assert diagnosis.held_out > 10


def test_a_solve_with_another_alpha_is_no_other_call() -> None:
    class Subject(ReferenceSubject):
        def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
            return super().penalty_minimiser(problem, x, replace(call, alpha=2 * call.alpha), tol)

    found = told(Subject())
    assert found.first == "penalty_minimiser"
    assert any(
        "makes zero = the right one with 2α where α belongs in both weights" in one.sentence for one in found.diagnoses
    )


def test_a_solve_and_line_6_with_another_alpha_are_no_whole_call_where_the_widths_are_right() -> None:
    class Subject(BentSubject):
        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any = None) -> Any:
            weighed = self.completed(problem, x, replace(call, y_penalty=np.zeros(problem.m)))
            told = replace(weighed, y_penalty=call.y_penalty, alpha=2 * call.alpha)
            return ReferenceSubject.hypergradient(self, problem, x, told, rng)

    found = told(Subject())
    assert not any(IN_A_CALL in one.sentence for one in found.diagnoses)


def test_line_6_alone_with_another_alpha_is_no_other_call() -> None:
    class Subject(BentSubject):
        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any = None) -> Any:
            told = ReferenceSubject.hypergradient
            call = self.completed(problem, x, call)
            return told(self, problem, x, replace(call, alpha=0.5 * call.alpha), rng)

    found = told(Subject())
    (diagnosis,) = [one for one in found.diagnoses if one.stage == "hypergradient"]
    assert diagnosis.sentence.startswith("line 6 = the right one with α/2 where α belongs in both weights")
