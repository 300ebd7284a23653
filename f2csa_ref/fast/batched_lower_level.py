"""Line 3 of Algorithm 1 at many points at once; nothing of g is factorised.

Rows that were active where a point starts are tried first: along a path they mostly stay. Where they do not, gradients
find the new ones, roughly, these are tried in turn, and only what is then left is taken to its tolerance by gradients.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from f2csa_ref.bounds import Indices
from f2csa_ref.fast.batched_blocks import Block, BoxRows, DenseRows, infeasible
from f2csa_ref.fast.batched_gradients import BatchedGradients, Lower
from f2csa_ref.fast.device_arrays import Array, Arrays
from f2csa_ref.fast.known_rows import KnownRows
from f2csa_ref.fast.lockstep import Counts
from f2csa_ref.lower_level.first_order import TARGET
from f2csa_ref.lower_level.solution import LowerLevelError
from f2csa_ref.objectives import QuadraticObjectives
from spec.exact import Matrix

ROUNDING = 32 * float(np.finfo(np.float64).eps)
"""Error that rounding of the gradient leaves, relative to y, per unit of the condition number."""
ROUGH = 1e-4
"""Error, relative to y, at which gradients mostly know the active rows."""
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

    def __post_init__(self) -> None:
        parts = self.arrays, self.q, self.G, self.rows
        self.gradients, self.known = BatchedGradients(*parts), KnownRows(*parts)
        # Over a box few gradients reach a rough tolerance: fewer than a guess takes.
        self.guesses = isinstance(self.rows, DenseRows) or self.tol == 0.0

    def solve(self, c: Array, r: Array, start: tuple[Array, Array]) -> Pairs:
        """The pairs.

        Raises:
            InvalidInputError: If a point's lower level is infeasible, with its index.
            LowerLevelError: If the budget of a point is spent, with its index.
        """
        arrays, q = self.arrays, self.q
        if isinstance(self.rows, BoxRows):
            self.rows.ends(r)  # refuses ends that cross
        sizes = 1.0 + arrays.length(c) / q.C_g
        finest = max(TARGET, ROUNDING * q.C_g / q.mu_g)
        lower = Lower(c, r, *start, arrays.xp.clip(finest * sizes, self.tol, None))
        order, taken = np.arange(c.shape[0]), np.zeros(c.shape[0], dtype=np.int64)
        parts: list[tuple[Indices, Array, Array]] = []
        for rough in (None, ROUGH, 0.0) if self.guesses else (0.0,):
            if rough is not None:
                tol = arrays.xp.maximum(lower.tol, rough * (1.0 + arrays.length(lower.c) / q.C_g))
                reached = self.gradients.solve(replace(lower, tol=tol), max(1, self.steps - int(taken[order].max())))
                taken[order] += reached.gradients
                self._require_all(order[reached.left], r)
                lower = replace(lower, y=reached.y, lam=reached.lam)
            if rough == 0.0:
                parts.append((order, lower.y, lower.lam))
                break
            tried = self.known.solve(lower, self.steps)
            taken[order] += tried.gradients
            done = np.setdiff1d(np.arange(len(order)), tried.left)
            parts.append((order[done], arrays.rows(tried.y, done), arrays.rows(tried.lam, done)))
            order = order[tried.left]
            if not len(order):
                break
            lower = Lower(**{name: arrays.rows(values, tried.left) for name, values in vars(lower).items()})
        places = [part[0] for part in parts]
        y, lam = (arrays.merged([part[side] for part in parts], places) for side in (1, 2))
        return Pairs(y, lam, self.G.forth(y) + c, taken + 1)

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
    from scipy.optimize import linprog  # slow to import, rarely asked

    free = (None, None)
    return bool(linprog(np.zeros(B.shape[1]), A_ub=-B, b_ub=-r, bounds=free).status != _INFEASIBLE)
