"""What one hypergradient, and one solve, takes at a drawn problem: F2CSA beside implicit gradients.

All are brought to the same accuracy at the same point; the lower level is solved by one program for all and counted
apart.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from f2csa_ref.algorithm_1 import OracleCall
from f2csa_ref.baselines.fast_implicit import FastImplicit
from f2csa_ref.baselines.implicit_oracle import ImplicitOracle
from f2csa_ref.baselines.kkt_system import CG_TOL, LinearAlgebra
from f2csa_ref.fast import FastOracle
from f2csa_ref.fast.operators import Operator, Tally
from f2csa_ref.fast.prepared_lower import PivotingLower
from f2csa_ref.lower_level import LowerLevelSolution
from f2csa_ref.lower_level.pivoting import BlockPivoting
from f2csa_ref.lower_level.solution import Candidate, sizes
from f2csa_ref.objectives import QuadraticObjectives, objectives_of
from spec.atlas import experiment
from spec.exact import Matrix, Vector
from verify.experiments import work
from verify.experiments.work_cells import least_seconds

F2CSA = "F2CSA"
EXACT = "implicit, free-block Cholesky"
"""What the others are held against: exact to rounding."""
ITERATIVE = "implicit, conjugate gradients"
ALGEBRAS: dict[str, LinearAlgebra] = {
    "implicit, LU of the whole system": "naive",
    "implicit, full Cholesky": "standard",
    EXACT: "best",
    ITERATIVE: "cg",
}
"""The Hessian-based methods' hypergradient, by how its linear system is solved."""
METHODS = (F2CSA, *ALGEBRAS)
PREPARED = "implicit, prepared"
"""The rival at its best: the factor with which the lower level was solved serves its adjoint, too."""
ALL = (*METHODS, PREPARED)
ALPHAS = (0.4, 0.2, 0.1, 0.05, 0.02, 0.01)
RESIDUALS = (*(0.9 * 0.8**k for k in range(24)), 1e-3, 1e-4, 1e-6, 1e-9, 1e-12)
"""From the least effort to the greatest, for all methods: where a few products are enough, no step skips one."""
ACCURACY = 1e-2
"""Relative error of the hypergradient to which all methods are brought."""
HELD, INSIDE, MULTIPLIERS = 0.1, 0.8, (0.5, 1.5)
"""Share of the coordinates that the box holds, how far the others reach, and the multipliers of the held ones."""
REPEATS, MOST_SECONDS = 5, 2.0
STEPS, REDUCTION = 200, 1e-2
"""Most steps of a solve, and the fraction of the first gradient's length at which it ends."""


@dataclass(frozen=True)
class Effort:
    """How much a method does; what factorises has no choice.

    ``alpha`` is F2CSA's, ``residual`` the fraction to which its inner residual, or that of conjugate gradients, is
    brought down.
    """

    alpha: float | None = None
    residual: float | None = None


@dataclass(frozen=True)
class CostPlace:
    """A drawn problem with a point and its lower-level solution, which all methods are given."""

    q: QuadraticObjectives
    x: Vector
    lower: LowerLevelSolution

    @property
    def free(self) -> int:
        """Coordinates of y that no row holds."""
        return self.q.m - int(np.count_nonzero(self.lower.active))


class LowerLevel:
    """Line 3 for all methods: block principal pivoting, each solve from the last one's active set."""

    def __init__(self, q: QuadraticObjectives) -> None:
        assert q.bounds is not None  # by the family
        self.q, self.bounds, self.pivoting = q, q.bounds, BlockPivoting(q.g_yy, Operator(q.g_yy, Tally()).forth)

    def __call__(self, x: Vector) -> CostPlace:
        """x, shape (n,), with its lower level solved."""
        q = self.q
        y, z = self.pivoting.solve(x @ q.g_xy + q.g_y, *self.bounds.ends(q.A @ x - q.b))
        return placed(q, x, y, self.bounds.multipliers(z))


def placed(q: QuadraticObjectives, x: Vector, y: Vector, lam: Vector) -> CostPlace:
    """x, (n,), with its lower-level pair, (m,) and (p,), whose residual and active rows are worked out."""
    return CostPlace(q, x, Candidate(q, x, y, lam, sizes(q, x, y, lam)).solution("block-pivoting"))


