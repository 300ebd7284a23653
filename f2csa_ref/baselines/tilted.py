"""The lower level with a random linear term qᵀy added, and implicit gradients there."""

from __future__ import annotations

import copy
from typing import Any, cast

import numpy as np

from f2csa_ref.baselines.implicit_gradient import implicit_gradient
from f2csa_ref.baselines.iterates import Surroundings
from f2csa_ref.baselines.kkt_system import LinearAlgebra
from f2csa_ref.lower_level import LowerLevelSolution, lower_level_solver
from f2csa_ref.objectives import Objectives, QuadraticObjectives, double_range
from f2csa_ref.sampling import DEFAULTS
from spec.exact import Vector
from spec.reading import REPAIRED


class TiltedObjectives:
    """Objectives whose g has qᵀy more; all else is the base's."""

    def __init__(self, base: Objectives, tilt: Vector) -> None:
        self.base, self.tilt = base, tilt

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def g(self, x: Vector, y: Vector) -> float:
        return self.base.g(x, y) + float(self.tilt @ y)

    def grad_y_g(self, x: Vector, y: Vector) -> Vector:
        return self.base.grad_y_g(x, y) + self.tilt


class TiltedLowerLevel:
    """Solves min_y g(x, y) + qᵀy over the rows, for one q after another."""

    def __init__(self, q: Objectives) -> None:
        # One copy serves every tilt: what it keeps of g, its curvature and factor, the tilt does not change.
        self.base, self.copy = q, copy.copy(q) if isinstance(q, QuadraticObjectives) else None

    def solve(self, x: Vector, tilt: Vector) -> LowerLevelSolution:
        """The exact pair at x under this tilt (m,)."""
        view: Objectives
        if self.copy is not None and isinstance(self.base, QuadraticObjectives):
            self.copy.g_y = self.base.g_y + tilt
            view = self.copy
        else:
            view = cast("Objectives", TiltedObjectives(self.base, tilt))
        with double_range(self.base):
            return lower_level_solver(view, REPAIRED, DEFAULTS, None, None)(view, x)


class TiltedImplicitGradient:
    """Implicit gradients of x ↦ f(x, y*_q(x)), each call counted."""

    def __init__(self, around: Surroundings, linear_algebra: LinearAlgebra) -> None:
        self.around, self.linear_algebra = around, linear_algebra
        self.lower = TiltedLowerLevel(around.objectives)

    def __call__(self, x: Vector, tilt: Vector, rng: np.random.Generator | None) -> Vector:
        """The gradient (n,) at x under this tilt; f is sampled from ``rng``, exact if ``None``."""
        lower = self.lower.solve(x, tilt)
        estimate = implicit_gradient(
            self.around.objectives, x, lower=lower, linear_algebra=self.linear_algebra, rng=rng,
            samples=self.around.samples if rng is not None else 1,
        )  # fmt: skip
        self.around.counts.update(lower.counts, lower_level_solves=1)
        self.around.counts.update(estimate.counts)
        return estimate.hypergradient
