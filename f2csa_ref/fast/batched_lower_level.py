"""Line 3 of Algorithm 1 at many points at once, by the gradients of :mod:`f2csa_ref.lower_level.first_order`.

Each point has its own momentum, restarts, weight of the augmented Lagrangian and stopping; nothing is factorised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from f2csa_ref.bounds import Indices
from f2csa_ref.fast.batched_blocks import Block, BoxRows, DenseRows, infeasible
from f2csa_ref.fast.device_arrays import Array, Arrays
from f2csa_ref.fast.lockstep import Counts, State, run
from f2csa_ref.lower_level.first_order import HEAVIER, HEAVIEST, SLOW, TARGET, WEIGHT
from f2csa_ref.lower_level.solution import LowerLevelError
from f2csa_ref.objectives import QuadraticObjectives
from spec.exact import Matrix

ROUNDING = 32 * float(np.finfo(np.float64).eps)
"""Error that rounding of the gradient leaves, relative to y, per unit of the condition number."""
_INFEASIBLE = 2
"""scipy's word for it."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Lower-level pairs (K, m), (K, p), the gradients of g in y there, (K, m), and how many each point took, (K,)."""

    y: Array
    lam: Array
    slope: Array
    gradients: Counts


@dataclass(eq=False)
class BatchedLowerLevel:
    """The lower level of one problem for many c = g_xy' x + g_y and r = A x - b, from a start.

    ``tol`` is the error aimed at, but never below what rounding allows; ``steps`` is each point's budget of gradients.
    """

    arrays: Arrays
    q: QuadraticObjectives
    G: Block
    rows: BoxRows | DenseRows
    tol: float
    steps: int

    def solve(self, c: Array, r: Array, start: tuple[Array, Array]) -> Pairs:
        """The pairs.

        Raises:
            InvalidInputError: If a point's lower level is infeasible, with its index.
            LowerLevelError: If the budget of a point is spent, with its index.
        """
        xp, q = self.arrays.xp, self.q
        sizes = 1.0 + self.arrays.length(c) / q.C_g
        tol = xp.clip(max(TARGET, ROUNDING * q.C_g / q.mu_g) * sizes, self.tol, None)
        if isinstance(self.rows, BoxRows):
            return self._over_box(self.rows, c, r, start[0], tol)
        return self._over_rows(self.rows, c, r, start, tol)

    def _over_box(self, rows: BoxRows, c: Array, r: Array, start: Array, tol: Array) -> Pairs:
        """Accelerated projected gradients, momentum dropped where it points uphill."""
        xp, C_g = self.arrays.xp, self.q.C_g
        lower, upper = rows.ends(r)

        def step(s: State) -> tuple[State, Array]:
            v, y = s["v"], s["y"]
            free = v - (self.G.forth(v) + s["c"]) / C_g
            y_next = xp.minimum(xp.maximum(free, s["lower"]), s["upper"])
            moved, along = y_next - v, y_next - y
            v_next, momentum = self._accelerated(y_next, along, s["momentum"], xp.vecdot(moved, along) < 0)
            return {"y": y_next, "v": v_next, "momentum": momentum}, xp.vecdot(moved, moved) <= s["tol"] ** 2

        y = xp.minimum(xp.maximum(start, lower), upper)
        state = {"y": y, "v": y, "momentum": xp.ones_like(tol), "c": c, "lower": lower, "upper": upper, "tol": tol}
        found, gradients, left = run(self.arrays, step, state, ("y",), self.steps)
        self._require_all(left, r)
        y = found["y"]
        slope = self.G.forth(y) + c
        push = xp.where((y == lower) | (y == upper), slope, xp.zeros_like(slope))
        return Pairs(y, rows.multipliers(push), slope, gradients + 1)

    def _over_rows(self, rows: DenseRows, c: Array, r: Array, start: tuple[Array, Array], tol: Array) -> Pairs:
        """The augmented Lagrangian, its multipliers renewed at each point when its own minimisation has settled."""
        arrays, xp, q = self.arrays, self.arrays.xp, self.q
        norm = q.B_norm or 1.0

        def step(s: State) -> tuple[State, Array | None]:
            v, y, beta = s["v"], s["y"], s["beta"]
            lam_next = arrays.positive(s["lam"] + beta[:, None] * (s["r"] - rows.times(v)))
            slope = self.G.forth(v) + s["c"] - rows.transposed(lam_next)
            settled = xp.vecdot(slope, slope) <= (s["inner"] * q.mu_g) ** 2
            y_next = v - slope / (q.C_g + beta * norm**2)[:, None]
            along = y_next - y
            v_next, momentum = self._accelerated(y_next, along, s["momentum"], xp.vecdot(slope, along) > 0)
            if not bool(xp.any(settled)):
                return {"y": y_next, "v": v_next, "momentum": momentum}, None
            here = settled[:, None]
            change = arrays.length(lam_next - s["lam"]) / (beta * norm)
            heavier = settled & (change > SLOW * s["before"]) & (beta * norm**2 < HEAVIEST * q.C_g)
            inner = xp.maximum(s["tol"], 0.1 * xp.minimum(s["inner"], change))
            changed = {
                "y": xp.where(here, v, y_next), "v": xp.where(here, v, v_next),
                "momentum": xp.where(settled, xp.ones_like(momentum), momentum),
                "lam": xp.where(here, lam_next, s["lam"]), "beta": xp.where(heavier, HEAVIER * beta, beta),
                "before": xp.where(settled, change, s["before"]), "inner": xp.where(settled, inner, s["inner"]),
            }  # fmt: skip
            return changed, settled & (change <= s["tol"]) & (s["inner"] <= s["tol"])

        y, lam = start
        one = xp.ones_like(tol)
        state = {
            "y": y, "v": y, "momentum": one, "lam": lam, "beta": WEIGHT * q.C_g / norm**2 * one, "before": np.inf * one,
            "inner": xp.maximum(tol, 1e-2 * (1.0 + arrays.length(y))), "c": c, "r": r, "tol": tol,
        }  # fmt: skip
        found, gradients, left = run(arrays, step, state, ("y", "lam"), self.steps)
        self._require_all(left, r)
        return Pairs(found["y"], found["lam"], self.G.forth(found["y"]) + c, gradients + 1)

    def _accelerated(self, y_next: Array, along: Array, momentum: Array, uphill: Array) -> tuple[Array, Array]:
        """As :func:`f2csa_ref.penalty_minimiser.accelerated`, at each point."""
        xp = self.arrays.xp
        following = 0.5 * (1.0 + xp.sqrt(1.0 + 4.0 * momentum**2))
        share = xp.where(uphill, xp.zeros_like(momentum), (momentum - 1.0) / following)
        return y_next + share[:, None] * along, xp.where(uphill, xp.ones_like(momentum), following)

    def _require_all(self, left: Indices, r: Array) -> None:
        if not len(left):
            return
        point = int(left[0])
        if isinstance(self.rows, DenseRows) and not feasible(self.q.B, self.arrays.host(r)[point]):
            raise infeasible(point)
        rule = f"gradients did not reach its tolerance within lower_level_steps = {self.steps}"
        raise LowerLevelError(f"X[{point}]: {rule}")


def feasible(B: Matrix, r: Matrix) -> bool:
    """Whether some y has B y >= r, by a linear program on the host."""
    free = (None, None)
    return bool(scipy.optimize.linprog(np.zeros(B.shape[1]), A_ub=-B, b_ub=-r, bounds=free).status != _INFEASIBLE)
