"""A problem's blocks and rows on a device, times many points at once.

A point is a row, so that a block times all points is one matrix-matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from f2csa_ref.bounds import Bounds, Indices
from f2csa_ref.fast.device_arrays import Array, Arrays
from f2csa_ref.fast.operators import multiple_of_identity
from spec.errors import InvalidInputError
from spec.exact import Matrix


@dataclass
class BatchedWork:
    """Products of a block with all points at once, the matrix-vector products that they stand for, and factorisations.

    These are of Gram matrices of rows, one a point.
    """

    products: int = 0
    vectors: int = 0
    row_factorisations: int = 0


@dataclass(eq=False)
class Block:
    """A block of the problem, on the device; a zero one or a multiple of I is not multiplied."""

    arrays: Arrays
    work: BatchedWork
    matrix: Matrix
    dtype: Any = None
    multiple: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        M = self.matrix
        self.multiple = multiple_of_identity(M)
        self.shape = M.shape
        self._there = None if self.multiple is not None else self.arrays.of(M, self.dtype)

    def forth(self, rows: Array) -> Array:
        """Block times each row, (K, columns) to (K, rows of the block)."""
        return self._times(rows, self.shape[0], None if self._there is None else self._there.T)

    def back(self, rows: Array) -> Array:
        """Its transpose times each row."""
        return self._times(rows, self.shape[1], self._there)

    def _times(self, rows: Array, width: int, factor: Array) -> Array:
        if self.multiple == 0.0:
            return self.arrays.full((rows.shape[0], width), 0.0, self.dtype)
        if self.multiple is not None:
            return self.multiple * rows
        self.work.products += 1
        self.work.vectors += rows.shape[0]
        return rows @ factor


@dataclass(eq=False)
class DenseRows:
    """Rows B y >= r of any form, for many r and y at once."""

    arrays: Arrays
    work: BatchedWork
    B: Matrix
    dtype: Any = None

    def __post_init__(self) -> None:
        self._block = Block(self.arrays, self.work, self.B, self.dtype)
        self._squares = Block(self.arrays, BatchedWork(), self.B**2, self.dtype)

    def times(self, y: Array) -> Array:
        """B y, (K, p)."""
        return self._block.forth(y)

    def transposed(self, lam: Array) -> Array:
        """B' lam, (K, m)."""
        return self._block.back(lam)

    def curvature(self, weights: Array) -> Array:
        """Diagonal of B' diag(weights) B, (K, m)."""
        return self._squares.back(weights)


@dataclass(eq=False)
class BoxRows:
    """Rows that bound single coordinates: gathers in place of products."""

    arrays: Arrays
    bounds: Bounds

    def __post_init__(self) -> None:
        arrays, b = self.arrays, self.bounds
        self.column, self.entries = arrays.index(b.column), arrays.of(b.entries)
        self._of = [arrays.index(self._rows_of(some)) for some in (b.below, b.above)]

    def _rows_of(self, some: Indices) -> Indices:
        """The row that bounds each coordinate from one side; p where there is none."""
        rows = np.full(self.bounds.m, len(self.bounds.column))
        rows[self.bounds.column[some]] = some
        return rows

    def _gathered(self, values: Array, side: int, missing: float) -> Array:
        none = self.arrays.full((values.shape[0], 1), missing)
        return self.arrays.xp.take(self.arrays.xp.concat([values, none], axis=1), self._of[side], axis=1)

    def ends(self, r: Array) -> tuple[Array, Array]:
        """Both ends, (K, m), infinite where there is none; refused by its index where they cross at a point."""
        at = r / self.entries
        lower, upper = self._gathered(at, 0, -np.inf), self._gathered(at, 1, np.inf)
        crossed = np.flatnonzero(self.arrays.host(self.arrays.xp.any(lower > upper, axis=1)))
        if len(crossed):
            raise infeasible(int(crossed[0]))
        return lower, upper

    def multipliers(self, z: Array) -> Array:
        """Multipliers >= 0, (K, p), with B' lam = z where z pushes against the end it is at; else 0."""
        return self.arrays.positive(self.arrays.xp.take(z, self.column, axis=1) / self.entries)

    def times(self, y: Array) -> Array:
        """B y, (K, p)."""
        return self.entries * self.arrays.xp.take(y, self.column, axis=1)

    def transposed(self, lam: Array) -> Array:
        """B' lam, (K, m)."""
        return self._both(self.entries * lam)

    def curvature(self, weights: Array) -> Array:
        """Diagonal of B' diag(weights) B, (K, m)."""
        return self._both(weights * self.entries**2)

    def _both(self, values: Array) -> Array:
        return self._gathered(values, 0, 0.0) + self._gathered(values, 1, 0.0)


def infeasible(point: int) -> InvalidInputError:
    """The refusal of one point of a batch."""
    return InvalidInputError(f"X[{point}]", "lower-level problem is infeasible here: no y satisfies A x - B y - b <= 0")
