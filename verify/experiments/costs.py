"""What one hypergradient, and one solve, takes at a drawn problem: F2CSA beside implicit gradients.

All are brought to the same accuracy at the same point; the lower level is solved by one program for all and counted
apart.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from f2csa_ref.algorithm_1 import Call, Stages, checked_oracle
from f2csa_ref.baselines.implicit_gradient import implicit_gradient
from f2csa_ref.baselines.kkt_system import LinearAlgebra
from f2csa_ref.lower_level import LowerLevelSolution, lower_level_solver
from f2csa_ref.objectives import QuadraticObjectives, objectives_of
from f2csa_ref.sampling import DEFAULTS
from spec.atlas import experiment
from spec.exact import Matrix, Vector
from spec.reading import REPAIRED
from verify.experiments.bench import least_seconds
from verify.experiments.work import Sizes, linear_solve, operations, products_by_matrix

F2CSA = "F2CSA"
ALGEBRAS: dict[str, LinearAlgebra] = {
    "implicit, LU of the whole system": "naive",
    "implicit, full Cholesky": "standard",
    "implicit, free-block Cholesky": "best",
    "implicit, conjugate gradients": "cg",
}
"""The Hessian-based methods' hypergradient, by how its linear system is solved."""
METHODS = (F2CSA, *ALGEBRAS)
ITERATIVE = "implicit, conjugate gradients"
EXACT = "implicit, free-block Cholesky"
"""What the others are held against: exact to rounding."""


@dataclass(frozen=True)
class Effort:
    """How much a method does; what factorises has no choice.

    ``alpha`` is F2CSA's, ``residual`` the fraction to which its inner residual, or that of conjugate gradients, is
    brought down.
    """

    alpha: float | None = None
    residual: float | None = None


ALPHAS = (0.4, 0.2, 0.1, 0.05, 0.02, 0.01)
RESIDUALS = (3e-1, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12)
"""From the least effort to the greatest."""
ACCURACY = 1e-2
"""Relative error of the hypergradient to which all methods are brought."""
REPEATS, MOST_SECONDS = 5, 2.0
STEPS, REDUCTION = 200, 1e-2
"""Most steps of a solve, and the fraction of the first gradient's length at which it ends."""


@dataclass(frozen=True)
class Place:
    """A drawn problem with a point and its lower-level solution, which all methods are given."""

    q: QuadraticObjectives
    x: Vector
    lower: LowerLevelSolution

    @classmethod
    def at(cls, q: QuadraticObjectives, x: Vector) -> Place:
        """With the lower level solved."""
        return cls(q, x, lower_level_solver(q, REPAIRED, DEFAULTS, None, None)(q, x))

    @property
    def sizes(self) -> Sizes:
        """Of the problem."""
        return Sizes(self.q.n, self.q.m, int(np.count_nonzero(self.q.B)))

    @property
    def free(self) -> int:
        """Coordinates of y that no row holds."""
        return self.q.m - int(np.count_nonzero(self.lower.active))

    def answer(self, method: str, effort: Effort) -> tuple[Vector, dict[str, int]]:
        """A method's hypergradient (n,) and the counted calls behind it."""
        if method == F2CSA:
            assert effort.alpha is not None and effort.residual is not None  # as F2CSA's efforts have them
            given = Stages(y_star=self.lower.y_star, lam=self.lower.lam)
            # At y* the gradient of the penalty Lagrangian in y is that of f.
            tol = effort.residual * float(np.linalg.norm(self.q.grad_y_f(self.x, self.lower.y_star)))
            first_order = checked_oracle(self.q, self.x, Call(effort.alpha, given=given, tol=tol), None)
            return first_order.hypergradient, first_order.counts
        found = implicit_gradient(
            self.q, self.x, linear_algebra=ALGEBRAS[method], lower=self.lower, cg_tol=effort.residual or 1.0
        )
        return found.hypergradient, found.counts

    def least_effort(self, method: str) -> Effort:
        """The effort with the fewest operations that is accurate enough here; the greatest if none is."""
        alphas = ALPHAS if method == F2CSA else (None,)
        if method not in (F2CSA, ITERATIVE):
            return Effort()
        exact, _ = self.answer(EXACT, Effort())
        enough: dict[float, Effort] = {}
        for alpha in alphas:
            for residual in RESIDUALS:
                effort = Effort(alpha, residual)
                found, counts = self.answer(method, effort)
                if relative_error(found, exact) <= ACCURACY:
                    enough.setdefault(operations(counts, self.sizes), effort)
                    break  # a smaller residual takes more
        return enough[min(enough)] if enough else Effort(alphas[-1], RESIDUALS[-1])


