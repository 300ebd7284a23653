"""Oracle calls of which no stage is offered: weights of their own and another line 6, told together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from f2csa_ref.objectives import objectives_of
from spec.exact import Vector
from tests.verify.conformance.blame.plain_lines import Given, Line, line_6, minimiser
from verify.conformance.blame.all_stages import explain_all
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.letter.diagnosis import diagnose
from verify.conformance.model import Diagnosis
from verify.subjects import ReferenceSubject
from verify.subjects.adapters import Reparametrised
from verify.subjects.protocol import StageCalls
from verify.truth.geometry import ramp

REFERENCE = ReferenceSubject()
Weigh = Callable[[Vector, Vector, float], Vector]


class OracleAlone:
    """All stages in one function of the penalties' weights, with weights of rows and a line 6 as given."""

    def __init__(self, weigh: Weigh, line: Line) -> None:
        self.weigh, self.line = weigh, line

    def __call__(self, problem: Any, x: Any, lam1: float, lam2: float) -> Vector:
        if problem.kind == "holder":
            raise NotImplementedError("quadratic problems")
        alpha = lam1**-0.5
        ys, lam = REFERENCE.lower_level(problem, x)
        q = problem.arrays
        h = q.A @ x - q.B @ ys - q.b
        width = 2 * alpha**3 * max(1.0, objectives_of(problem).B_norm)
        given = Given(q, x, ys, ys, lam, self.weigh(h, lam, width), alpha, 1)
        return self.line(given.but(y=minimiser(given)))


def held(h: Vector, lam: Vector, width: float) -> Vector:
    return (h > -1e-7).astype(float)


def with_dual_term(c: Given) -> Vector:
    return line_6(c) + c.a1 * c.q.A.T @ c.lam


def without_the_upper_cross_block(c: Given) -> Vector:
    return line_6(c) - c.q.f_xy @ c.y


def told(weigh: Weigh, line: Line) -> Diagnosis:
    oracle = OracleAlone(weigh, line)
    seen = look(StageCalls(Reparametrised(lambda problem, x, lam1, lam2: oracle(problem, x, lam1, lam2))))
    (found,) = diagnose(seen, explain_all(seen.stages, seen))
    return found


def test_own_weights_and_another_line_6_are_told_together() -> None:
    found = told(held, without_the_upper_cross_block)
    assert "in its activation ρ is 1 where h ≥ 0, to a small tolerance, and 0 elsewhere" in found.sentence
    assert "; line 6 = the right one without f_xy ỹ" in found.sentence
    assert found.rest.startswith("It gives all ")


def two_changes(c: Given) -> Vector:
    return with_dual_term(c) - c.q.f_xy @ c.y


@pytest.mark.parametrize(("lam_width", "about"), [(0.1, ""), (1.0, "the ramp of λ is 10·w_λ wide in place of w_λ; ")])
def test_the_paper_s_weights_are_blamed_for_their_own_mistakes_only(lam_width: float, about: str) -> None:
    found = told(lambda h, lam, width: ramp(h, lam, width, lam_width), two_changes)
    assert ("in its activation" in found.sentence) is bool(about)
    assert f"{about}line 6 = the right one − f_xy ỹ + α₁·Aᵀλ̃" in found.sentence
