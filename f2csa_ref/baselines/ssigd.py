"""SSIGD: stochastic gradient steps along the implicit gradient of a lower level perturbed once."""

from __future__ import annotations

import math
from typing import Literal, Self

import numpy as np
from pydantic import Field

from f2csa_ref.algorithm_2 import Oracle, Projection
from f2csa_ref.baselines.iterates import IterateState, Restoring, Surroundings, checked_answer
from f2csa_ref.baselines.kkt_system import LinearAlgebra
from f2csa_ref.baselines.tilted import TiltedImplicitGradient
from spec.exact import Vector
from spec.files import Frozen


class SsigdParameters(Frozen):
    """Parameters of SSIGD.

    Args:
        step_size: β, units of x² per unit of F, > 0.
        decay: β_r in step r = 0, 1, …: ``constant`` β (theorem for weakly convex and convex F), ``harmonic``
            β / (r + 1) (strongly convex, β = 1 / μ_F), or ``square-root`` β / √(r + 1).
        perturbation: Standard deviation of each component of q, units of g per unit of y, > 0.
        linear_algebra: Of the implicit gradient.
    """

    name: Literal["ssigd"] = "ssigd"
    step_size: float = Field(gt=0, allow_inf_nan=False)
    decay: Literal["constant", "square-root", "harmonic"] = "constant"
    perturbation: float = Field(default=1e-4, gt=0, allow_inf_nan=False)
    linear_algebra: LinearAlgebra = "best"

    @classmethod
    def of_theorem(cls, *, gap: float, lipschitz_F: float, steps: int, perturbation: float = 1e-4) -> Self:
        """Constant β = gap / (L_F² √T): the theorem fixes the order 1/√T, gap / L_F² has the units."""
        return cls(step_size=max(gap, 1e-12) / (lipschitz_F**2 * math.sqrt(steps)), perturbation=perturbation)

    def step_size_at(self, r: int) -> float:
        """β_r."""
        power = {"constant": 0.0, "square-root": 0.5, "harmonic": 1.0}[self.decay]
        return self.step_size * float((r + 1) ** -power)


def ssigd_step(
    state: IterateState, oracle: Oracle, spec: SsigdParameters, M: int, projection: Projection | None = None
) -> None:
    """One step: d the stochastic implicit gradient at x under the fixed q, then x ← proj_X(x - β_r d)."""
    d = checked_answer(oracle(state.x), state.x.shape)
    x_next = state.x - spec.step_size_at(state.t) * d
    state.moved(x_next if projection is None else projection(x_next), d, M)


class SsigdMethod(Restoring):
    """A run of SSIGD: q is drawn once, ŷ is exact, ξ samples f only.

    Source: Khanduri, Tsaknakis, Zhang, Liu, Liu, Zhang, Hong: Linearly Constrained Bilevel Optimization: A Smoothed
    Implicit Gradient Approach, ICML 2023. Differs from the paper: the lower level is solved to rounding, instead of to
    an accuracy at which its active rows are known.
    """

    def __init__(self, spec: SsigdParameters, around: Surroundings) -> None:
        self.spec, self.around = spec, around
        self.gradient = TiltedImplicitGradient(around, spec.linear_algebra)

    def start(self, x_0: Vector, rng: np.random.Generator) -> IterateState:
        return IterateState.start(x_0, q=self.spec.perturbation * rng.standard_normal(self.around.objectives.m))

    def step(self, state: IterateState, rng: np.random.Generator) -> None:
        oracle: Oracle = lambda x: self.gradient(x, state.memory["q"], rng)  # noqa: E731  # as the page above takes it
        ssigd_step(state, oracle, self.spec, self.around.outer.M, self.around.projection)
