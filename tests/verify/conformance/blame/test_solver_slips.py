"""Penalty solves that stop too soon or are moved to rows, weights made twice, fixed widths: named, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.verify.conformance.blame.plain_lines import Given, PlainMinimiser, minimiser
from verify.conformance.blame.all_stages import explain_all
from verify.conformance.blame.explain import explain
from verify.conformance.blame.questions import chain_question, minimiser_question
from verify.conformance.blame.sums.call_points import point_of
from verify.conformance.blame.sums.edited_stage import EditedStage, ScopedExchange
from verify.conformance.blame.sums.exchanges import exchanges
from verify.conformance.blame.sums.right_sums import RIGHT_PARTS
from verify.conformance.blame.sums.sparse_sums import SumEdit
from verify.conformance.blame.sums.stage_search import apart, witness_of
from verify.conformance.blame.sums.stopped_solves import _looks, _seen
from verify.conformance.blame.sums.sum_blame import explain_sum
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.places.places import place_of
from verify.conformance.probes.probes import FROM_PAIR, penalty_probe
from verify.method.endings import STOPS
from verify.method.lines import FORMULAS
from verify.method.plain_subject import PlainMethod
from verify.subjects.protocol import StageCalls

Ended = Callable[[Any, Any, Any, Any], bool]


def quadratic(c: Given) -> tuple[Any, Any]:
    """The Hessian, and the gradient at ỹ*."""
    q = c.q
    H = q.f_yy + c.a1 * q.g_yy + c.a2 * (q.B.T * c.rho) @ q.B
    return H, H @ (c.ys - minimiser(c))


def conjugate(ended: Ended, most: int = 500) -> Callable[[Given], Any]:
    def solve(c: Given) -> Any:
        H, g0 = quadratic(c)
        g, w = g0, 0 * g0
        p = -g
        for _ in range(most):
            if np.linalg.norm(g) == 0:
                break
            a = (g @ g) / (p @ H @ p)
            w, new = w + a * p, g + a * (H @ p)
            p, g = -new + (new @ new) / (g @ g) * p, new
            if ended(g0, g, a * p, c.ys + w):
                break
        return c.ys + w

    return solve


def steepest(ended: Ended, most: int = 5000) -> Callable[[Given], Any]:
    def solve(c: Given) -> Any:
        H, g0 = quadratic(c)
        y, g = c.ys, g0
        for _ in range(most):
            d = (g @ g) / max(g @ H @ g, 1e-300) * g
            y, g = y - d, g - H @ d
            if ended(g0, g, d, y):
                break
        return y

    return solve


def seidel(ended: Ended, most: int = 5000) -> Callable[[Given], Any]:
    def solve(c: Given) -> Any:
        H, g0 = quadratic(c)
        w = 0 * g0
        for _ in range(most):
            old = w.copy()
            for i in range(len(w)):
                w[i] = -(g0[i] + H[i] @ w - H[i, i] * w[i]) / H[i, i]
            if ended(g0, g0 + H @ w, w - old, c.ys + w):
                break
        return c.ys + w

    return solve


def gradient_steps(most: int) -> Callable[[Given], Any]:
    def solve(c: Given) -> Any:
        H, g0 = quadratic(c)
        w, step = 0 * g0, 1 / float(np.linalg.norm(H, 2))
        for _ in range(most):
            w = w - step * (g0 + H @ w)
        return c.ys + w

    return solve


def newton(hessian: Callable[[Given], Any]) -> Callable[[Given], Any]:
    """One step from ỹ* under a Hessian of one's own, the gradient being right."""

    def solve(c: Given) -> Any:
        return c.ys - np.linalg.solve(hessian(c), quadratic(c)[1])

    return solve


def unpacked(c: Given) -> Any:
    half = np.tril(c.q.f_yy)
    return half + half.T + c.a1 * c.q.g_yy + c.a2 * (c.q.B.T * c.rho) @ c.q.B


def scaled_rows(c: Given) -> Any:
    rows = c.rho[:, None] * c.q.B
    return c.q.f_yy + c.a1 * c.q.g_yy + c.a2 * rows.T @ rows


def gauss_newton(c: Given) -> Any:
    return c.a1 * c.q.g_yy + c.a2 * (c.q.B.T * c.rho) @ c.q.B


