"""Oracle calls that offer nothing else: what is wrong inside is told all the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from f2csa_ref.objectives import objectives_of
from tests.verify.conformance.blame.plain_lines import Given, line_6, minimiser
from tests.verify.conformance.blame.test_solver_slips import ILL_CONDITIONED
from verify.conformance.blame.call_blame import _by_the_y
from verify.conformance.blame.explain import explain
from verify.conformance.blame.left_over import left_over
from verify.conformance.blame.questions import chain_question, width_questions
from verify.conformance.blame.sums.sum_blame import Asker
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.probes.probes import FROM_PAIR, FROM_RHO, FROM_SCRATCH, vector_probes
from verify.method.lines import FORMULAS
from verify.method.plain_subject import PlainMethod
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.truth.geometry import ramp

REFERENCE = ReferenceSubject()


@dataclass
class PlainCall:
    """An oracle call with every line of its own; ``factor`` is on the width of h's ramp, 1 where it is right."""

    line: Callable[[Given], Any] = line_6
    solve: Callable[[Given], Any] = minimiser
    factor: float = 1.0
    multipliers: float = 1.0
    name: str = field(default="plain call")

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:  # no noise
        q, ys, lam, rho, y = problem.arrays, call.y_star, call.lam, call.rho, call.y_penalty
        if ys is None or lam is None:
            ys, lam = REFERENCE.lower_level(problem, x)
            lam = self.multipliers * lam
        if rho is None:
            p = call.parameters
            width = p.h_width(call.reading, call.alpha**3, objectives_of(problem).B_norm)
            rho = ramp(q.A @ x - q.B @ ys - q.b, lam, self.factor * width, p.lam_width)
        c = Given(q, x, ys if y is None else y, ys, lam, rho, call.alpha, call.parameters.N_g)
        return self.line(c if y is not None else c.but(y=self.solve(c)))


def half_multipliers(c: Given) -> Any:
    return minimiser(c.but(lam=0.5 * c.lam))


def kept_multipliers(c: Given) -> Any:
    return line_6(c) + c.a1 * c.q.A.T @ c.lam