def relative_error(found: Vector, exact: Vector) -> float:
    """‖found - exact‖ / ‖exact‖."""
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def place(d: int, condition: float, seed: int) -> Place:
    """The paper's family at a dimension, at a random point."""
    q = objectives_of(experiment(d, condition=condition, seed=seed))
    assert isinstance(q, QuadraticObjectives)  # by the family
    return Place.at(q, np.random.default_rng([seed, d, 1]).standard_normal(d))


def hypergradients(d: int, condition: float, seed: int, *, timed: bool) -> list[dict[str, Any]]:
    """One row a method: counted operations, products with a block, error, and seconds if timed."""
    here = place(d, condition, seed)
    exact, _ = here.answer(EXACT, Effort())
    rows = []
    for method in METHODS:
        effort = here.least_effort(method)
        found, counts = here.answer(method, effort)
        row: dict[str, Any] = {
            "d": d, "condition": condition, "seed": seed, "method": method, "free": here.free,
            "alpha": effort.alpha, "residual": effort.residual,
            "operations": operations(counts, here.sizes), "solve_operations": linear_solve(counts, here.sizes),
            "products": products_by_matrix(counts) + counts.get("hessian_products", 0),
            "error": relative_error(found, exact),
        }  # fmt: skip
        if timed:
            row["seconds"] = least_seconds(
                lambda method=method, effort=effort: here.answer(method, effort),  # type: ignore[misc]  # bound now
                repeats=REPEATS, most_seconds=MOST_SECONDS,
            )  # fmt: skip
        rows.append(row)
    return rows


def solves(d: int, condition: float, seed: int, *, timed: bool) -> list[dict[str, Any]]:
    """One row a method: the same descent with each method's hypergradient until the gradient is small.

    ``x ← x - ∇/L`` with L a bound of F's curvature between kinks, so that all methods take the same road: what differs
    is what a hypergradient costs. Seconds of the lower level, which is common, are apart.
    """
    start = place(d, condition, seed)
    step = 1.0 / curvature_of_F(start.q)
    return [
        {"d": d, "condition": condition, "seed": seed, "method": method, **_solve(start, method, step, timed=timed)}
        for method in METHODS
    ]


def _solve(here: Place, method: str, step: float, *, timed: bool) -> dict[str, Any]:
    effort = here.least_effort(method)
    work = lower_seconds = seconds = first = last = 0.0
    taken = 0
    while taken < STEPS:
        taken += 1
        began = time.perf_counter()
        found, counts = here.answer(method, effort)
        seconds += time.perf_counter() - began
        work += operations(counts, here.sizes)
        last = float(np.linalg.norm(found))
        first = first or last
        if last <= REDUCTION * first:
            break
        began = time.perf_counter()
        here = Place.at(here.q, here.x - step * found)
        lower_seconds += time.perf_counter() - began
    row = {
        "alpha": effort.alpha,
        "residual": effort.residual,
        "steps": taken,
        "reached": last / first,
        "operations": work,
    }
    return row | ({"seconds": seconds, "lower_seconds": lower_seconds} if timed else {})


def curvature_of_F(q: QuadraticObjectives) -> float:  # noqa: N802  # the paper's letter
    """A bound of F's curvature between kinks: ‖f_xx‖ + 2‖f_xy‖ s + ‖f_yy‖ s²; s = ‖g_xy‖ / μ_g bounds y*'s slope."""
    slope = norm_of(q.g_xy) / q.mu_g
    return norm_of(q.f_xx) + 2 * norm_of(q.f_xy) * slope + norm_of(q.f_yy) * slope**2


def norm_of(matrix: Matrix) -> float:
    """Spectral norm, by power iteration from below, enlarged by what that may lack."""
    v, length = np.random.default_rng(0).standard_normal(matrix.shape[1]), 1.0
    for _ in range(30):
        v = matrix.T @ (matrix @ (v / np.linalg.norm(v)))
        length = float(np.linalg.norm(v))
    return 1.05 * math.sqrt(length)
