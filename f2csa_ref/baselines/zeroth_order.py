"""The parent's zeroth-order method: Algorithm 2 on two values of F a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from pydantic import Field

from f2csa_ref.baselines.iterates import Surroundings
from f2csa_ref.lower_level import lower_level_solver
from f2csa_ref.sampling import DEFAULTS
from spec.errors import InvalidInputError
from spec.exact import Vector
from spec.files import Frozen
from spec.parameters import OuterParameters
from spec.reading import REPAIRED


class ZerothOrderParameters(Frozen):
    """Parameters of the zeroth-order method.

    Args:
        smoothing: ρ, radius of the sphere on which F is evaluated, units of x, > 0 and below the Goldstein radius.
    """

    name: Literal["zeroth-order"] = "zeroth-order"
    smoothing: float = Field(gt=0, allow_inf_nan=False)

    def remaining(self, outer: OuterParameters) -> OuterParameters:
        """Algorithm 2's parameters for the radius that smoothing leaves, ν = δ - ρ: D and η shrink with it.

        Raises:
            InvalidInputError: If nothing is left.
        """
        left = outer.goldstein_radius - self.smoothing
        if not left > 0:
            rule = f"must be below the radius {outer.goldstein_radius:g}"
            raise InvalidInputError("zeroth-order.smoothing", rule, self.smoothing)
        share = left / outer.goldstein_radius
        return outer.model_copy(update={"goldstein_radius": left, "D": outer.D * share, "eta": outer.eta * share})


def two_point_estimate(F: Callable[[Vector], float], z: Vector, rho: float, w: Vector) -> Vector:
    """Estimate g = n / (2 ρ) (F(z + ρ w) - F(z - ρ w)) w, for w (n,) uniform on the unit sphere."""
    difference = F(z + rho * w) - F(z - rho * w)
    return len(z) / (2 * rho) * difference * w


def on_unit_sphere(rng: np.random.Generator, n: int) -> Vector:
    """A point uniform on the unit sphere, from n normals."""
    direction = rng.standard_normal(n)
    return direction / float(np.linalg.norm(direction))


class ZerothOrderAnswers:
    """What the method asks Algorithm 2's oracle: F by exact lower levels, no gradient of anything.

    Source: Kornowski, Padmanabhan, Wang, Zhang, Sra: First-Order Methods for Linearly Constrained Bilevel
    Optimization, NeurIPS 2024, the method for inexact zeroth-order oracles, Õ(d δ⁻¹ε⁻³). Differs from the paper: F is
    exact up to rounding.
    """

    def __init__(self, spec: ZerothOrderParameters, around: Surroundings) -> None:
        self.spec, self.around = spec, around

    def value(self, x: Vector) -> float:
        """F(x)."""
        q = self.around.objectives
        lower = lower_level_solver(q, REPAIRED, DEFAULTS, None, None)(q, x)
        self.around.counts.update(lower.counts, lower_level_solves=1, f_values=1)
        return q.f(x, lower.y_star)

    def __call__(self, z: Vector, rng: np.random.Generator) -> Vector:
        """The two-point estimate at z, its direction drawn now."""
        return two_point_estimate(self.value, z, self.spec.smoothing, on_unit_sphere(rng, len(z)))
