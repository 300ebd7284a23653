"""DS-BLO: normalised momentum along implicit gradients at random points, the lower level perturbed anew each time."""

from __future__ import annotations

import math
from typing import Literal, Self

import numpy as np
from pydantic import Field

from f2csa_ref.algorithm_2 import Oracle, Projection
from f2csa_ref.baselines.iterates import IterateState, Restoring, Surroundings, checked_answer
from f2csa_ref.baselines.kkt_system import LinearAlgebra
from f2csa_ref.baselines.tilted import TiltedImplicitGradient
from spec.errors import InvalidInputError
from spec.exact import Vector
from spec.files import Frozen


class DsBloParameters(Frozen):
    """Parameters of DS-BLO.

    Args:
        beta: β of the momentum, in (0, 1).
        gamma_1: γ₁, inverse of a length, > 0; no step is longer than 1/γ₁.
        gamma_2: γ₂, units of F per unit of x², > 0; the step size is at most 1/γ₂.
        option: ``I`` takes exact gradients of f, ``II`` samples them.
        perturbation: Standard deviation of each component of q, units of g per unit of y, > 0.
        linear_algebra: Of the implicit gradient.
    """

    name: Literal["dsblo"] = "dsblo"
    beta: float = Field(gt=0, lt=1)
    gamma_1: float = Field(gt=0, allow_inf_nan=False)
    gamma_2: float = Field(gt=0, allow_inf_nan=False)
    option: Literal["I", "II"] = "I"
    perturbation: float = Field(default=1e-4, gt=0, allow_inf_nan=False)
    linear_algebra: LinearAlgebra = "best"

    @classmethod
    def of_theorem(
        cls,
        *,
        goldstein_radius: float,
        epsilon: float,
        noise: float,
        lipschitz: float,
        option: Literal["I", "II"] = "I",
    ) -> Self:
        """The theorem's choice, with δ̄ the radius, δ_v the ``noise`` of an answer and L̄ its Lipschitz bound.

        β = 1 - ε² / (960 (δ_v² + 2 L̄²)), K = ln(32 (δ_v + 2 L̄) / ε) / ln(1/β), γ₁ = K / δ̄, γ₂ = 4 γ₁ (δ_v + 2 L̄).

        Raises:
            InvalidInputError: If an argument is out of range.
        """
        _require_positive(goldstein_radius=goldstein_radius, epsilon=epsilon, lipschitz=lipschitz)
        beta = 1 - epsilon**2 / (960 * (noise**2 + 2 * lipschitz**2))
        if not (0 < beta < 1 and epsilon < 32 * (noise + 2 * lipschitz)):
            raise InvalidInputError("epsilon", "must be below 32 (noise + 2 lipschitz), and above rounding", epsilon)
        K = math.log(32 * (noise + 2 * lipschitz) / epsilon) / math.log(1 / beta)
        gamma_1 = K / goldstein_radius
        return cls(beta=beta, gamma_1=gamma_1, gamma_2=4 * gamma_1 * (noise + 2 * lipschitz), option=option)

    @classmethod
    def of_memory(cls, *, goldstein_radius: float, epsilon: float, noise: float, lipschitz: float, K: int) -> Self:
        """The theorem's relations for a memory of K steps chosen ahead: all but the bound that β keeps for the noise.

        β = (ε / (32 (δ_v + 2 L̄)))^(1/K), then γ₁ and γ₂ as in the theorem: what a budget of steps allows.
        """
        _require_positive(goldstein_radius=goldstein_radius, epsilon=epsilon, lipschitz=lipschitz, K=K)
        reach = noise + 2 * lipschitz
        beta = (min(epsilon, reach) / (32 * reach)) ** (1 / K)
        return cls(beta=beta, gamma_1=K / goldstein_radius, gamma_2=4 * K / goldstein_radius * reach)


def _require_positive(**values: float) -> None:
    for name, value in values.items():
        if not (0 < value < math.inf):
            raise InvalidInputError(name, "must be > 0 and finite", value)


def ds_blo_step(
    state: IterateState,
    oracle: Oracle,
    spec: DsBloParameters,
    M: int,
    s: Vector,
    projection: Projection | None = None,
) -> None:
    """One call of the oracle, which draws a fresh q (and, option II, ξ) each time; s (1,) is uniform on [0, 1]."""
    x = state.x

    # Before the loop.  m_1 = g_1, the implicit gradient at x_1.
    if "m" not in state.memory:
        g = checked_answer(oracle(x), x.shape)
        state.memory["m"] = g
        state.moved(x, g, M, estimate=g)
        return
    m = state.memory["m"]

    # Step size.  eta = 1 / (gamma_1 |m| + gamma_2).
    eta = 1 / (spec.gamma_1 * np.linalg.norm(m, axis=-1, keepdims=True) + spec.gamma_2)

    # Update.  x+ = x - eta m.
    x_next = x - eta * m
    if projection is not None:
        x_next = projection(x_next)

    # Random point.  x_bar ~ U[x, x+]: one scalar on the segment.
    x_bar = x + s * (x_next - x)

    # Gradient.  g = implicit gradient at x_bar, at y_q(x_bar) for a fresh q.
    g = checked_answer(oracle(x_bar), x.shape)

    # Momentum.  m = beta m + (1 - beta) g.
    m = spec.beta * m + (1 - spec.beta) * g
    state.memory["m"] = m

    # What the trace says of a block: m estimates a Goldstein subgradient at an iterate some steps before.
    state.moved(x_next, g, M, estimate=m)


class DsBloMethod(Restoring):
    """A run of DS-BLO, option I or II.

    Source: Khanduri, Tsaknakis, Zhang, Liu, Hong: A Doubly Stochastically Perturbed Algorithm for Linearly Constrained
    Bilevel Optimization, 2025. Differs from the paper: the lower level is solved to rounding; a projection onto X is an
    option of ours.
    """

    def __init__(self, spec: DsBloParameters, around: Surroundings) -> None:
        self.spec, self.around = spec, around
        self.gradient = TiltedImplicitGradient(around, spec.linear_algebra)

    def start(self, x_0: Vector, rng: np.random.Generator) -> IterateState:  # noqa: ARG002  # draws nothing
        return IterateState.start(x_0)

    def step(self, state: IterateState, rng: np.random.Generator) -> None:
        def oracle(x: Vector) -> Vector:
            q = self.spec.perturbation * rng.standard_normal(self.around.objectives.m)
            return self.gradient(x, q, rng if self.spec.option == "II" else None)

        ds_blo_step(state, oracle, self.spec, self.around.outer.M, rng.random(1), self.around.projection)
