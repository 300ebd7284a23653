"""The methods by name, each with two numbers to tune: how long its first step is, and one further number.

All else follows from that length s, from G = ‖∇F(x_0)‖ and from the radius δ, by the relations of the method's own
theorem; the further number is one that the theorem ties to constants nobody knows, or leaves open:

* Algorithm 2's loop, of F2CSA, the parent and the zeroth-order method: D = s, M = δ/D rounded, at least 1, and
  η = 2cD/(G √M), c the further number; the zeroth-order method's answers are √n times as long.
* SSIGD: step size s/(G r^p) at step r = 1, 2, …, p the further number: constant, 1/√r or 1/r.
* PIGD: step size s/G, constant; its gradients are taken within c δ, c the further number.
* DS-BLO: γ₂ = 8 G γ₁, so that s = G/(γ₁ G + γ₂) gives γ₁ = 1/(9 s). Its theorem's K = δ γ₁ and
  β = (ε/(64 G))^(1/K) are kept unless β is the further number: then γ₁ = K/δ no longer holds with the K of that β.
  Where δ γ₁ < 1 the theorem has no such length; K = 1 is taken.
* implicit gradient descent: x ← x - (s/(G r^p)) ∇F, without noise or perturbation: no method of a paper, but the
  plainest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from f2csa_ref.algorithm_1 import OracleCall, checked_oracle
from f2csa_ref.baselines.ds_blo import DsBloParameters
from f2csa_ref.baselines.exact_parent import ParentParameters, PigdParameters
from f2csa_ref.baselines.implicit_gradient import implicit_gradient
from f2csa_ref.baselines.iterates import IterateState, Restoring, Surroundings
from f2csa_ref.baselines.methods import Rival, rival_method
from f2csa_ref.baselines.ssigd import SsigdParameters
from f2csa_ref.baselines.zeroth_order import ZerothOrderParameters
from f2csa_ref.fast import FastOracle
from f2csa_ref.solver.run_loop import ClippedMomentum, Method
from spec.exact import Vector
from spec.parameters import OracleParameters, OuterParameters
from spec.reading import AS_WRITTEN, REPAIRED, Reading
from verify.experiments.benchmark_problems import Course
from verify.experiments.prepared_contenders import PreparedTilted, prepared_method
from verify.experiments.work import SAMPLE_X

F2CSA, LITERAL = "F2CSA", "F2CSA, formulas as written"
SSIGD, DSBLO, DSBLO_2 = "SSIGD", "DS-BLO, option I", "DS-BLO, option II"
PIGD, PARENT, ZEROTH, DESCENT = "PIGD", "parent", "zeroth-order", "implicit gradient descent"
PRINTED_F2CSA, PRINTED_SSIGD = "F2CSA, η = 1e-5 as printed", "SSIGD, β = 1e-4 as printed"
SAMPLED = (F2CSA, LITERAL, SSIGD, DSBLO_2)
"""Those whose gradients of f are samples; the others' papers give them exact ones, or values of F."""
SCALED = (F2CSA, LITERAL, PARENT, ZEROTH, PIGD)
"""Those whose further number is a factor."""
ALPHA = 0.1
TARGET = 0.01
"""ε of DS-BLO's memory, in units of G."""
SMOOTHING = 0.1
"""Of the zeroth-order method, in radii."""
PRINTED_ETA, PRINTED_BETA = 1e-5, 1e-4
DECAYS: dict[float, Literal["constant", "square-root", "harmonic"]] = {
    0.0: "constant",
    0.5: "square-root",
    1.0: "harmonic",
}
"""SSIGD's laws by their power p."""


