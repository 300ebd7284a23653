"""The rivals as subjects: the stages that checks ask of an implementation, answered by each method's own code.

``call`` is what checks hand over: ``alpha``, ``parameters.N_g``, and stage values to use where they are given.
``optimise`` runs a method's own outer loop on the oracle it is given, ``eta`` for its step size and ``D`` for its
longest step: β = η of SSIGD, step size of PIGD, and γ₁ = 1/D, γ₂ = 1/η, β = 1 - 1/M of DS-BLO.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from f2csa_ref.algorithm_1 import OracleCall, Stages, oracle
from f2csa_ref.algorithm_2 import Oracle, OuterTrace, finished, outer_loop
from f2csa_ref.baselines.ds_blo import DsBloParameters, ds_blo_step
from f2csa_ref.baselines.exact_parent import PigdParameters, in_unit_ball, pigd_step
from f2csa_ref.baselines.implicit_gradient import implicit_gradient
from f2csa_ref.baselines.iterates import IterateState, Surroundings
from f2csa_ref.baselines.ssigd import SsigdParameters, ssigd_step
from f2csa_ref.baselines.tilted import TiltedImplicitGradient
from f2csa_ref.baselines.zeroth_order import ZerothOrderAnswers, ZerothOrderParameters
from f2csa_ref.lower_level import lower_level
from f2csa_ref.objectives import objectives_of
from spec.exact import Vector
from spec.parameters import OuterParameters
from spec.problem import Problem

PERTURBATION = 1e-4
"""Scale of q in the answers of SSIGD and DS-BLO."""
SMOOTHING = 1e-3
"""Radius of the sphere in the answers of the zeroth-order method."""
ANY_RUN = OuterParameters(goldstein_radius=1.0, epsilon=1.0, D=1.0, eta=1.0, M=1, K=1)
"""Stands where a single answer asks for no run."""


class ExactLowerLevelSubject:
    """What all of them share: the exact pair."""

    def lower_level(self, problem: Problem, x: Vector) -> tuple[Vector, Vector]:
        """The pair (y*, λ*), shapes (m,) and (p,)."""
        solution = lower_level(problem, x)
        return solution.y_star, solution.lam


def refuse_given(call: Any) -> None:
    """An exact gradient has no use for stages of a penalty: the statements that hand them over are not about it."""
    given = [name for name in ("y_star", "lam", "rho", "y_penalty") if getattr(call, name) is not None]
    if given:
        raise NotImplementedError(f"it makes no penalty estimate from a given {', '.join(given)}")


class Implicit(ExactLowerLevelSubject):
    """The implicit gradient, an oracle without an outer loop of its own."""

    name = "implicit gradient"

    def hypergradient(self, problem: Problem, x: Vector, call: Any, rng: np.random.Generator | None) -> Vector:
        """∇F at x with N_g samples of ∇f."""
        refuse_given(call)
        lower = lower_level(problem, x)
        if not (lower.licq and lower.strictly_complementary):
            raise NotImplementedError("y* is not known to be differentiable at this x")
        return implicit_gradient(problem, x, lower=lower, rng=rng, samples=call.parameters.N_g).hypergradient


class Stepping(ABC):
    """An outer loop of steps from iterate to iterate."""

    def optimise(self, answer: Oracle, x0: Vector, parameters: OuterParameters, rng: np.random.Generator) -> OuterTrace:
        """T steps; block k's point is the iterate it begins at."""
        state, path = self._walked(answer, x0, parameters, rng)
        return finished(state, output="uniform", rng=rng, path=np.array(path))

    def optimise_runs(
        self, answer: Oracle, x0: Vector, parameters: OuterParameters, rng: np.random.Generator, keep_path: bool
    ) -> tuple[Vector, Vector | None]:
        """The same, one row a run."""
        state, path = self._walked(answer, x0, parameters, rng)
        return np.array(state.x_bar), np.array(path) if keep_path else None

    def _walked(
        self, answer: Oracle, x0: Vector, parameters: OuterParameters, rng: np.random.Generator
    ) -> tuple[IterateState, list[Vector]]:
        state, step = IterateState.start(x0), self.stepping(parameters)
        path = [state.x]
        for _ in range(parameters.T):
            step(state, answer, rng)
            path.append(state.x)
        return state, path

    @abstractmethod
    def stepping(self, parameters: OuterParameters) -> Callable[[IterateState, Oracle, np.random.Generator], None]:
        """One step of the method under these parameters."""