@dataclass
class _GivenPair:
    """Line 3, given: the pair at x and the gradient of g there, as the oracle asks its lower level."""

    oracle: FastOracle
    first_order = True
    lower: LowerLevelSolution | None = None

    def solve(self, x: Vector, c: Vector, r: Vector) -> tuple[Vector, Vector, int, Vector]:  # noqa: ARG002  # given
        assert self.lower is not None  # set before every call
        y = self.lower.y_star
        return y, self.lower.lam, 0, self.oracle.g_yy.forth(y) + c


class _GivenFactor(PivotingLower):
    """The same with the factor of the free block, which the lower level's solver has made, or makes at first."""

    lower: LowerLevelSolution | None = None

    def solve(self, x: Vector, c: Vector, r: Vector) -> tuple[Vector, Vector, int, Vector]:  # noqa: ARG002  # given
        assert self.lower is not None  # set before every call
        y = self.lower.y_star
        return y, self.lower.lam, 0, self.g_yy.forth(y) + c


@dataclass
class HypergradientCost:
    """One method at one effort on one problem, with what it keeps from call to call.

    F2CSA forms f_yy + α₁g_yy once, and starts line 5 where the last call ended unless told to forget. Of the effort,
    the residual may be set anew between calls. ``pivoting`` is the lower level's solver, whose factor the prepared
    implicit gradient takes.
    """

    method: str
    q: QuadraticObjectives
    effort: Effort
    pivoting: BlockPivoting | None = None
    oracle: FastOracle | None = field(init=False, default=None)
    implicit: FastImplicit | None = field(init=False, default=None)
    prepared: ImplicitOracle | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        q = self.q
        if self.method == PREPARED:
            self.prepared = ImplicitOracle(q)
            given = _GivenFactor(self.prepared)
            given.pivoting = self.pivoting or given.pivoting
            self.prepared.lower = given
        elif self.method != F2CSA:
            self.implicit = FastImplicit(q, ALGEBRAS[self.method])
        else:
            assert self.effort.alpha is not None  # as F2CSA's efforts have it
            self.oracle = FastOracle(q, OracleCall(self.effort.alpha))
            self.oracle.lower = _GivenPair(self.oracle)

    def __call__(self, here: CostPlace) -> tuple[Vector, float, float]:
        """The hypergradient (n,) at a place, its operations, and those of a linear system in it."""
        if self.prepared is not None:
            return self._by_the_factor_at_hand(self.prepared, here)
        if self.implicit is not None:
            self.implicit.cg_tol = self.effort.residual or CG_TOL
            gradient, counts = self.implicit(here.x, here.lower)
            return gradient, work.operations(counts, self.q.m), work.linear_solve(counts, self.q.m)
        assert self.oracle is not None  # as it was made
        self.oracle.lower.lower = here.lower
        # At y* the gradient of the penalty Lagrangian in y is that of f.
        slope = float(np.linalg.norm(self.q.grad_y_f(here.x, here.lower.y_star)))
        self.oracle.tol = (self.effort.residual or 0.0) * slope
        estimate = self.oracle(here.x)
        return estimate.hypergradient, work.operations(estimate.counts, self.q.m), 0.0

    def _by_the_factor_at_hand(self, oracle: ImplicitOracle, here: CostPlace) -> tuple[Vector, float, float]:
        lower = oracle.lower
        assert isinstance(lower, _GivenFactor)  # as it was made
        lower.lower = here.lower
        products, read = oracle.tally.products, lower.pivoting.doubles_read
        gradient = oracle(here.x).hypergradient
        solving = 2.0 * (lower.pivoting.doubles_read - read)
        # The product that says which rows are regular belongs to the lower level, which is given.
        return gradient, 2.0 * (oracle.tally.products - products - 1) * self.q.m**2 + solving, solving

    def forget(self) -> None:
        """As if never called; a factor stays, for it is the lower level's."""
        if self.oracle is not None:
            self.oracle.shift = np.zeros_like(self.oracle.shift)
            self.oracle.parts.prepare(None)


def least_effort(method: str, here: CostPlace) -> Effort:
    """The effort with the fewest operations that is accurate enough at a place; the greatest if none is."""
    if method not in (F2CSA, ITERATIVE):
        return Effort()
    alphas = ALPHAS if method == F2CSA else (None,)
    exact = HypergradientCost(EXACT, here.q, Effort())(here)[0]
    enough: dict[float, Effort] = {}
    for alpha in alphas:
        tried = HypergradientCost(method, here.q, Effort(alpha))
        for residual in RESIDUALS:
            tried.effort = Effort(alpha, residual)
            tried.forget()
            gradient, operations, _ = tried(here)
            if relative_error(gradient, exact) <= ACCURACY:
                enough.setdefault(operations, tried.effort)
                break  # a smaller residual takes more
    return enough[min(enough)] if enough else Effort(alphas[-1], RESIDUALS[-1])


