"""The methods by name, each with one number to tune: how long its first step is.

All else follows from that length s, from G = ‖∇F(x_0)‖ and from the radius δ, by the relations of the method's own
theorem:

* Algorithm 2's loop, of F2CSA, the parent and the zeroth-order method: D = s, M = δ/D rounded, at least 1, and
  η = 2D/(G √M); the zeroth-order method's answers are √n times as long.
* SSIGD and PIGD: step size s/G, constant.
* DS-BLO: γ₂ = 8 G γ₁, so that s = G/(γ₁ G + γ₂) gives γ₁ = 1/(9 s); K = δ γ₁, at least 1; β = (ε/(64 G))^(1/K).
* implicit gradient descent: x ← x - (s/G) ∇F, without noise or perturbation: no method of a paper, but the plainest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from f2csa_ref.algorithm_1 import Call, checked_oracle
from f2csa_ref.baselines.ds_blo import DsBloParameters
from f2csa_ref.baselines.exact_parent import ParentParameters, PigdParameters
from f2csa_ref.baselines.implicit_gradient import implicit_gradient
from f2csa_ref.baselines.iterates import IterateState, Restoring, Surroundings
from f2csa_ref.baselines.methods import rival_method
from f2csa_ref.baselines.ssigd import SsigdParameters
from f2csa_ref.baselines.zeroth_order import ZerothOrderParameters
from f2csa_ref.fast import FastOracle
from f2csa_ref.solver.run_loop import ClippedMomentum, Method
from spec.exact import Vector
from spec.parameters import OuterParameters
from spec.reading import AS_WRITTEN, REPAIRED, Reading
from verify.experiments.courses import Course

F2CSA, LITERAL = "F2CSA", "F2CSA, formulas as written"
SSIGD, DSBLO, DSBLO_2 = "SSIGD", "DS-BLO, option I", "DS-BLO, option II"
PIGD, PARENT, ZEROTH, DESCENT = "PIGD", "parent", "zeroth-order", "implicit gradient descent"
PRINTED_F2CSA, PRINTED_SSIGD = "F2CSA, η = 1e-5 as printed", "SSIGD, β = 1e-4 as printed"
SAMPLED = (F2CSA, LITERAL, SSIGD, DSBLO_2)
"""Those whose gradients of f are samples; the others' papers give them exact ones, or values of F."""
ALPHA = 0.1
TARGET = 0.01
"""ε of DS-BLO's memory, in units of G."""
SMOOTHING = 0.1
"""Of the zeroth-order method, in radii."""
PRINTED_ETA, PRINTED_BETA = 1e-5, 1e-4


@dataclass(frozen=True)
class Contender:
    """A method on a course with its length; ``eta`` overrides Algorithm 2's step size, ``beta`` SSIGD's.

    A printed step size is run as it is: η with D = s, β diminishing like 1/√r, the slower of the two usual laws.
    ``fast`` takes Algorithm 1 at speed, whose lower-level solver is its own: for F2CSA by itself, never beside rivals.
    """

    name: str
    length: float
    alpha: float = ALPHA
    eta: float | None = None
    beta: float | None = None
    fast: bool = False

    def method(self, course: Course, counts: Counter[str]) -> Method[Any]:
        """A run of it that adds its calls to ``counts``."""
        G, radius, n = course.first_gradient, course.radius, len(course.x_0)
        M = max(1, round(radius / self.length))
        longer = math.sqrt(n) if self.name == ZEROTH else 1.0
        eta = self.eta or 2 * self.length / (longer * G * math.sqrt(M))
        outer = OuterParameters(goldstein_radius=M * self.length, epsilon=1.0, D=self.length, eta=eta, M=M, K=1)
        around = Surroundings(course.objectives, outer, self.alpha, counts=counts)
        if self.name in READINGS:
            call = Call(self.alpha, READINGS[self.name])
            return ClippedMomentum((_at_speed if self.fast else _algorithm_1)(course, call, counts), outer)
        if self.name == PARENT:
            return rival_method(ParentParameters(), around)
        if self.name == ZEROTH:
            spec = ZerothOrderParameters(smoothing=SMOOTHING * min(radius, outer.goldstein_radius))
            return rival_method(spec, around)
        # One iterate is one block.
        around = replace(around, outer=outer.model_copy(update={"M": 1}))
        if self.name in (SSIGD, PRINTED_SSIGD):
            decay: Literal["constant", "square-root"] = "constant" if self.beta is None else "square-root"
            return rival_method(SsigdParameters(step_size=self.beta or self.length / G, decay=decay), around)
        if self.name == PIGD:
            return rival_method(PigdParameters(step_size=self.length / G, radius=radius), around)
        if self.name == DESCENT:
            return _Descent(self.length / G, around)
        gamma_1 = 1 / (9 * self.length)
        beta = (TARGET / 64) ** (1 / max(1.0, radius * gamma_1))
        option: Literal["I", "II"] = "I" if self.name == DSBLO else "II"
        blo = DsBloParameters(beta=beta, gamma_1=gamma_1, gamma_2=8 * G * gamma_1, option=option)
        return rival_method(blo, around)


READINGS: dict[str, Reading] = {F2CSA: REPAIRED, PRINTED_F2CSA: REPAIRED, LITERAL: AS_WRITTEN}


Answers = Callable[[Vector, np.random.Generator], Vector]


def _algorithm_1(course: Course, call: Call, counts: Counter[str]) -> Answers:
    def answer(z: Vector, rng: np.random.Generator) -> Vector:
        estimate = checked_oracle(course.objectives, z, call, rng)
        counts.update(estimate.counts, lower_level_solves=1)
        return estimate.hypergradient

    return answer


def _at_speed(course: Course, call: Call, counts: Counter[str]) -> Answers:
    oracle = FastOracle(course.problem, call)

    def answer(z: Vector, rng: np.random.Generator) -> Vector:
        estimate = oracle(z, rng)
        counts.update(estimate.counts, lower_level_solves=1)
        return estimate.hypergradient

    return answer


class _Descent(Restoring):
    """Gradient descent on F."""

    def __init__(self, step_size: float, around: Surroundings) -> None:
        self.step_size, self.around = step_size, around

    def start(self, x_0: Vector, rng: np.random.Generator) -> IterateState:  # noqa: ARG002  # draws nothing
        return IterateState.start(x_0)

    def step(self, state: IterateState, rng: np.random.Generator) -> None:  # noqa: ARG002  # draws nothing
        found = implicit_gradient(self.around.objectives, state.x)
        self.around.counts.update(found.counts)
        state.moved(state.x - self.step_size * found.hypergradient, found.hypergradient, 1)