@dataclass
class _Tilted(ExactLowerLevelSubject, Stepping):
    """Implicit gradients under a perturbation drawn for the call."""

    sampled: ClassVar[bool] = True

    def hypergradient(self, problem: Problem, x: Vector, call: Any, rng: np.random.Generator) -> Vector:
        """One answer, q drawn now, then ξ."""
        refuse_given(call)
        around = Surroundings(objectives_of(problem), ANY_RUN, call.alpha, call.parameters.N_g)
        q = PERTURBATION * rng.standard_normal(around.objectives.m)
        return TiltedImplicitGradient(around, "best")(x, q, rng if self.sampled else None)


class Ssigd(_Tilted):
    """SSIGD."""

    name = "SSIGD"

    def stepping(self, parameters: OuterParameters) -> Callable[[IterateState, Oracle, np.random.Generator], None]:
        spec = SsigdParameters(step_size=parameters.eta)
        return lambda state, answer, _: ssigd_step(state, answer, spec, parameters.M)


class DsBlo(_Tilted):
    """DS-BLO, option I: f exact."""

    name = "DS-BLO"
    sampled = False
    option: ClassVar[Literal["I", "II"]] = "I"

    def stepping(self, parameters: OuterParameters) -> Callable[[IterateState, Oracle, np.random.Generator], None]:
        beta = min(max(1 - 1 / parameters.M, 0.5), 1 - 1e-15)
        spec = DsBloParameters(beta=beta, gamma_1=1 / parameters.D, gamma_2=1 / parameters.eta, option=self.option)
        return lambda state, answer, rng: ds_blo_step(
            state, answer, spec, parameters.M, rng.random((*state.x.shape[:-1], 1))
        )


class DsBlo2(DsBlo):
    """DS-BLO, option II: f sampled."""

    name = "DS-BLO, option II"
    sampled = True
    option = "II"


class _Penalty(ExactLowerLevelSubject):
    """The parent's penalty estimate, without noise: Algorithm 1's lines with a hard active set."""

    def hypergradient(self, problem: Problem, x: Vector, call: Any, rng: np.random.Generator | None) -> Vector:  # noqa: ARG002  # deterministic
        """The estimate at x for the call's alpha, stages used as they are given."""
        q = objectives_of(problem)
        if q.noise.model != "none":
            raise NotImplementedError("it is deterministic, and takes no noisy problem")
        if call.reading.dual_term != "cancelled":
            raise NotImplementedError("its terms in the multiplier cancel")
        if call.rho is None and (call.y_star is not None or call.lam is not None):
            raise NotImplementedError("its active rows are those of the exact pair, not of a given one")
        lower = lower_level(problem, x)
        hard = (lower.active & ~lower.weakly_active).astype(np.float64)
        given = {"y_star": lower.y_star, "lam": lower.lam, "rho": hard, "y_penalty": None}
        given |= {name: getattr(call, name) for name in given if getattr(call, name) is not None}
        return oracle(q, x, OracleCall(call.alpha, call.reading, given=Stages(**given)), noisy=False).hypergradient


class Pigd(_Penalty, Stepping):
    """Perturbed inexact gradient descent."""

    name = "PIGD"

    def stepping(self, parameters: OuterParameters) -> Callable[[IterateState, Oracle, np.random.Generator], None]:
        spec = PigdParameters(step_size=parameters.eta, radius=parameters.goldstein_radius)
        M = parameters.M
        return lambda state, answer, rng: pigd_step(state, answer, spec, M, _directions(rng, state.x))


def _directions(rng: np.random.Generator, x: Vector) -> Vector:
    """One point of the unit ball, or one a row."""
    return np.array([in_unit_ball(rng, x.shape[-1]) for _ in np.atleast_2d(x)]).reshape(x.shape)


class Clipped:
    """Algorithm 2's outer loop."""

    def optimise(self, answer: Oracle, x0: Vector, parameters: OuterParameters, rng: np.random.Generator) -> OuterTrace:
        """Algorithm 2."""
        return outer_loop(answer, x0, parameters=parameters, rng=rng, keep_path=True)

    def optimise_runs(
        self, answer: Oracle, x0: Vector, parameters: OuterParameters, rng: np.random.Generator, keep_path: bool
    ) -> tuple[Vector, Vector | None]:
        """Algorithm 2, one row a run."""
        runs = outer_loop(answer, x0, parameters=parameters, rng=rng, keep_path=keep_path)
        return runs.x_bar, runs.path


class Parent(_Penalty, Clipped):
    """The deterministic parent."""

    name = "parent"


class ZerothOrder(ExactLowerLevelSubject, Clipped):
    """The zeroth-order method."""

    name = "zeroth-order"

    def hypergradient(self, problem: Problem, x: Vector, call: Any, rng: np.random.Generator) -> Vector:
        """The two-point estimate at x."""
        refuse_given(call)
        around = Surroundings(objectives_of(problem), ANY_RUN, call.alpha)
        return ZerothOrderAnswers(ZerothOrderParameters(smoothing=SMOOTHING), around)(x, rng)