def relative_error(estimate: Vector, exact: Vector) -> float:
    """‖found - exact‖ / ‖exact‖."""
    return float(np.linalg.norm(estimate - exact) / np.linalg.norm(exact))


def place(d: int, condition: float, seed: int) -> CostPlace:
    """The paper's family at a dimension, at a point where every tenth coordinate of y* is held by its bound.

    With g_xy = I there is such a point for any y* of the box and any multipliers: x = B'λ - Q_l y* - c_l. So the share
    of free coordinates is the same at every d, and the lower level need not be solved.
    """
    q = objectives_of(experiment(d, condition=condition, seed=seed))
    assert isinstance(q, QuadraticObjectives)  # by the family
    rng = np.random.default_rng([seed, d, 1])
    y, lam = rng.uniform(-INSIDE, INSIDE, d), np.zeros(q.p)
    held = rng.permutation(d)[: round(d * HELD)]
    above = rng.random(len(held)) < 0.5
    y[held] = np.where(above, 1.0, -1.0)
    # Row i says y_i >= -1, row d + i that y_i <= 1.
    lam[held + np.where(above, d, 0)] = rng.uniform(*MULTIPLIERS, len(held))
    x = lam @ q.B - q.g_yy @ y - q.g_y
    return placed(q, x, y, lam)


def hypergradients(
    d: int, condition: float, seed: int, *, timed: bool, methods: Sequence[str] = METHODS
) -> list[dict[str, Any]]:
    """One row a method: counted operations, error, and processor seconds if timed."""
    here = place(d, condition, seed)
    exact = HypergradientCost(EXACT, here.q, Effort())(here)[0]
    rows = []
    for method in methods:
        effort = least_effort(method, here)
        estimate = HypergradientCost(method, here.q, effort)
        gradient, operations, solving = estimate(here)
        row: dict[str, Any] = {
            "d": d, "condition": condition, "seed": seed, "method": method, "free": here.free,
            "alpha": effort.alpha, "residual": effort.residual, "operations": operations, "solve_operations": solving,
            "error": relative_error(gradient, exact),
        }  # fmt: skip
        if timed:
            row["seconds"] = _seconds(estimate, here)
        rows.append(row)
    return rows


def _seconds(estimate: HypergradientCost, here: CostPlace) -> float:
    def once() -> None:
        estimate.forget()
        estimate(here)

    return least_seconds(once, repeats=REPEATS, most_seconds=MOST_SECONDS)


def solves(
    d: int, condition: float, seed: int, *, timed: bool, methods: Sequence[str] = METHODS
) -> list[dict[str, Any]]:
    """One row a method: the same descent with each method's hypergradient until the gradient is small.

    ``x ← x - ∇/L`` with L a bound of F's curvature between kinks, so that all methods take the same road: what differs
    is what a hypergradient costs. Seconds of the lower level, which is common, are apart.
    """
    start = place(d, condition, seed)
    step = 1.0 / curvature_of_F(start.q)
    return [
        {"d": d, "condition": condition, "seed": seed, "method": method, **_solve(start, method, step, timed=timed)}
        for method in methods
    ]


def _solve(here: CostPlace, method: str, step: float, *, timed: bool) -> dict[str, Any]:
    effort = least_effort(method, here)
    began, lower = time.process_time(), LowerLevel(here.q)
    estimate = HypergradientCost(method, here.q, effort, lower.pivoting if method == PREPARED else None)
    seconds = time.process_time() - began
    work_done = lower_seconds = first = last = 0.0
    taken = 0
    while taken < STEPS:
        taken += 1
        began = time.process_time()
        gradient, operations, _ = estimate(here)
        seconds += time.process_time() - began
        work_done += operations
        last = float(np.linalg.norm(gradient))
        first = first or last
        if last <= REDUCTION * first:
            break
        began = time.process_time()
        here = lower(here.x - step * gradient)
        lower_seconds += time.process_time() - began
    row = {"alpha": effort.alpha, "residual": effort.residual, "steps": taken, "reached": last / first,
           "operations": work_done}  # fmt: skip
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
    return 1.05 * float(np.sqrt(length))