WRONG = {
    "penalty solve": (PlainCall(solve=half_multipliers), "penalty_minimiser", "λ̃/2 where λ̃ belongs"),
    "width": (PlainCall(factor=0.5), "activation", "w"),
    "multipliers": (PlainCall(multipliers=2.0), "lower_level", "2·λ̃ is used where λ̃ belongs"),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_line_inside(name: str) -> None:
    subject, stage, words = WRONG[name]
    stages = StageCalls(subject)
    (blame,) = explain(stages, look(stages, only=("hypergradient",)))
    assert (blame.stage, len(blame.explanations)) == (stage, 1)
    assert words in blame.explanations[0].sentence
    for given in (FROM_RHO, FROM_PAIR, FROM_SCRATCH):
        for seed in range(800, 804):
            probe = chain_question(seed, given, 0.5)
            said = blame.explanations[0].answer(probe)
            assert said is not None
            np.testing.assert_allclose(said, probe.ask(stages), rtol=1e-5, atol=1e-6)


def test_two_lines_inside_are_both_told_and_ranked() -> None:
    stages = StageCalls(PlainCall(line=kept_multipliers, solve=half_multipliers))
    blames = explain(stages, look(stages, only=("hypergradient",), extra=vector_probes()))
    assert [blame.stage for blame in blames] == ["hypergradient", "penalty_minimiser"]
    assert blames[0].explanations[0].sentence == "line 6 = the right one + α₁·Aᵀλ̃"
    assert blames[0].effect is not None
    assert blames[1].effect is not None
    assert blames[0].effect > blames[1].effect > 0


class WithSolve(PlainCall):
    """The same, with its penalty solve to be asked by itself."""

    def penalty_minimiser(self, problem: Any, x: Any, call: Any, tol: Any) -> Any:  # solved as it is
        c = Given(problem.arrays, x, call.y_star, call.y_star, call.lam, call.rho, call.alpha, 1)
        return self.solve(c)


@pytest.mark.parametrize("solve", ["least squares, a thousandth", "cg, a thousandth"])
def test_a_solve_that_few_calls_show_is_told_beside_another_line(solve: str) -> None:
    line, words = ILL_CONDITIONED[solve]
    seen = look(StageCalls(WithSolve(line=kept_multipliers, solve=line)), only=("penalty_minimiser", "hypergradient"))
    blames = explain(seen.stages, seen)
    told = {blame.stage: [one.sentence for one in blame.explanations] for blame in blames if blame.explanations}
    assert told["hypergradient"] == ["line 6 = the right one + α₁·Aᵀλ̃"]
    assert [words in sentence for sentence in told["penalty_minimiser"]] == [True]
    assert left_over(seen, blames, "hypergradient").startswith("It gives all ")


def test_nothing_is_said_of_right_calls() -> None:
    stages = StageCalls(PlainCall())
    assert explain(stages, look(stages, only=("hypergradient",))) == ()


WIRED = {
    "square": ("oracle", "rho", ("h_width", "(h_width ** 2)"), "the square of the width"),
    "norm": ("widths", "h_width", ("maximum(1, norm(B))", "norm(B)"), "2τ·‖B‖·α³ for the width"),
    "multipliers' width": ("widths", "lam_width", ("eps_lam", "(alpha * eps_lam)"), "α·ε_λ for ε_λ"),
    "constant": ("widths", "h_width", ("ramp_constant", "(2 * ramp_constant)"), "4τ·max(1,‖B‖)·α³ for the width"),
    "weights": ("oracle", "rho", ("activation(h_star, lam, h_width, lam_width)", "where(lam > 0, 1.0, 0.0)"),
                "ρ is 1 where λ̃ > 0 and 0 elsewhere"),
    "solve": ("oracle", "y_penalty", ("rho, alpha", "ones(rho), alpha"), "ρ replaced by 1 in every row"),
    "line 6": ("line_6", "weights", ("rho", "activation(A @ x - B @ y_penalty - b, lam, h_width, lam_width)"),
               "ρ made anew by the activation of h(x,ỹ)"),
    "own pair": ("line_6", "y_0", ("y_star", "lower_level()[0]"), "the given ỹ* not used but solved for anew"),
    "alpha squared": ("oracle", "y_penalty", ("rho, alpha", "rho, alpha ** 2"), "α² where α belongs in both weights"),
    "half": ("line_6", "grad_g_star", ("g_xy", "misread(g_xy)"), "− α₁·(g_xy read column by column − g_xy) ỹ*"),
}  # fmt: skip
"""Procedure and step of the plain method, what is written there for what, and what must be said."""


@pytest.mark.parametrize("name", WIRED)
def test_what_a_call_hands_on_is_told(name: str) -> None:
    procedure, step, (right, wrong), words = WIRED[name]
    formulas: Any = {key: dict(steps) for key, steps in FORMULAS.items()}
    formulas[procedure][step] = formulas[procedure][step].replace(right, wrong)
    stages = StageCalls(PlainMethod(formulas))
    (blame,) = explain(stages, look(stages, only=("hypergradient",)))
    assert (blame.stage, len(blame.explanations)) == ("hypergradient", 1)
    assert words in blame.explanations[0].sentence
    for seed in (900, 901):
        for probe in width_questions(seed):
            said = blame.explanations[0].answer(probe)
            assert said is not None
            np.testing.assert_allclose(said, probe.ask(stages), rtol=1e-5, atol=1e-5)


def test_an_inexact_solver_of_a_flatter_problem_is_told() -> None:
    stages = StageCalls(by_id("drops-penalty-in-solve"))
    (blame,) = explain(stages, look(stages, only=("penalty_minimiser", "hypergradient")))
    assert (blame.stage, blame.held_out > 0) == ("penalty_minimiser", True)
    assert "without −α₂Bᵀ(ρ∘h(x,y))" in blame.explanations[0].sentence


def test_weights_of_nothing_known_are_not_named() -> None:
    formulas: Any = {key: dict(steps) for key, steps in FORMULAS.items()}
    formulas["oracle"]["rho"] = "abs(shifted(lam) * h_star + 1 / 3) ** 0.7"
    stages = StageCalls(PlainMethod(formulas))
    (blame,) = explain(stages, look(stages, only=("hypergradient",)))
    assert blame.explanations == ()


def test_where_a_call_makes_the_right_y_no_edit_of_its_solve_is_looked_for() -> None:
    # Every edit that changes nothing there explains it: to tell those apart took a quarter of an hour.
    assert list(_by_the_y(Asker(StageCalls(ReferenceSubject())), None)) == []


def test_that_nothing_explains_a_call_is_said_once() -> None:
    """Rows after the first one without weight are left out: of line 6 alone one published vector shows it."""
    stages = StageCalls(PlainCall(line=lambda c: line_6(c.but(rho=c.rho * np.cumprod(c.rho > 0)))))
    blames = explain(stages, look(stages, only=("hypergradient",), extra=vector_probes()))
    assert [blame.stage for blame in blames] == ["hypergradient"]
