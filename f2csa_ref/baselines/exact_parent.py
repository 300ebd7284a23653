"""The deterministic parent of F2CSA: the penalty estimator with its hard active set, and its two outer loops."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from pydantic import Field

from f2csa_ref.algorithm_2 import Oracle, Projection
from f2csa_ref.baselines.iterates import IterateState, Restoring, Surroundings, checked_answer
from f2csa_ref.lower_level import LowerLevelSolution, lower_level_solver
from f2csa_ref.lower_level.solution import Mask
from f2csa_ref.objectives import Objectives, as_vector, double_range, objectives_of
from f2csa_ref.penalty import PenaltyLagrangian, penalty_parameters, total
from f2csa_ref.penalty_minimiser import PenaltySolution, penalty_minimiser
from f2csa_ref.sampling import DEFAULTS
from spec.exact import Vector
from spec.files import Frozen
from spec.problem import Problem
from spec.reading import REPAIRED


@dataclass(frozen=True)
class PenaltyGradient:
    """The parent's estimate (n,), the rows it took for active (p,), and how it came about."""

    hypergradient: Vector
    active: Mask
    lower_level: LowerLevelSolution
    penalty: PenaltySolution
    counts: dict[str, int]


def penalty_gradient(
    problem: Problem | Objectives, x: Vector, *, alpha: float, tol: float | None = None
) -> PenaltyGradient:
    r"""Estimate the hypergradient by gradients alone, from the exact pair and a hard active set.

    With α₁ = α⁻², α₂ = α⁻⁴, I = {h_i = 0, λ_i > 0} and y_α the minimiser in y of
    :math:`L = f + \alpha_1 (g + \lambda^T h - g^*) + \tfrac{\alpha_2}{2} \|h_I\|^2` it answers
    :math:`\nabla_x f + \alpha_1 (\nabla_x g(x, y_\alpha) - \nabla_x g(x, y^*)) + \alpha_2 A_I^T h_I`,
    for the terms in λ cancel where h is affine. Noise, where the problem states any, is not drawn. ``tol`` is the
    gradient norm in y at which the minimiser stops, alpha if ``None``: then y_α is off by O(α³), the answer by O(α).

    Raises:
        InvalidInputError: If an argument breaks its rule or the lower level is infeasible at x.
        LowerLevelError: If the lower level is not solved.

    Source: Kornowski, Padmanabhan, Wang, Zhang, Sra: First-Order Methods for Linearly Constrained Bilevel
    Optimization, NeurIPS 2024, the inexact gradient oracle for inequality rows. Differs from the paper: nothing.
    """
    q = objectives_of(problem)
    x = as_vector(x, q.n, "x")
    with double_range(q):
        lower = lower_level_solver(q, REPAIRED, DEFAULTS, None, None)(q, x)
        I = lower.active & ~lower.weakly_active  # noqa: E741  # the paper's letter
        L = PenaltyLagrangian(q, x, penalty_parameters(alpha), lower.y_star, lower.lam, I.astype(np.float64))
        penalty = penalty_minimiser(L, tol=tol)
        grad = total(L.terms_x(penalty.shift, "cancelled"))
    counts = Counter(lower.counts)
    counts.update(penalty.counts)
    counts.update(lower_level_solves=1, grad_x_f=1, grad_x_g=2, row_products=3)
    return PenaltyGradient(grad, I, lower, penalty, dict(counts))


class ParentParameters(Frozen):
    """The parent on the clipped momentum loop, which is Algorithm 2 as it stands: no parameter of its own."""

    name: Literal["parent"] = "parent"


class PigdParameters(Frozen):
    """Parameters of perturbed inexact gradient descent.

    Args:
        step_size: η, units of x² per unit of F, > 0.
        radius: δ, how far from x the gradient is taken at most, units of x, > 0.
    """

    name: Literal["pigd"] = "pigd"
    step_size: float = Field(gt=0, allow_inf_nan=False)
    radius: float = Field(gt=0, allow_inf_nan=False)

    @classmethod
    def of_theorem(cls, *, gap: float, lipschitz_F: float, radius: float, steps: int, n: int) -> Self:
        """η = √(2 (gap + δ L_F) δ / (T √n L_F³)): gradient descent on F averaged over balls, √n L_F / δ-smooth."""
        eta = math.sqrt(2 * (gap + radius * lipschitz_F) * radius / (steps * math.sqrt(n) * lipschitz_F**3))
        return cls(step_size=eta, radius=radius)


def in_unit_ball(rng: np.random.Generator, n: int) -> Vector:
    """A point uniform in the unit ball, from n normals and one uniform."""
    direction = rng.standard_normal(n)
    length: float = rng.random() ** (1 / n)
    return direction * (length / float(np.linalg.norm(direction)))


def pigd_step(
    state: IterateState, oracle: Oracle, spec: PigdParameters, M: int, w: Vector, projection: Projection | None = None
) -> None:
    """One step: x ← x - η g(x + δ w), w (n,) uniform in the unit ball."""
    g = checked_answer(oracle(state.x + spec.radius * w), state.x.shape)
    x_next = state.x - spec.step_size * g
    state.moved(x_next if projection is None else projection(x_next), g, M)


class PigdMethod(Restoring):
    """A run of perturbed inexact gradient descent on the parent's estimate.

    Source: Kornowski et al. 2024, as :func:`penalty_gradient`.
    """

    def __init__(self, spec: PigdParameters, around: Surroundings) -> None:
        self.spec, self.around = spec, around

    def start(self, x_0: Vector, rng: np.random.Generator) -> IterateState:  # noqa: ARG002  # draws nothing
        return IterateState.start(x_0)

    def step(self, state: IterateState, rng: np.random.Generator) -> None:
        def oracle(x: Vector) -> Vector:
            return counted_penalty_gradient(self.around, x)

        w = in_unit_ball(rng, len(state.x))
        pigd_step(state, oracle, self.spec, self.around.outer.M, w, self.around.projection)


def counted_penalty_gradient(around: Surroundings, x: Vector) -> Vector:
    """The parent's estimate (n,) at x, its calls added to the run's."""
    estimate = penalty_gradient(around.objectives, x, alpha=around.alpha)
    around.counts.update(estimate.counts)
    return estimate.hypergradient
