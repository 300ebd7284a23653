"""Line 5 of Algorithm 1 at many points at once: preconditioned conjugate gradients, each point with its own stopping.

All share M = f_yy + alpha_1 g_yy; of the known rows' part each has its own weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from f2csa_ref.fast.batched_blocks import Block, BoxRows, DenseRows
from f2csa_ref.fast.conjugate_gradients import RESTARTS
from f2csa_ref.fast.device_arrays import Array, Arrays
from f2csa_ref.fast.lockstep import Counts, State, run
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector

GRAM_DOUBLES = 1 << 24
"""Doubles (128 MiB) up to which each point's preconditioner holds a Gram matrix of dense rows; beyond, its diagonal."""
GROWN = 1e8
"""Growth of a residual in one step that ends a recursion."""


@dataclass(frozen=True, eq=False)
class Minimisers:
    """Shifts w = y - y*, (K, m), the norm of grad_y L there, computed anew, (K,), and the steps each took, (K,)."""

    w: Array
    gradient_norm: Array
    steps: Counts


@dataclass(eq=False)
class BatchedHessian:
    """Products with the Hessians of L and with their preconditioners.

    ``least``, shape (m,), > 0, is what a diagonal entry of the preconditioner is at least. ``dtype`` is that of the
    steps.
    """

    arrays: Arrays
    M: Block
    rows: BoxRows | DenseRows
    B: Matrix
    least: Vector
    dtype: Any

    def __post_init__(self) -> None:
        diagonal = np.maximum(self.M.matrix.diagonal(), self.least)
        self.diagonal = self.arrays.of(diagonal)
        self.inverse = self.arrays.of(1.0 / diagonal, self.dtype)
        self.dense = None
        if isinstance(self.rows, DenseRows):
            self.dense = DenseRows(self.arrays, self.rows.work, self.B, self.dtype)
            self.gram = self.arrays.of((self.B / diagonal) @ self.B.T)
            self.unit = self.arrays.of(np.eye(len(self.B)))

    def at(self, weights: Array) -> State:
        """What the products need where the rows weigh alpha_2 rho, (K, p)."""
        cast = self.arrays.of
        if self.dense is None:
            own = self.rows.curvature(weights)
            return {"own": cast(own, self.dtype), "inverse": cast(1.0 / (self.diagonal + own), self.dtype)}
        if weights.shape[0] * weights.shape[1] ** 2 > GRAM_DOUBLES:
            inverse = 1.0 / (self.diagonal + self.rows.curvature(weights))
            return {"weights": cast(weights, self.dtype), "inverse": cast(inverse, self.dtype)}
        xp = self.arrays.xp
        self.M.work.row_factorisations += weights.shape[0]
        # (D + B'SSB)^-1 = D^-1 - D^-1 B'S (I + S B D^-1 B' S)^-1 S B D^-1, S = weights^½.
        root = xp.sqrt(weights)
        inner = xp.linalg.inv(self.unit + root[:, :, None] * self.gram * root[:, None, :])
        inner = root[:, :, None] * (0.5 * (inner + xp.matrix_transpose(inner))) * root[:, None, :]
        return {"weights": cast(weights, self.dtype), "inner": cast(inner, self.dtype)}

    def times(self, v: Array, s: State) -> Array:
        """Each point's Hessian times its row."""
        if self.dense is None:
            return self.M.forth(v) + s["own"] * v
        return self.M.forth(v) + self.dense.transposed(s["weights"] * self.dense.times(v))

    def preconditioned(self, v: Array, s: State) -> Array:
        """The inverse of each point's preconditioner times its row."""
        if self.dense is None or "inner" not in s:
            return s["inverse"] * v
        scaled = self.inverse * v
        inner = (s["inner"] @ self.dense.times(scaled)[:, :, None])[:, :, 0]
        return scaled - self.inverse * self.dense.transposed(inner)


def minimise_batch(
    H: BatchedHessian, weights: Array, slope: Array, start: Array, *, tol: float, steps: int
) -> Minimisers:
    """Minimise ½ wᵀHw + slopeᵀw at each point until the gradient is at most ``tol``, or rounding or budget end it.

    Raises:
        InvalidInputError: If H turns out not to be positive definite at a point.
    """
    arrays, xp = H.arrays, H.arrays.xp

    def step(s: State) -> tuple[State, Array]:
        p, rz = s["p"], s["rz"]
        Hp = H.times(p, s)
        curved = xp.vecdot(p, Hp)
        convex = curved > 0
        one = xp.ones_like(curved)
        length = (xp.where(convex, rz, 0 * one) / xp.where(convex, curved, one))[:, None]
        residual = s["residual"] - length * Hp
        z = H.preconditioned(residual, s)
        rz_next = xp.vecdot(residual, z)
        done = (xp.vecdot(residual, residual) <= tol * tol) | ~(rz_next < GROWN * rz) | ~convex
        changed = {"w": s["w"] + length * p, "residual": residual, "p": z + (rz_next / rz)[:, None] * p,
                   "rz": rz_next, "convex": convex}  # fmt: skip
        return changed, done

    parts, w = H.at(weights), start
    residual = -slope - H.times(w, parts)
    norm, taken = arrays.host(arrays.length(residual)), np.zeros(w.shape[0], dtype=np.int64)
    open_, before = norm > tol, norm
    for _ in range(RESTARTS):
        here, rest = np.flatnonzero(open_), np.flatnonzero(~open_)
        budget = steps - int(taken.max())
        if not len(here) or budget < 1:
            break
        state = parts | {"w": w, "residual": residual}
        if len(rest):
            state = {name: arrays.rows(values, here) for name, values in state.items()}
        z = H.preconditioned(state["residual"], state)
        state |= {"p": z, "rz": xp.vecdot(state["residual"], z)}
        final, more, _ = run(arrays, step, state, ("w", "convex"), budget)
        if not bool(xp.all(final["convex"])):
            raise InvalidInputError("alpha", "must make the penalty Lagrangian strongly convex: lower it")
        w = arrays.merged([final["w"], arrays.rows(w, rest)], [here, rest]) if len(rest) else final["w"]
        taken[here] += more
        residual = -slope - H.times(w, parts)
        norm, before = arrays.host(arrays.length(residual)), norm
        open_ = open_ & (norm > tol) & (norm <= 0.5 * before)
    return Minimisers(w, arrays.of(norm), taken)