def least_squares(share: float) -> Callable[[Given], Any]:
    def solve(c: Given) -> Any:
        H, slope = quadratic(c)
        return c.ys - np.linalg.lstsq(H, slope, rcond=share)[0]

    return solve


def in_single(solve: Callable[[Any, Any], Any]) -> Callable[[Given], Any]:
    """A Newton step whose system is handed over in single precision."""

    def step(c: Given) -> Any:
        q, H = c.q, quadratic(c)[0]
        slope = q.f_xy.T @ c.x + q.f_yy @ c.ys + q.f_y - c.a2 * q.B.T @ (c.rho * c.h(c.ys))
        slope = slope + c.a1 * (q.g_xy.T @ c.x + q.g_yy @ c.ys + q.g_y - q.B.T @ c.lam)
        return c.ys - solve(H.astype(np.float32), slope.astype(np.float32)).astype(float)

    return step


def moved(rule: Callable[[Given, Any], Any]) -> Callable[[Given], Any]:
    return lambda c: rule(c, minimiser(c))


def row_after_row(c: Given, y: Any) -> Any:
    for a, b in zip(c.q.B, c.q.A @ c.x - c.q.b, strict=True):
        if a @ y < b:
            y = y + (b - a @ y) * a / (a @ a)
    return y


def onto_worst(c: Given, y: Any) -> Any:
    i = int(np.argmax(c.h(y)))
    return y + max(c.h(y)[i], 0.0) * c.q.B[i] / (c.q.B[i] @ c.q.B[i])


def by_pseudoinverse(c: Given, y: Any) -> Any:
    over = c.h(y) > 0
    return y + np.linalg.pinv(c.q.B[over]) @ c.h(y)[over] if over.any() else y


def back_to_start(c: Given, y: Any) -> Any:
    return c.ys if (c.h(y) > 0).any() else y


def never(*_: Any) -> bool:
    return False


SOLVES: dict[str, tuple[Callable[[Given], Any], str]] = {
    "cg, a hundredth": (conjugate(lambda g0, g, d, y: np.linalg.norm(g) <= 1e-2 * np.linalg.norm(g0)),
                        "conjugate gradients from ỹ*, ended where the gradient's norm over that at the start is 0.01"),
    "cg, a tenth": (conjugate(lambda g0, g, d, y: np.linalg.norm(g) < 0.1 * np.linalg.norm(g0)),
                    "ended where the gradient's norm over that at the start is 0.1 or less"),
    "cg, one step": (conjugate(never, 1), "steps of"),
    "steepest, gradient": (steepest(lambda g0, g, d, y: np.linalg.norm(g) < 0.1),
                           "steepest descent with exact steps from ỹ*, ended where the gradient's norm is 0.1 or less"),
    "steepest, three": (steepest(never, 3), "the result of 3 steps of steepest descent with exact steps from ỹ*"),
    "seidel, sweeps": (seidel(never, 4), "the result of 4 steps of Gauss and Seidel's sweeps from ỹ*"),
    "seidel, change": (seidel(lambda g0, g, d, y: np.abs(d).max() < 1e-3),
                       "sweeps from ỹ*, ended where the step's largest entry is 0.001 or less"),
    "f_yy unpacked": (newton(unpacked), "in its Hessian H stands f_yy with twice its diagonal where f_yy belongs"),
    "rows scaled by ρ": (newton(scaled_rows), "in its Hessian H stands α₂Bᵀρ²B where α₂BᵀρB belongs"),
    "without f_yy": (newton(gauss_newton), "in its Hessian H stands nothing where f_yy belongs"),
    "in single precision": (in_single(np.linalg.solve), "solved in single precision, in place of the right minimiser"),
    "inverted in single precision": (in_single(lambda H, s: np.linalg.inv(H) @ s), "its inverse taken in single"),
    "row after row": (moved(row_after_row), "moved onto each violated row in turn"),
    "worst row": (moved(onto_worst), "moved onto the row that it violates most"),
    "all at once": (moved(by_pseudoinverse), "moved onto all rows that it violates at once"),
    "back to the start": (moved(back_to_start), "ỹ* where the right minimiser violates a row"),
    "light rows left out": (lambda c: minimiser(c.but(rho=c.rho * (c.rho > 0.5))), "rows with ρ ≤ ½ left out"),
    "a ball": (moved(lambda c, y: c.ys + (y - c.ys) * min(1.0, 0.25 / np.linalg.norm(y - c.ys))), "to length ¼"),
    "a box about ỹ*": (moved(lambda c, y: c.ys + np.clip(y - c.ys, -0.2, 0.2)), "entries of the way cut off at ±1/5"),
}  # fmt: skip


