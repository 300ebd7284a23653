"""Line 3 of Algorithm 1 at many points at once, by the gradients of :mod:`f2csa_ref.lower_level.first_order`.

Each point has its own momentum, restarts, weight of the augmented Lagrangian and stopping.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from f2csa_ref.bounds import Indices
from f2csa_ref.fast.batched_blocks import Block, BoxRows, DenseRows
from f2csa_ref.fast.device_arrays import Array, Arrays
from f2csa_ref.fast.lockstep import Counts, State, run
from f2csa_ref.lower_level.first_order import HEAVIER, HEAVIEST, ROUNDED, SLOW, WEIGHT
from f2csa_ref.objectives import QuadraticObjectives


@dataclass(frozen=True, eq=False)
class Lower:
    """Lower levels of many points, min ½ yᵀGy + cᵀy over B y >= r, from (y, lam) to within ``tol``.

    Shapes (K, m), (K, p), (K, m), (K, p), (K,).
    """

    c: Array
    r: Array
    y: Array
    lam: Array
    tol: Array


@dataclass(frozen=True, eq=False)
class Reached:
    """Pairs, (K, m) and (K, p), the gradients each took, (K,), and the points that are not within their tolerance."""

    y: Array
    lam: Array
    gradients: Counts
    left: Indices


@dataclass(eq=False)
class BatchedGradients:
    """Accelerated gradients on the lower levels of one problem."""

    arrays: Arrays
    q: QuadraticObjectives
    G: Block
    rows: BoxRows | DenseRows

    def solve(self, lower: Lower, steps: int) -> Reached:
        """The pairs, each point within its tolerance or with its budget spent."""
        if isinstance(self.rows, BoxRows):
            return self._over_box(self.rows, lower, steps)
        return self._over_rows(self.rows, lower, steps)

    def _over_box(self, rows: BoxRows, given: Lower, steps: int) -> Reached:
        """Accelerated projected gradients, momentum dropped where it points uphill."""
        arrays, xp, C_g = self.arrays, self.arrays.xp, self.q.C_g
        slack = max(C_g / self.q.mu_g - 1.0, 1.0)
        lower, upper = rows.ends(given.r)

        def step(s: State) -> tuple[State, Array]:
            v, y = s["v"], s["y"]
            free = v - (self.G.forth(v) + s["c"]) / C_g
            y_next = xp.minimum(xp.maximum(free, s["lower"]), s["upper"])
            moved, along = y_next - v, y_next - y
            v_next, momentum = self._accelerated(y_next, along, s["momentum"], xp.vecdot(moved, along) < 0)
            short = xp.maximum(s["tol"] / slack, ROUNDED * arrays.length(y_next))
            return {"y": y_next, "v": v_next, "momentum": momentum}, xp.vecdot(moved, moved) <= short**2

        y = xp.minimum(xp.maximum(given.y, lower), upper)
        state = {"y": y, "v": y, "momentum": xp.ones_like(given.tol), "c": given.c, "lower": lower, "upper": upper,
                 "tol": given.tol}  # fmt: skip
        final, gradients, left = run(self.arrays, step, state, ("y",), steps)
        y = final["y"]
        at_end = (y == lower) | (y == upper)
        push = xp.where(at_end, self.G.forth(y) + given.c, xp.zeros_like(y))
        return Reached(y, rows.multipliers(push), gradients + 1, left)

    def _over_rows(self, rows: DenseRows, given: Lower, steps: int) -> Reached:
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

        y, one = given.y, xp.ones_like(given.tol)
        inner = xp.maximum(given.tol, 1e-2 * (1.0 + arrays.length(y)))
        state = {
            "y": y, "v": y, "momentum": one, "lam": given.lam, "beta": WEIGHT * q.C_g / norm**2 * one,
            "before": np.inf * one, "inner": inner, "c": given.c, "r": given.r, "tol": given.tol,
        }  # fmt: skip
        final, gradients, left = run(arrays, step, state, ("y", "lam"), steps)
        return Reached(final["y"], final["lam"], gradients, left)

    def _accelerated(self, y_next: Array, along: Array, momentum: Array, uphill: Array) -> tuple[Array, Array]:
        """As :func:`f2csa_ref.penalty_minimiser.accelerated`, at each point."""
        xp = self.arrays.xp
        following = 0.5 * (1.0 + xp.sqrt(1.0 + 4.0 * momentum**2))
        share = xp.where(uphill, xp.zeros_like(momentum), (momentum - 1.0) / following)
        return y_next + share[:, None] * along, xp.where(uphill, xp.ones_like(momentum), following)