@dataclass(frozen=True)
class Contender:
    """A method on a course with its length and its further number, which is its default where ``None``.

    ``eta`` overrides Algorithm 2's step size, ``beta`` SSIGD's. A printed step size is run as it is: η with D = s,
    β diminishing like 1/√r, the slower of the two usual laws.
    ``fast`` is the method at its best: what stays is prepared once (:mod:`verify.experiments.prepared_contenders`);
    otherwise it is its page.
    """

    name: str
    length: float
    alpha: float = ALPHA
    eta: float | None = None
    beta: float | None = None
    fast: bool = False
    further: float | None = None
    own: tuple[tuple[str, float], ...] = ()
    """Own numbers by name where they are not the defaults: alpha, samples, perturbation, inner, smoothing."""

    def method(self, course: Course, counts: Counter[str]) -> Method[Any]:
        """A run of it that adds its calls to ``counts``."""
        G, radius, n = course.first_gradient, course.radius, len(course.x_0)
        M = max(1, round(radius / self.length))
        longer = math.sqrt(n) if self.name == ZEROTH else 1.0
        factor = self.further if self.further is not None and self.name in SCALED else 1.0
        eta = self.eta or 2 * factor * self.length / (longer * G * math.sqrt(M))
        outer = OuterParameters(goldstein_radius=M * self.length, epsilon=1.0, D=self.length, eta=eta, M=M, K=1)
        own, alpha = dict(self.own), self.used_alpha
        samples = round(own.get("samples", 1))
        around = Surroundings(course.objectives, outer, alpha, samples, counts=counts)
        if self.name in READINGS:
            parameters = OracleParameters(N_g=samples) if "samples" in own else OracleParameters()
            call = OracleCall(alpha, READINGS[self.name], parameters)
            inner = own.get("inner", 1.0)
            return ClippedMomentum((_at_speed if self.fast else _algorithm_1)(course, call, counts, inner), outer)
        if self.name == PARENT:
            return self._of(ParentParameters(), around)
        if self.name == ZEROTH:
            smoothing = own.get("smoothing", SMOOTHING) * min(radius, outer.goldstein_radius)
            return self._of(ZerothOrderParameters(smoothing=smoothing), around)
        # One iterate is one block.
        around = replace(around, outer=outer.model_copy(update={"M": 1}))
        power = self.further or 0.0
        if self.name in (SSIGD, PRINTED_SSIGD):
            decay = DECAYS[power] if self.beta is None else "square-root"
            ssigd = SsigdParameters(step_size=self.beta or self.length / G, decay=decay, **self._perturbed())
            return self._of(ssigd, around)
        if self.name == PIGD:
            return self._of(PigdParameters(step_size=self.length / G, radius=factor * radius), around)
        if self.name == DESCENT:
            return _Descent(self.length / G, power, (_prepared_slope if self.fast else _page_slope)(around))
        gamma_1 = 1 / (9 * self.length)
        option: Literal["I", "II"] = "I" if self.name == DSBLO else "II"
        beta = tied_memory(self.length, radius) if self.further is None else self.further
        gamma_2 = 8 * G * gamma_1
        blo = DsBloParameters(beta=beta, gamma_1=gamma_1, gamma_2=gamma_2, option=option, **self._perturbed())
        return self._of(blo, around)

    def _of(self, spec: Rival, around: Surroundings) -> Method[Any]:
        return prepared_method(spec, around) if self.fast else rival_method(spec, around)

    def _perturbed(self) -> dict[str, Any]:
        own = dict(self.own)
        return {"perturbation": own["perturbation"]} if "perturbation" in own else {}

    @property
    def used_alpha(self) -> float:
        """α of a penalty estimator, tuned or not."""
        return dict(self.own).get("alpha", self.alpha)

    @property
    def told(self) -> str:
        """The further number in print, and what of its own is not the default."""
        other = "".join(f", {name} {value:g}" for name, value in self.own)
        return self._further_told + other

    @property
    def _further_told(self) -> str:
        if self.eta is not None or self.beta is not None:
            return "as printed"
        if self.name in (SSIGD, DESCENT):
            return {0.0: "constant", 0.5: "1/√r", 1.0: "1/r"}[self.further or 0.0]
        if self.name in (DSBLO, DSBLO_2):
            return "β tied to γ₁" if self.further is None else f"β = {self.further:g}"
        return f"{'perturbation' if self.name == PIGD else 'η'} × {1.0 if self.further is None else self.further:g}"


def keeps_theorem(entrant: Contender, radius: float) -> bool:
    """Whether a DS-BLO has β and γ₁ as its theorem ties them, by a K of at least 1."""
    return entrant.further is None and radius / (9 * entrant.length) >= 1


def tied_memory(length: float, radius: float) -> float:
    """DS-BLO's β where its theorem ties it to γ₁ = K/δ, at least K = 1."""
    return float((TARGET / 64) ** (1 / max(1.0, radius / (9 * length))))


READINGS: dict[str, Reading] = {F2CSA: REPAIRED, PRINTED_F2CSA: REPAIRED, LITERAL: AS_WRITTEN}


Answers = Callable[[Vector, np.random.Generator], Vector]
Slope = Callable[[Vector], Vector]


def _algorithm_1(course: Course, call: OracleCall, counts: Counter[str], inner: float) -> Answers:
    if inner != 1.0:
        call = replace(call, tol=inner * FastOracle(course.problem, call).tol)

    def answer(z: Vector, rng: np.random.Generator) -> Vector:
        estimate = checked_oracle(course.objectives, z, call, rng)
        counts.update(estimate.counts, lower_level_solves=1)
        return estimate.hypergradient

    return answer


def _at_speed(course: Course, call: OracleCall, counts: Counter[str], inner: float) -> Answers:
    oracle = FastOracle(course.problem, call)
    oracle.tol *= inner

    def answer(z: Vector, rng: np.random.Generator) -> Vector:
        estimate = oracle(z, rng)
        counts.update(estimate.counts, lower_level_solves=1, bytes_read=estimate.bytes_read)
        counts["sampled_products"] += (call.parameters.N_g - 1) * SAMPLE_X
        return estimate.hypergradient

    return answer


def _prepared_slope(around: Surroundings) -> Slope:
    answers = PreparedTilted(around)
    return lambda x: answers(x, None, None)


def _page_slope(around: Surroundings) -> Slope:
    def answer(x: Vector) -> Vector:
        estimate = implicit_gradient(around.objectives, x)
        around.counts.update(estimate.counts)
        return estimate.hypergradient

    return answer


class _Descent(Restoring):
    """Gradient descent on F, step r = 1, 2, … as long as the first over r^power."""

    def __init__(self, step_size: float, power: float, slope: Slope) -> None:
        self.step_size, self.power, self.slope = step_size, power, slope

    def start(self, x_0: Vector, rng: np.random.Generator) -> IterateState:  # noqa: ARG002  # draws nothing
        return IterateState.start(x_0)

    def step(self, state: IterateState, rng: np.random.Generator) -> None:  # noqa: ARG002  # draws nothing
        grad = self.slope(state.x)
        step_size = self.step_size * (state.t + 1) ** -self.power
        state.moved(state.x - step_size * grad, grad, 1)