@pytest.mark.parametrize("name", SOLVES)
def test_a_penalty_solve_is_named_and_foreseen(name: str) -> None:
    line, words = SOLVES[name]
    stages = StageCalls(PlainMinimiser(line))
    blame = explain_sum("y", stages, ())
    assert len(blame.explanations) == 1, [e.sentence for e in blame.explanations]
    assert words in blame.explanations[0].sentence
    for seed in range(700, 716):
        probe = minimiser_question(seed)
        said = blame.explanations[0].answer(probe)
        assert said is not None
        np.testing.assert_allclose(said, probe.ask(stages), rtol=1e-6, atol=1e-8)


ILL_CONDITIONED: dict[str, tuple[Callable[[Given], Any], str]] = {
    "least squares, a thousandth": (least_squares(1e-3), "singular values of the Hessian H below 0.001 of its largest"),
    "cg, a thousandth": (conjugate(lambda g0, g, d, y: np.linalg.norm(g) <= 1e-3 * np.linalg.norm(g0)),
                         "ended where the gradient's norm over that at the start is 0.001 or less"),
}  # fmt: skip


@pytest.mark.parametrize("name", ILL_CONDITIONED)
def test_a_solve_that_only_ill_conditioned_problems_show_is_named_where_something_is_off(name: str) -> None:
    line, words = ILL_CONDITIONED[name]
    stages = StageCalls(PlainMinimiser(line))
    (explanation,) = explain_sum("y", stages, (), off=True).explanations
    assert words in explanation.sentence
    for seed in range(700, 716):
        probe = minimiser_question(seed, alpha=1 / 64)
        said = explanation.answer(probe)
        assert said is not None
        np.testing.assert_allclose(said, probe.ask(stages), rtol=1e-6, atol=1e-8)


def test_a_solve_that_is_skipped_where_no_row_has_a_weight_is_named() -> None:
    stages = StageCalls(PlainMinimiser(lambda c: minimiser(c) if c.rho.any() else c.ys))
    (explanation,) = explain_sum("y", stages, (), off=True).explanations
    assert "the right minimiser, but ỹ* where every ρ is 0" in explanation.sentence


def test_what_is_flat_everywhere_is_no_explanation() -> None:
    probe = penalty_probe(place_of("interior"), 0.1, tol=1e-6, name="flat")
    (flat,) = [one for one in exchanges() if one.name == "α⁷ where α₁ belongs"]
    others = tuple(j for j, part in enumerate(RIGHT_PARTS["y"]) if part.group != "g")
    edit, witness = EditedStage("y", (ScopedExchange(flat),), SumEdit("y", others)), witness_of(probe, probe.expected)
    assert witness is not None
    # What is left at the right minimiser is small, as it is at ỹ*, where alone this gradient is zero.
    assert apart(edit, witness) > 1


def towards_a_wrong_zero(c: Given) -> Any:
    """Six steps with the right Hessian, along a gradient whose ∇_y f is taken at ỹ*."""
    (H, slope), w = quadratic(c), 0 * c.ys
    for _ in range(6):
        w = w - np.linalg.solve(H, slope + H @ w - c.q.f_yy @ w)
    return c.ys + w


def test_a_wrong_gradient_is_named_though_its_steps_end_before_its_zero() -> None:
    seen = look(StageCalls(PlainMinimiser(towards_a_wrong_zero)), only=["penalty_minimiser"])
    (blame,) = explain_all(seen.stages, seen)
    (explanation,) = blame.explanations
    assert "makes zero = the right one − f_yy(y−ỹ*), that is, it answers ỹ* − H⁻¹∇_yL(x,ỹ*)" in explanation.sentence
    assert blame.left
    assert blame.held_out >= 10


