"""A lower-level solution with its multipliers, and what is known about it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from f2csa_ref.bounds import at_right_angles
from f2csa_ref.objectives import Objectives, QuadraticObjectives
from spec.exact import Matrix, Vector

Mask = np.ndarray[Any, np.dtype[np.bool_]]
Method = Literal["quadratic-program", "block-pivoting", "projected-gradient", "first-order", "primal-dual"]
Status = Literal["solved", "budget", "diverged"]

ACTIVE_TOL = 1e-10
"""A row is active, and a multiplier zero, within this fraction of the sizes that make it up."""
ACCEPTED_RESIDUAL = 1e-11
"""Largest scaled KKT residual of a pair that counts as solved."""
RANK_TOL = 1e-10
"""Active rows of unit length are dependent where their smallest singular value is at most this."""


SMALL = 200
"""Size up to which the general solver and singular values take no time to speak of."""


class LowerLevelError(RuntimeError):
    """A solver stopped without a solution of a problem that has one."""


@dataclass(frozen=True)
class LowerLevelSolution:
    """The pair y*_hat, lam_hat and its circumstances.

    ``kkt_residual`` is the largest of stationarity, infeasibility, negative multiplier and complementarity, each
    relative to the sizes added up in it; nan where the method does not converge. ``active`` (p,) are rows at zero,
    ``weakly_active`` those of them whose multiplier is zero: there y* has a kink. ``licq_margin`` is the smallest
    singular value of the active rows scaled to unit length, inf without any. Stochastic methods always spend their
    step ``budget``; ``gradient_samples`` are evaluations of grad_y g, noisy or not. ``steps`` of block pivoting are its
    factorisations.
    """

    y_star: Vector
    lam: Vector
    kkt_residual: float
    active: Mask
    weakly_active: Mask
    licq_margin: float
    method: Method
    status: Status = "solved"
    steps: int = 0
    gradient_samples: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Calls it took, as :class:`f2csa_ref.Hypergradient` names them."""
        if self.method == "block-pivoting":
            return {"quadratic_programs": 1, "factorisations": self.steps}
        if self.method in ("primal-dual", "first-order"):
            return {"grad_y_g": self.gradient_samples, "row_products": 2 * self.steps}
        if self.method == "projected-gradient":
            return {"grad_y_g": self.gradient_samples, "quadratic_programs": self.steps}
        return {"quadratic_programs": 1}

    @property
    def first_order(self) -> bool:
        """Whether gradients alone were used: no Hessian of g was factorised or handed to a solver."""
        return self.method in ("first-order", "primal-dual", "projected-gradient")

    @property
    def licq(self) -> bool:
        """Whether the active rows are linearly independent (then the multipliers are unique)."""
        return self.licq_margin > RANK_TOL

    @property
    def strictly_complementary(self) -> bool:
        """Whether every active row has a positive multiplier."""
        return not self.weakly_active.any()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know before trusting the pair, one sentence each."""
        notes = []
        if self.status == "diverged":
            notes.append(f"the iteration diverged after {self.steps} steps; lower the step sizes or check the sign")
        if self.status == "budget":
            notes.append(f"the step budget of {self.steps} is spent; KKT residual {self.kkt_residual:.1e}")
        if not self.licq:
            notes.append("the active rows are linearly dependent (LICQ fails): multipliers are not unique")
        if not self.strictly_complementary:
            rows = ", ".join(str(i) for i in np.flatnonzero(self.weakly_active)[:5])
            notes.append(f"rows {rows} are active with multiplier 0: y* may have a kink here")
        return tuple(notes)


@dataclass(frozen=True)
class Sizes:
    """Sizes of what is added up in grad_y g, each h_i and each lam_i, shapes (p,): the yardstick of every tolerance."""

    gradient: float
    rows: Vector
    multipliers: Vector


def length(vector: Vector) -> float:
    """Euclidean length."""
    return math.sqrt(vector.dot(vector))


def row_lengths(objectives: Objectives) -> tuple[Vector, Vector]:
    """Lengths of the rows of ``A`` and of ``B``, shape (p,) each; kept of a quadratic problem."""
    if not isinstance(objectives, QuadraticObjectives):
        return np.linalg.norm(objectives.A, axis=1), np.linalg.norm(objectives.B, axis=1)
    known = _lengths.get(objectives)
    if known is None:
        known = np.linalg.norm(objectives.A, axis=1), np.linalg.norm(objectives.B, axis=1)
        _lengths[objectives] = known
    return known


_lengths: WeakKeyDictionary[QuadraticObjectives, tuple[Vector, Vector]] = WeakKeyDictionary()


def sizes(objectives: Objectives, x: Vector, y: Vector, lam: Vector, grad: float | None = None) -> Sizes:
    """Measure a pair; ``grad`` is the size of the parts of grad_y g at (x, y), where they are known."""
    q = objectives
    if grad is None:
        grad = length(q.grad_y_g(x, y)) + q.C_g * length(y)
    A_rows, B_rows = row_lengths(q)
    grad = max(grad, float((B_rows * np.abs(lam)).max()))
    y_size = max(length(y), grad / q.C_g)
    rows = A_rows * length(x) + B_rows * y_size + np.abs(q.b)
    multipliers = np.divide(grad, B_rows, out=np.full_like(B_rows, grad), where=B_rows > 0)
    return Sizes(grad, rows, multipliers)


@dataclass(frozen=True)
class Candidate:
    """A pair held against the KKT conditions at x, each relative to the sizes given."""

    objectives: Objectives
    x: Vector
    y: Vector
    lam: Vector
    sizes: Sizes

    @cached_property
    def h(self) -> Vector:
        """Row values, shape (p,)."""
        return self.objectives.h(self.x, self.y)

    @cached_property
    def residual(self) -> float:
        """Largest relative violation of the KKT conditions."""
        lam, h, whole = self.lam, self.h, self.sizes
        stationarity = np.abs(self.objectives.grad_y_g(self.x, self.y) - lam @ self.objectives.B)
        parts = (
            _part(stationarity.max(), whole.gradient),
            0.0 if h.max() <= 0 else _ratio(np.maximum(h, 0.0), whole.rows),
            0.0 if lam.min() >= 0 else _ratio(np.maximum(-lam, 0.0), whole.multipliers),
            _ratio(np.abs(lam * h), whole.rows * whole.multipliers),
        )
        return max(parts)

    def solution(
        self, method: Method, status: Status = "solved", steps: int = 0, gradient_samples: int = 0
    ) -> LowerLevelSolution:
        """The pair with its active set, margins and residual."""
        active, weakly_active = on_rows(self.h, self.lam, self.sizes)
        return LowerLevelSolution(
            self.y, self.lam, self.residual, active, weakly_active, margin_of(self.objectives, active),
            method, status, steps, gradient_samples,
        )  # fmt: skip


def on_rows(h: Vector, lam: Vector, whole: Sizes) -> tuple[Mask, Mask]:
    """Which rows are active, and which of them weakly; all (p,)."""
    active = np.abs(h) <= ACTIVE_TOL * whole.rows
    return active, active & (np.abs(lam) <= ACTIVE_TOL * whole.multipliers)


def _part(part: float, whole: float) -> float:
    """Part / whole, where 0 / 0 is 0."""
    return float(part / whole) if whole > 0 else math.inf if part > 0 else 0.0


def _ratio(part: Vector, whole: Vector) -> float:
    """Largest part / whole, where 0 / 0 is 0."""
    if whole.min() > 0:
        return float((part / whole).max())
    return float(np.divide(part, whole, out=np.where(part > 0, np.inf, 0.0), where=whole > 0).max())


KEPT_MARGINS = 8
"""Sets of active rows whose margin is kept of a problem: neighbouring points share theirs."""
_margins: WeakKeyDictionary[QuadraticObjectives, dict[bytes, float]] = WeakKeyDictionary()


def margin_of(objectives: Objectives, active: Mask) -> float:
    """The smallest singular value of the active rows scaled to unit length; it does not move with x."""
    if not isinstance(objectives, QuadraticObjectives):
        return _licq_margin(objectives.B[active])
    known, key = _margins.setdefault(objectives, {}), active.tobytes()
    if key not in known:
        if len(known) == KEPT_MARGINS:
            known.clear()
        known[key] = _licq_margin(objectives.B[active])
    return known[key]


def _licq_margin(rows: Matrix) -> float:
    if not len(rows):
        return float("inf")
    if len(rows) > SMALL and at_right_angles(rows):
        return 1.0
    lengths = np.linalg.norm(rows, axis=1)
    if len(rows) > rows.shape[1] or not lengths.all():
        return 0.0
    return float(np.linalg.svd(rows / lengths[:, None], compute_uv=False)[-1])
