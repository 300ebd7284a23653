"""Block principal pivoting: a strictly convex quadratic program over a box, by exchanging coordinates in blocks.

A guess says which coordinates are free and which stand at an end; the free ones are solved for, and all that turn out
on the wrong side change places at once. A primal-dual active-set method that does only this cycles. Here a run that
does not reduce their number for ``PATIENCE`` exchanges changes one coordinate at a time, always the last of them, until
it has: that rule ends after finitely many steps, so the whole does.

Source: Kostreva, Block pivot methods for solving the complementarity problem, 1978; Júdice and Pires, A block principal
pivoting algorithm for large-scale strictly monotone linear complementarity problems, 1994.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from f2csa_ref.bounds import Bounds
from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.lower_level.solution import ACCEPTED_RESIDUAL, Candidate, LowerLevelError, LowerLevelSolution, sizes
from f2csa_ref.objectives import QuadraticObjectives
from spec.exact import Matrix, Vector

PATIENCE = 10
"""Exchanges of whole blocks without progress before single ones."""
SLACK = 8 * float(np.finfo(np.float64).eps)
"""Violations within this fraction of the sizes added up are rounding."""
REFINED = 2 * float(np.finfo(np.float64).eps)
"""Residual, in units of the sizes added up, above which a solve is refined once."""
_MOST = 5
"""Exchanges, in units of the number of coordinates, that no convergent run needs."""

Places = np.ndarray[Any, np.dtype[np.int8]]


@dataclass(eq=False)
class BlockPivoting:
    """Minimise ½ yᵀGy + cᵀy over lower <= y <= upper, again and again for one positive definite G, shape (m, m).

    ``places`` (m,) is -1, 0 or 1 for a coordinate at its lower end, free, at its upper end: the guess the next solve
    starts from, so that along a path mostly no factorisation is needed. ``factorisations`` counts those of free blocks,
    ``exchanges`` the systems solved, ``doubles_read`` the numbers of factors that solves with them read.
    """

    G: Matrix
    product: Callable[[Vector], Vector] | None = None
    """G times a vector, where it can be had cheaper than from G."""
    places: Places | None = None
    factorisations: int = 0
    exchanges: int = 0
    doubles_read: int = 0
    _free: Any = field(default=None, repr=False)
    _factor: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._row_size = float(np.abs(self.G[0]).sum())

    def solve(self, c: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
        """The minimiser y, its ends met exactly, and z = G y + c, both (m,): z is zero on free coordinates.

        Raises:
            LowerLevelError: If a free block is not positive definite, or rounding keeps the exchange from ending.
        """
        m = len(c)
        places = np.zeros(m, dtype=np.int8) if self.places is None else self.places.copy()
        places[(places < 0) & np.isinf(lower) | (places > 0) & np.isinf(upper)] = 0
        fewest, patience, apart = m + 1, PATIENCE, lower < upper
        size_c = float(np.abs(c).max(initial=0.0))
        for _ in range(_MOST * m + 100):
            y, z, size = self._at(places, c, size_c, lower, upper)
            slack_y, slack_z = SLACK * size[0], SLACK * size[1]
            # Free coordinates have z = 0, others stand at an end: places alone tell what y and z may be.
            low, leave = y < lower - slack_y, places * z > slack_z
            leave &= apart
            wrong = (low | (y > upper + slack_y) | leave).nonzero()[0]
            if not len(wrong):
                self.places = places
                return y, z
            if len(wrong) < fewest:
                fewest, patience = len(wrong), PATIENCE
            elif patience:
                patience -= 1
            else:
                wrong = wrong[-1:]
            places[wrong] = np.where(leave[wrong], 0, np.where(low[wrong], -1, 1))
        raise LowerLevelError(f"block principal pivoting made {_MOST * m + 100} exchanges without an end")

    def _at(
        self, places: Places, c: Vector, size_c: float, lower: Vector, upper: Vector
    ) -> tuple[Vector, Vector, tuple[float, float]]:
        """Both at these places, and the sizes of what was added up in each."""
        self.exchanges += 1
        free = places == 0
        at = free.nonzero()[0]
        y = np.where(places < 0, lower, upper)
        y[at] = 0.0
        times = self.G.dot if self.product is None else self.product
        z = times(y) + c if y.any() else c.copy()
        if not len(at):
            size_y = float(np.abs(y).max(initial=0.0))
            return y, z, (size_y, size_c + size_y * self._row_size)
        y[at] = -self.solved(free, z[at])
        z = times(y) + c
        size_y = float(np.abs(y).max())
        size_z = size_c + size_y * self._row_size
        left = z[at]
        if np.abs(left).max() > REFINED * size_z:
            y[at] -= self.solved(free, left)
        # What is left of z on free coordinates is rounding.
        z[at] = 0.0
        return y, z, (size_y, size_z)

    def solved(self, free: Any, right: Vector) -> Vector:
        """The solution of the free coordinates' block, ``free`` (m,) a mask; its factor is kept for the next."""
        self.doubles_read += len(right) ** 2
        solution: Vector = sp.dpotrs(self._factor_of(free), right, lower=1)[0]
        return solution

    def memory(self) -> dict[str, Any]:
        """What the next solve starts from, as plain data: the guess, and whose block is factorised."""
        known = (self.places, self._free)
        return dict(zip(("places", "factorised"), (None if it is None else it.tolist() for it in known), strict=True))

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on from what :meth:`memory` wrote; a factorisation made again is not counted again."""
        places, free = memory["places"], memory["factorised"]
        self.places = None if places is None else np.array(places, dtype=np.int8)
        if free is not None:
            counted = self.factorisations
            self._factor_of(np.array(free, dtype=bool))
            self.factorisations = counted

    def _factor_of(self, free: Any) -> Any:
        if self._factor is None or not np.array_equal(free, self._free):
            at = free.nonzero()[0]
            block = self.G if len(at) == len(free) else self.G[at[:, None], at]
            self._factor, broken = sp.dpotrf(block, lower=1, clean=0)
            if broken:
                self._factor = None
                raise LowerLevelError("block principal pivoting met a block that is not positive definite")
            self._free, self.factorisations = free, self.factorisations + 1
        return self._factor


def solve_box(objectives: QuadraticObjectives, bounds: Bounds, x: Vector) -> LowerLevelSolution:
    """The lower-level pair where the rows are bounds.

    Raises:
        InvalidInputError: If the ends of the box cross.
        LowerLevelError: If the exchange does not end, or its pair misses the KKT conditions.

    Source: Algorithm 1, line 3. Differs from the paper: solved to rounding instead of by SGD.
    """
    q, solver = objectives, BlockPivoting(objectives.g_yy)
    y, z = solver.solve(x @ q.g_xy + q.g_y, *bounds.ends(q.A @ x - q.b))
    lam = bounds.multipliers(z)
    candidate = Candidate(q, x, y, lam, sizes(q, x, y, lam))
    if not candidate.residual <= ACCEPTED_RESIDUAL:
        raise LowerLevelError(f"lower-level KKT residual {candidate.residual:.1e} exceeds {ACCEPTED_RESIDUAL:.0e}")
    return candidate.solution("block-pivoting", steps=solver.factorisations)
