"""Line 3 of Algorithm 1 at many points at once where the active rows are guessed: conjugate gradients, then a look.

What is guessed is what was active where a point starts. Over a box the free coordinates are solved for; over dense rows
the multipliers of the active ones by the method of multipliers. A point whose guess was wrong is told by its KKT
conditions, and left as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from f2csa_ref.bounds import Indices
from f2csa_ref.fast.batched_blocks import Block, BoxRows, DenseRows
from f2csa_ref.fast.batched_gradients import Lower, Reached
from f2csa_ref.fast.batched_minimiser import BatchedHessian, minimise_batch
from f2csa_ref.fast.conjugate_gradients import EPS
from f2csa_ref.fast.device_arrays import Array, Arrays
from f2csa_ref.fast.lockstep import State
from f2csa_ref.objectives import QuadraticObjectives

LIGHTEST, HEAVIEST_KNOWN = 10.0, 1e3
"""Weights of the active rows, in units of C_g / |B|²: as heavy as their rounding allows."""
ROUNDS = 8
"""Times the multipliers are renewed."""


@dataclass(eq=False)
class _FreeHessian:
    """G on each point's free coordinates, the identity on the others."""

    arrays: Arrays
    G: Block

    def __post_init__(self) -> None:
        self._inverse = self.arrays.of(1.0 / self.G.matrix.diagonal())

    def at(self, free: Array) -> State:
        return {"free": free, "inverse": free * self._inverse + (1.0 - free)}

    def times(self, v: Array, s: State) -> Array:
        return s["free"] * self.G.forth(s["free"] * v) + (1.0 - s["free"]) * v

    def preconditioned(self, v: Array, s: State) -> Array:
        return s["inverse"] * v


@dataclass(eq=False)
class KnownRows:
    """The lower levels of one problem from guessed active rows."""

    arrays: Arrays
    q: QuadraticObjectives
    G: Block
    rows: BoxRows | DenseRows

    def __post_init__(self) -> None:
        self._hessian: Any
        if isinstance(self.rows, BoxRows):
            self._hessian = _FreeHessian(self.arrays, self.G)
        else:
            diagonal = self.q.g_yy.diagonal()
            self._hessian = BatchedHessian(self.arrays, self.G, self.rows, self.q.B, diagonal, self.arrays.double)

    def solve(self, lower: Lower, steps: int) -> Reached:
        """The pairs of points whose guess was right, the others as they were."""
        if isinstance(self.rows, BoxRows):
            return self._over_box(self.rows, lower, steps)
        return self._over_rows(self.rows, lower, steps)

    def _over_box(self, rows: BoxRows, given: Lower, steps: int) -> Reached:
        xp, zero = self.arrays.xp, self.arrays.full((1, 1), 0.0)
        lower, upper = rows.ends(given.r)
        push = rows.transposed(given.lam)
        at_lower, at_upper = push > 0, push < 0
        y = xp.where(at_lower, lower, xp.where(at_upper, upper, given.y))
        free = xp.where(at_lower | at_upper, zero, zero + 1.0)
        tol = 0.5 * float(xp.min(given.tol)) * self.q.mu_g
        slope = free * (self.G.forth(y) + given.c)
        minima = minimise_batch(self._hessian, free, slope, xp.zeros_like(y), tol=tol, steps=steps)
        y = y + free * minima.w
        clipped = xp.minimum(xp.maximum(y, lower), upper)
        z = self.G.forth(clipped) + given.c
        wrong = xp.where(at_lower, xp.clip(z, None, 0.0), xp.where(at_upper, xp.clip(z, 0.0, None), z))
        # A free coordinate that was clipped shows by its slope that it belongs to an end.
        ok = self.arrays.length(wrong) <= given.tol * self.q.mu_g
        lam = rows.multipliers((1.0 - free) * z)
        return self._kept(given, (clipped, lam), ok, minima.steps + 2)

    def _over_rows(self, rows: DenseRows, given: Lower, steps: int) -> Reached:
        arrays, xp, q = self.arrays, self.arrays.xp, self.q
        norm = q.B_norm or 1.0
        zero = arrays.full((1, 1), 0.0)
        known = xp.where(given.lam > 0, zero + 1.0, zero)
        tol = 0.5 * float(xp.min(given.tol)) * q.mu_g
        weight = min(max(tol / (16 * EPS * q.C_g), LIGHTEST), HEAVIEST_KNOWN)
        weights = weight * q.C_g / norm**2 * known
        y, lam = given.y, given.lam
        h, before = given.r - rows.times(y), np.inf
        taken = np.full(y.shape[0], 1)
        for _ in range(ROUNDS):
            slope = self.G.forth(y) + given.c - rows.transposed(lam + weights * h)
            minima = minimise_batch(self._hessian, weights, slope, xp.zeros_like(y), tol=tol, steps=steps)
            y = y + minima.w
            h = given.r - rows.times(y)
            lam, taken = lam + weights * h, taken + minima.steps + 1
            off = arrays.length(known * h) / norm
            worst = float(xp.max(off / given.tol))
            if worst <= 0.5 or worst > 0.5 * before:
                break
            before = worst
        signed = arrays.positive(lam)
        slope = self.G.forth(y) + given.c - rows.transposed(signed)
        broken = arrays.length(known * h + (1.0 - known) * arrays.positive(h)) / norm
        ok = (arrays.length(slope) <= given.tol * q.mu_g) & (broken <= given.tol)
        return self._kept(given, (y, signed), ok, taken)

    def _kept(self, given: Lower, pair: tuple[Array, Array], ok: Array, steps: Any) -> Reached:
        here, xp = ok[:, None], self.arrays.xp
        left: Indices = np.flatnonzero(~self.arrays.host(ok))
        return Reached(xp.where(here, pair[0], given.y), xp.where(here, pair[1], given.lam), steps, left)
