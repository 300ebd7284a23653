"""Memories that mix up near points, matrices that are kept, iterates put back, optimisers seen end to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from f2csa_ref.objectives import objectives_of
from tests.verify.conformance.blame.loop_subjects import PlantedLoop
from tests.verify.conformance.blame.plain_lines import Given, minimiser
from tests.verify.conformance.blame.test_state import renewed
from verify.conformance.blame.algorithm_2.loop import explain_loop
from verify.conformance.blame.algorithm_2.whole_optimisers import explain_whole_optimiser
from verify.conformance.blame.memory.state import explain_state
from verify.subjects import ReferenceSubject
from verify.subjects.adapters import EndToEnd
from verify.subjects.protocol import StageCalls

Near = Callable[[Any], Any]
SHORT: dict[str, tuple[Near, str]] = {
    "one decimal": (lambda x: tuple(np.round(x, 1)), "the problem and x rounded to 1 decimals"),
    "three decimals": (lambda x: tuple(round(float(v), 3) for v in x), "the problem and x rounded to 3 decimals"),
    "cut off": (lambda x: tuple(np.floor(1e4 * x).astype(int)), "the problem and x cut off after 4 decimals"),
    "single": (lambda x: x.astype(np.float32).tobytes(), "the problem and x in single precision"),
    "printed": (lambda x: " ".join(f"{v:.5f}" for v in x), "the problem and x rounded to 5 decimals"),
}


def memoised(key: Near, stage: str) -> type:
    class Memoised:
        name = "memoised"

        def __init__(self) -> None:
            self.known: dict[Any, Any] = {}
            self.right: Any = ReferenceSubject()

        def _kept(self, *args: Any) -> Any:
            told = (
                str(args[0].to_dict()),
                key(args[1]),
                *(() if len(args) == 2 else (args[2].alpha, str(args[2].stages))),
            )
            if told not in self.known:
                self.known[told] = getattr(self.right, stage)(*args)
            return self.known[told]

    setattr(Memoised, stage, Memoised._kept)
    return Memoised


@pytest.mark.parametrize("name", SHORT)
def test_a_memory_that_mixes_up_near_points_is_named(name: str) -> None:
    key, words = SHORT[name]
    make = memoised(key, "lower_level")
    (blame,) = explain_state(StageCalls(make()), renewed(make))
    assert blame.stage == "lower_level"
    sentences = [one.sentence for one in blame.explanations]
    assert len(sentences) == 1, sentences
    assert words in sentences[0]
    assert blame.held_out > 0


def test_a_memory_by_every_digit_gets_no_name() -> None:
    make = memoised(lambda x: x.tobytes(), "lower_level")
    assert explain_state(StageCalls(make()), renewed(make)) == ()


def stale(
    key: Callable[[Any, Any], Any], steps: int, *, falling: bool = False, held: bool = False, from_0: bool = False
) -> type:
    """Newton's steps with the first Hessian of a key; ``falling``, while the gradient gets smaller.

    ``held``, until a call has another key; ``from_0`` they start at 0, not at ỹ*.
    """

    class Stale:
        name = "stale"

        def __init__(self) -> None:
            self.kept: dict[Any, Any] = {}

        def penalty_minimiser(self, problem: Any, x: Any, call: Any, tol: Any) -> Any:
            q = problem.arrays
            c = Given(q, x, call.y_star, call.y_star, call.lam, call.rho, call.alpha, 1)
            H = q.f_yy + c.a1 * q.g_yy + c.a2 * (q.B.T * c.rho) @ q.B
            slot = len(call.y_star), key(problem, call)
            if held and slot not in self.kept:
                self.kept.clear()
            kept = self.kept.setdefault(slot, H)
            y, best = 0 * call.y_star if from_0 else call.y_star, minimiser(c)
            for _ in range(steps):
                further = y - np.linalg.solve(kept, H @ (y - best))
                if falling and np.linalg.norm(H @ (further - best)) >= np.linalg.norm(H @ (y - best)):
                    break
                y = further
            return y

    return Stale


def matrices(problem: Any, _: Any) -> Any:
    return problem.arrays.g_yy.tobytes(), problem.arrays.B.tobytes()


STALE = {
    "first of its size, 1 step": (stale(lambda problem, call: 0, 1), "1 Newton step from ỹ*, uses the Hessian"),
    "by problem, 2 steps": (stale(lambda problem, call: str(problem.to_dict()), 2), "first call with this problem"),
    "by matrices, 3 steps": (
        stale(matrices, 3), "with these f_yy, g_yy and B"
    ),
    "by problem and α, while it helps": (
        stale(lambda problem, call: (str(problem.to_dict()), call.alpha), 8, falling=True),
        "8 Newton steps from ỹ* that make the gradient smaller, uses the Hessian of the first call with this problem",
    ),
    "by problem and α, kept alone, refined": (
        stale(lambda problem, call: (str(problem.to_dict()), call.alpha), 2, held=True, from_0=True),
        "penalty solve, refined once, uses the Hessian of the first of the calls in a row with this problem and α",
    ),
    "by problem, a solve": (
        stale(lambda problem, call: str(problem.to_dict()), 1, from_0=True),
        "the penalty solve uses the Hessian of the first call with this problem",
    ),
    "by α, 1 step": (stale(lambda problem, call: call.alpha, 1), "Hessian of the first call with this α"),
}  # fmt: skip


@pytest.mark.parametrize("name", STALE)
def test_a_factor_that_is_kept_is_named(name: str) -> None:
    make, words = STALE[name]
    (blame,) = explain_state(StageCalls(make()), renewed(make), ("penalty_minimiser",))
    sentences = [one.sentence for one in blame.explanations]
    assert len(sentences) == 1, sentences
    assert words in sentences[0]


PUT: dict[str, tuple[Callable[[Any], Any], str]] = {
    "box": (lambda s: np.minimum(np.maximum(s.x + s.step, -2.0), 2.0), "x is kept in the box [−2, 2]"),
    "unit box": (lambda s: np.clip(s.x + s.step, 0, 1), "x is kept in the box [0, 1]"),
    "not negative": (lambda s: np.array([max(v, 0.0) for v in s.x + s.step]), "x is kept non-negative"),
    "ball": (lambda s: (s.x + s.step) * min(1.0, 1.5 / np.linalg.norm(s.x + s.step)), "ball of radius 1.5 about 0"),
    "reflected": (lambda s: np.abs(s.x + s.step), "x is reflected at 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", PUT)
def test_iterates_that_are_put_back_are_named(name: str) -> None:
    move, words = PUT[name]
    blames = explain_loop(StageCalls(PlantedLoop(move=move)))
    sentences = [one.sentence for blame in blames for one in blame.explanations]
    assert len(sentences) == 1, sentences
    assert words in sentences[0]
    assert blames[0].held_out > 0


class MinimisersByRho:
    """Minimisers of calls that are given nothing, kept by the problem, x and ρ, and not by α."""

    name = "minimisers-by-rho"

    def __init__(self) -> None:
        self.known: dict[Any, Any] = {}
        self.right: Any = ReferenceSubject()

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        if call.y_star is None:
            y_star, lam = self.right.lower_level(problem, x)
            q = problem.arrays
            width = call.parameters.h_width(call.reading, call.alpha**3, np.linalg.norm(q.B, 2))
            h = np.minimum(0.0, np.round(q.A @ x - q.B @ y_star - q.b, 12))
            rho = self.right.activation(h, lam, width, call.parameters.lam_width)
            key = (str(problem.to_dict()), x.tobytes(), np.round(rho, 9).tobytes())
            call = replace(call, y_star=y_star, lam=lam, rho=rho)
            if key not in self.known:
                self.known[key] = self.right.penalty_minimiser(problem, x, call, 1e-12)
            call = replace(call, y_penalty=self.known[key])
        return self.right.hypergradient(problem, x, call, rng)


def test_a_minimiser_that_is_kept_whatever_alpha_is_is_named() -> None:
    (blame,) = explain_state(StageCalls(MinimisersByRho()), renewed(MinimisersByRho))
    words = " ".join(one.sentence for one in blame.explanations)
    assert "an oracle call that is given nothing uses ỹ of the first call with this problem" in words
    assert "at this x" in words
    assert blame.held_out > 0


Step = Callable[[Any, Any, Any, int], Any]


def clip(v: Any, D: float) -> Any:
    return v * min(1.0, D / max(float(np.linalg.norm(v)), 1e-300))


def whole(step: Step) -> EndToEnd:
    def solve(problem: Any, x0: Any, D: float, eta: float, M: int, K: int, rng: Any) -> dict[str, Any]:
        x, delta, path, z = x0, 0 * x0, [x0], []
        grad_f = objectives_of(problem).grad_x_f
        for t in range(M * K):
            z.append(x + rng.random() * delta)
            x = x + delta
            g = grad_f(z[-1], np.zeros(problem.m))
            delta = step(delta, g, (D, eta), t)
            path.append(x)
        x_bar = np.array(z).reshape(K, M, -1).mean(axis=1)
        return {"path": np.array(path), "x_bar": x_bar, "x_out": x_bar[rng.integers(K)]}

    return EndToEnd(solve)


WHOLE: dict[str, tuple[Step, str]] = {
    "decaying": (lambda d, g, s, t: clip(d - s[1] / np.sqrt(t + 1) * g, s[0]), "the step size η is multiplied by 1/√t"),
    "like 1/t": (lambda d, g, s, t: clip(d - s[1] / (t + 1) * g, s[0]), "the step size η is multiplied by 1/t"),
    "half as long": (lambda d, g, s, t: clip(d - s[1] * g, s[0] / 2), "D is multiplied by"),
    "forgetful": (lambda d, g, s, t: clip(0.9 * d - s[1] * g, s[0]), "the previous step is multiplied by 0.9"),
    "upwards": (lambda d, g, s, t: clip(d + s[1] * g, s[0]), "g is added, not subtracted"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_the_steps_of_a_whole_optimiser_are_named(name: str) -> None:
    step, words = WHOLE[name]
    (blame,) = explain_whole_optimiser(StageCalls(whole(step)))
    sentences = [one.sentence for one in blame.explanations]
    assert len(sentences) == 1, sentences
    assert words in sentences[0]
    assert blame.held_out > 0


def test_nothing_is_said_of_a_right_whole_optimiser() -> None:
    right = whole(lambda d, g, s, t: clip(d - s[1] * g, s[0]))
    assert explain_whole_optimiser(StageCalls(right)) == ()
