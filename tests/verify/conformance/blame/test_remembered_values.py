"""A value that one line takes over from an earlier call is named; what only looks like it, or is right, is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

from tests.verify.conformance.blame.plain_lines import Given, line_6, minimiser
from verify.conformance.blame.memory.remembered_values import value_questions
from verify.conformance.blame.memory.state import explain_by_values, explain_state, follows
from verify.conformance.blame.memory.state_rules import StateRule
from verify.method.lines import Stage
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.truth.geometry import ramp

ALL: tuple[Stage, ...] = ("lower_level", "activation", "penalty_minimiser", "hypergradient")
REFERENCE = ReferenceSubject()


class Workspace:
    """A solver object whose buffers, one a name and a shape, are filled before or after they are read."""

    name = "workspace"

    def __init__(self) -> None:
        self.buffers: dict[Any, Any] = {}

    def late(self, name: str, value: Any, *, one: bool = False) -> Any:
        """Read first, fill then; with ``one`` there is a single buffer a name."""
        key = name if one else (name, np.shape(value))
        before = self.buffers.get(key, value)
        self.buffers[key] = np.array(value)
        return before if np.shape(before) == np.shape(value) else value

    def once(self, key: Any, value: Any) -> Any:
        return self.buffers.setdefault(key, np.array(value))

    def weights(self, problem: Any, h: Any, lam: Any, call: Any) -> Any:
        width = 2 * call.parameters.ramp_constant * max(1.0, np.linalg.norm(problem.arrays.B, 2)) * call.alpha**3
        return ramp(h, lam, width, call.parameters.lam_width)

    def solve(self, c: Given) -> Any:
        return minimiser(c)

    def line(self, c: Given) -> Any:
        return line_6(c)

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:  # no noise
        q, ys, lam, rho, y = problem.arrays, call.y_star, call.lam, call.rho, call.y_penalty
        if lam is None:
            ys, lam = REFERENCE.lower_level(problem, x)
        if rho is None:
            rho = self.weights(problem, q.A @ x - q.B @ ys - q.b, lam, call)
        c = Given(q, x, ys, ys, lam, rho, call.alpha, 1)
        return self.line(c.but(y=self.solve(c) if y is None else y))


class OldWeights(Workspace):
    def line(self, c: Given) -> Any:
        return line_6(c.but(rho=self.late("rho", c.rho)))


class OldWeightsInOneBuffer(Workspace):
    def line(self, c: Given) -> Any:
        return line_6(c.but(rho=self.late("rho", c.rho, one=True)))


class OldMultipliers(Workspace):
    def solve(self, c: Given) -> Any:
        return minimiser(c.but(lam=self.late("lam", c.lam)))


class OldPointInF(Workspace):
    def line(self, c: Given) -> Any:
        return line_6(c) + c.q.f_xy @ (self.late("y", c.y) - c.y)


class OldRowsForWeights(Workspace):
    def weights(self, problem: Any, h: Any, lam: Any, call: Any) -> Any:
        return super().weights(problem, self.late("h", h), lam, call)


class WeightsOnceAProblem(Workspace):
    def weights(self, problem: Any, h: Any, lam: Any, call: Any) -> Any:
        return self.once(str(problem.to_dict()), super().weights(problem, h, lam, call))


class FactorByWeights(Workspace):
    """The matrix of line 5 is kept by ρ alone, so that another α finds it."""

    def key(self, c: Given) -> Any:
        return c.rho.tobytes()

    def solve(self, c: Given) -> Any:
        q = c.q
        H = self.once(self.key(c), q.f_yy + c.a1 * q.g_yy + c.a2 * (q.B.T * c.rho) @ q.B)
        slope = q.f_xy.T @ c.x + q.f_yy @ c.ys + q.f_y
        slope = slope + c.a1 * (q.g_xy.T @ c.x + q.g_yy @ c.ys + q.g_y - q.B.T @ c.lam)
        return c.ys - np.linalg.solve(H, slope - c.a2 * q.B.T @ (c.rho * c.h(c.ys)))


class FactorByProblemAndWeights(FactorByWeights):
    def key(self, c: Given) -> Any:
        return tuple(block.tobytes() for block in (c.q.f_yy, c.q.g_yy, c.q.B, c.q.g_y, c.q.f_x, c.q.f_y, c.q.b, c.rho))


class HalfOldWeights(Workspace):
    """A mean of both is no value of an earlier call."""

    def line(self, c: Given) -> Any:
        return line_6(c.but(rho=(c.rho + self.late("rho", c.rho)) / 2))


class OldWeightsAndMultipliers(Workspace):
    """Two lines at once: nothing single gives the answers."""

    def line(self, c: Given) -> Any:
        return line_6(c.but(rho=self.late("rho", c.rho), ys=self.late("ys", c.ys)))


class FirstWidth(Workspace):
    hypergradient: Any = None

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return ramp(h, lam, float(self.once("w", h_width)), lam_width)


class OldSlope(Workspace):
    """Every set of rows is tried; the linear term is that of the call before."""

    hypergradient: Any = None

    def lower_level(self, problem: Any, x: Any) -> Any:
        q = problem.arrays
        slope, least = self.late("c", q.g_xy.T @ x + q.g_y), q.A @ x - q.b
        p, m = q.B.shape
        for rows in map(list, chain.from_iterable(combinations(range(p), k) for k in range(min(p, m) + 1))):
            W, lam = q.B[rows], np.zeros(p)
            system = np.block([[q.g_yy, -W.T], [W, np.zeros((len(rows), len(rows)))]])
            found = np.linalg.solve(system, np.r_[-slope, least[rows]])
            lam[rows] = found[m:]
            if (lam >= -1e-12).all() and (q.B @ found[:m] >= least - 1e-10).all():
                return found[:m], lam
        raise ValueError("no set of rows will do")


def renewed(make: Callable[[], Any]) -> Any:
    @contextmanager
    def renew() -> Iterator[StageCalls]:
        yield StageCalls(make())

    return renew


def sentences(make: Callable[[], Any]) -> dict[str, list[str]]:
    found = explain_state(StageCalls(make()), renewed(make), ALL)
    return {blame.stage: [explanation.sentence for explanation in blame.explanations] for blame in found}


PLANTED: dict[str, tuple[Any, str, str]] = {
    "weights": (OldWeights, "hypergradient", "line 6 uses ρ of the last call that had one of this size"),
    "one buffer": (OldWeightsInOneBuffer, "hypergradient", "line 6 uses ρ of the call right before, where it has"),
    "multipliers": (OldMultipliers, "hypergradient", "the penalty solve uses λ̃ of the last call"),
    "point": (OldPointInF, "hypergradient", "∇_x f(x,ỹ) in line 6 uses ỹ of the last call"),
    "rows": (OldRowsForWeights, "hypergradient", "the activation uses h of the last call"),
    "once a problem": (WeightsOnceAProblem, "hypergradient",
                       "an oracle call that is given none uses ρ of the first call with this problem"),
    "factor": (FactorByWeights, "hypergradient",
               "made of 1 Newton step from ỹ*, uses the Hessian of the first call with this ρ"),
    "factor of a problem": (FactorByProblemAndWeights, "hypergradient",
                            "from ỹ*, uses the Hessian of the first call with this problem and ρ"),
    "first width": (FirstWidth, "activation", "the activation uses the width of h's ramp of the first call"),
    "slope": (OldSlope, "lower_level", "the lower level uses the linear term g_xyᵀx + g_y of the last call"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_the_value_and_its_place_are_named(name: str) -> None:
    make, stage, words = PLANTED[name]
    found = sentences(make)
    assert [*found] == [stage]
    assert [words in sentence for sentence in found[stage]] == [True], found
    assert "must be" in found[stage][0]


@pytest.mark.parametrize("make", [HalfOldWeights, OldWeightsAndMultipliers])
def test_what_is_no_single_value_of_an_earlier_call_is_not_named_as_one(make: Any) -> None:
    assert explain_by_values("hypergradient", renewed(make)) is None
    assert not any(" uses " in sentence for found in sentences(make).values() for sentence in found)


@pytest.mark.parametrize("make", [ReferenceSubject, Workspace])
def test_what_keeps_nothing_is_told_nothing(make: Any) -> None:
    assert explain_state(StageCalls(make()), renewed(make), ALL) == ()


def test_an_answer_at_random_is_no_memory() -> None:
    class Random(Workspace):
        def line(self, c: Given) -> Any:
            return line_6(c) + 1e-3 * np.random.default_rng().standard_normal(len(c.x))

    assert explain_by_values("hypergradient", renewed(Random)) is None


def test_a_rule_is_held_against_another_order() -> None:
    (blame,) = explain_state(StageCalls(OldWeights()), renewed(OldWeights), ALL)
    (rule,) = blame.explanations
    assert isinstance(rule, StateRule)
    assert blame.held_out > 0
    assert follows("hypergradient", replace(rule), renewed(OldWeights))
    assert not follows("hypergradient", replace(rule), renewed(OldMultipliers))
    assert not follows("hypergradient", replace(rule), renewed(Workspace))


class OldNoise:
    """Line 6 whose noise is made of what ``kept`` gives: normals (N_g, n), sizes and sums of one call or another."""

    name, uses_draws = "old-noise", True

    def __init__(self, kept: Callable[[Workspace, str, Any], Any]) -> None:
        self.room, self.kept = Workspace(), kept

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        y, ys, noise, n = call.y_penalty, call.y_star, problem.noise, len(x)
        quiet = line_6(Given(problem.arrays, x, y, ys, call.lam, call.rho, call.alpha, 1))
        if noise.model == "none":
            return quiet
        keep = partial(self.kept, self.room)
        z_f, z_g = (np.asarray(call.draws[name]).reshape(-1, n) for name in ("f_x", "g_x"))
        size = 1.0
        if noise.model == "matrix":
            size = float(np.hypot(np.linalg.norm(keep("x", x)), np.linalg.norm(y)))
            quiet = quiet + float(noise.sigma_g) / call.alpha**2 * np.linalg.norm(y - ys) * z_g.mean(axis=0)
        return quiet + float(noise.sigma_f) * size * keep("normals", z_f).mean(axis=0)


NOISES = {
    "normals": "the noise of f uses the normals of the last call that had one of this size",
    "x": "the size of the noise of f uses x of the last call that had one of this size",
}


@pytest.mark.parametrize("place", NOISES)
def test_noise_of_an_earlier_call_is_named(place: str) -> None:
    def kept(room: Workspace, name: str, value: Any) -> Any:
        return room.late(name, value) if name == place else value

    blame = explain_by_values("samples", renewed(lambda: OldNoise(kept)))
    assert blame is not None
    assert blame.stage == "samples"
    assert [e.sentence.partition(" (")[0] for e in blame.explanations] == [NOISES[place]]


def test_right_noise_and_half_old_noise_are_no_memory_of_one_value() -> None:
    def half(room: Workspace, name: str, value: Any) -> Any:
        return (value + room.late(name, value)) / 2 if name == "normals" else value

    for kept in (lambda room, name, value: value, half):
        assert explain_by_values("samples", renewed(partial(OldNoise, kept))) is None


@pytest.mark.parametrize("stage", [*ALL, "samples"])
def test_questions_are_all_different_and_some_share_a_size(stage: Any) -> None:
    asked = value_questions(stage)
    assert len({one.probe.id for one in asked}) == len(asked)
    sizes = [one.attributes["sizes"] for one in asked]
    assert 1 < len(set(sizes)) < len(sizes)