def test_iterations_that_took_all_questions_to_find_are_confirmed_all_the_same() -> None:
    seen = look(StageCalls(PlainMinimiser(gradient_steps(400))), only=["penalty_minimiser"])
    (blame,) = explain_all(seen.stages, seen)
    (explanation,) = blame.explanations
    assert "the result of 400 gradient steps from ỹ*, divided by the largest curvature" in explanation.sentence
    assert blame.held_out >= 10


RIGHT = {
    "cg to the end": conjugate(lambda g0, g, d, y: np.linalg.norm(g) < 1e-10 * np.linalg.norm(g0)),
    "sweeps to the end": seidel(lambda g0, g, d, y: np.abs(d).max() < 1e-13),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_solve_gets_no_name(name: str) -> None:
    for off in (False, True):
        assert not explain_sum("y", StageCalls(PlainMinimiser(RIGHT[name])), (), off=off).explanations


def unknown_way(c: Given) -> Any:
    y = minimiser(c)
    return y + 0.01 * np.sin(5 * (y - c.ys))


def test_a_solve_of_nothing_known_gets_no_name() -> None:
    assert not explain_sum("y", StageCalls(PlainMinimiser(unknown_way)), ()).explanations


CALLS = {
    "fixed δ": ("widths", "h_width", ("alpha ** 3", "0.001"), "0.002τ·max(1,‖B‖) for the width"),
    "another fixed δ": ("widths", "h_width", ("alpha ** 3", "2.5e-05"), "5e-05τ·max(1,‖B‖) for the width"),
    "an odd factor": ("widths", "h_width", ("alpha ** 3", "(1.7 * alpha ** 3)"), "3.4τ·max(1,‖B‖)·α³ for the width"),
    "a fixed ε_λ": ("widths", "lam_width", ("eps_lam", "0.03"), "0.03 for the multipliers' width ε_λ"),
    "ρ twice": ("line_6", "weights", ("rho", "RHO(1.0 * (rho > 0))"), "line 6 alone has ρ replaced by 1 wherever"),
    "ρ² in the solve": ("oracle", "y_penalty", ("rho, alpha", "RHO(rho ** 2), alpha"), "penalty solve alone has ρ²"),
    "ρ anew": ("line_6", "weights", ("rho", "RHO(activation(A @ x - B @ y_penalty - b, lam, h_width, lam_width))"),
               "line 6 alone has ρ made anew by the activation of h(x,ỹ)"),
    "half of ρ": ("line_6", "weights", ("rho", "RHO(0.5 * rho)"), "line 6 alone has ρ/2"),
}  # fmt: skip


class MakesWeights(PlainMethod):
    """What stands in ``RHO(…)`` counts where the call makes its weights itself."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        given = call.rho is not None
        formulas: Any = {key: dict(steps) for key, steps in self.formulas.items()}
        for steps in formulas.values():
            for step, text in steps.items():
                steps[step] = text.replace("RHO(", "where(True, rho, " if given else "where(False, rho, ")
        return PlainMethod(formulas).hypergradient(problem, x, call, rng)


@pytest.mark.parametrize("name", CALLS)
def test_what_a_call_makes_of_weights_is_named(name: str) -> None:
    procedure, step, (right, wrong), words = CALLS[name]
    formulas: Any = {key: dict(steps) for key, steps in FORMULAS.items()}
    assert right in formulas[procedure][step]
    formulas[procedure][step] = formulas[procedure][step].replace(right, wrong)
    stages = StageCalls(MakesWeights(formulas))
    (blame,) = explain(stages, look(stages, only=("hypergradient",)))
    assert len(blame.explanations) == 1
    assert words in blame.explanations[0].sentence
    for seed in range(830, 836):
        probe = chain_question(seed, FROM_PAIR, 0.25)
        said = blame.explanations[0].answer(probe)
        assert said is not None
        np.testing.assert_allclose(said, probe.ask(stages), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rule", STOPS["penalty_minimiser"])
def test_a_rule_sees_nothing_of_an_iteration_that_makes_no_step(rule: str) -> None:
    point = point_of(minimiser_question(1))
    assert point is not None
    assert _seen(_looks(point, "ỹ*", []), rule).shape == (0,)
    assert _seen(_looks(point, "ỹ*", [np.ones_like(point.y)]), rule).shape == (1,)
