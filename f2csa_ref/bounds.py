"""Rows that each hold one coordinate of y: a box whose ends may move with x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector

Indices = np.ndarray[Any, np.dtype[np.intp]]


@dataclass(frozen=True, eq=False)
class Bounds:
    """B y >= r as ``lower <= y <= upper``.

    Row i is ``entries[i]`` at ``column[i]`` and zero elsewhere; ``below`` and ``above``, shapes (k,), are the rows that
    bound a coordinate from below and from above, at most one each a coordinate.
    """

    m: int
    column: Indices
    entries: Vector
    below: Indices
    above: Indices

    def ends(self, r: Vector) -> tuple[Vector, Vector]:
        """Both ends, shape (m,), infinite where there is none; refused where they cross."""
        lower, upper, at = np.full(self.m, -np.inf), np.full(self.m, np.inf), r / self.entries
        lower[self.column[self.below]] = at[self.below]
        upper[self.column[self.above]] = at[self.above]
        if (lower > upper).any():
            raise InvalidInputError("x", "lower-level problem is infeasible here: no y satisfies A x - B y - b <= 0")
        return lower, upper

    def multipliers(self, z: Vector) -> Vector:
        """Multipliers >= 0, shape (p,), with B' lam = z where z pushes against the end it is at; else 0."""
        return np.maximum(z[self.column] / self.entries, 0.0)

    def times(self, y: Vector) -> Vector:
        """B y, shape (p,)."""
        return self.entries * y[self.column]

    def transposed(self, lam: Vector) -> Vector:
        """B' lam, shape (m,)."""
        return np.bincount(self.column, weights=self.entries * lam, minlength=self.m).astype(np.float64, copy=False)

    def curvature(self, weights: Vector) -> Vector:
        """Diagonal of B' diag(weights) B, shape (m,)."""
        squares = weights * self.entries**2
        return np.bincount(self.column, weights=squares, minlength=self.m).astype(np.float64, copy=False)


def bounds_of(B: Matrix) -> Bounds | None:
    """The rows as bounds, or nothing where a row has not one entry, or two bound a coordinate from one side."""
    if not (np.count_nonzero(B, axis=1) == 1).all():
        return None
    column = np.argmax(B != 0, axis=1)
    entries = B[np.arange(len(B)), column]
    below, above = np.flatnonzero(entries > 0), np.flatnonzero(entries < 0)
    if any(len(np.unique(column[rows])) < len(rows) for rows in (below, above)):
        return None
    return Bounds(B.shape[1], column, entries, below, above)


def at_right_angles(rows: Matrix) -> bool:
    """Whether each row holds one coordinate, no two the same; at least one row is given."""
    entries = rows != 0
    return bool((entries.sum(axis=1) == 1).all() and entries.sum(axis=0).max() == 1)
