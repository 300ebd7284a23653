"""Matrices by their structure: a symmetric one is read by half, a zero one or a multiple of I not at all.

Each product counts itself, and the bytes that it must read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from f2csa_ref.libraries import scipy_late as sp
from spec.exact import Matrix, Vector

SYMMETRIC_FROM = 300
"""Size from which a symmetric product pays; below it matrices stay in the cache, where the plain one is faster."""


@dataclass
class Tally:
    """Products with whole matrices and the bytes that they must read, factorisations by what is factorised."""

    products: int = 0
    bytes_read: int = 0
    hessian_factorisations: int = 0
    row_factorisations: int = 0


def multiple_of_identity(M: Matrix) -> float | None:
    """The factor where a block is a multiple of the identity; 0 of a zero block of any shape."""
    if not M.any():
        return 0.0
    plain = M.shape[0] == M.shape[1] == np.count_nonzero(M) and (M.diagonal() == M[0, 0]).all()
    return float(M[0, 0]) if plain else None


@dataclass(eq=False)
class Operator:
    """A block times a vector, ``forth``, and its transpose times one, ``back``."""

    matrix: Matrix
    tally: Tally
    symmetric: bool = field(init=False)
    multiple: float | None = field(init=False)
    """The factor of a multiple of the identity; 0 of a zero block of any shape."""

    def __post_init__(self) -> None:
        M = self.matrix
        square = M.shape[0] == M.shape[1]
        self.symmetric = square and bool(np.array_equal(M, M.T))
        self.multiple = multiple_of_identity(M)
        halved = self.symmetric and len(M) >= SYMMETRIC_FROM
        self._symv: Any = (sp.ssymv if M.dtype == np.float32 else sp.dsymv) if halved else None
        self._transposed = M.T
        self._bytes = M.nbytes // 2 if halved else M.nbytes

    def forth(self, v: Vector) -> Vector:
        """Block times v."""
        return self._times(v, self.matrix)

    def back(self, v: Vector) -> Vector:
        """Transpose times v."""
        return self._times(v, self._transposed)

    def _times(self, v: Vector, matrix: Matrix) -> Vector:
        if self.multiple is not None:
            return self.multiple * v if self.multiple else np.zeros(len(matrix), dtype=self.matrix.dtype)
        self.tally.products += 1
        self.tally.bytes_read += self._bytes
        product: Vector = matrix.dot(v) if self._symv is None else self._symv(1.0, self._transposed, v)
        return product

    def columns(self, V: Matrix) -> Matrix:
        """Block times each column of V: as many products, the block read once."""
        self.tally.products += V.shape[1]
        self.tally.bytes_read += self.matrix.nbytes
        product: Matrix = self.matrix @ V
        return product

    @property
    def diagonal(self) -> Vector:
        """The diagonal of a square block."""
        return self.matrix.diagonal()


@dataclass(eq=False)
class Rows:
    """The rows' blocks: B as bounds where it is that, A left out where it is zero."""

    q: Any
    tally: Tally

    def __post_init__(self) -> None:
        self.bounds: Any = self.q.bounds
        self.A = Operator(self.q.A, self.tally)
        self.B = None if self.bounds is not None else Operator(self.q.B, self.tally)

    def reach(self, x: Vector) -> Vector:
        """A x - b, which B y must reach."""
        r: Vector = self.A.forth(x) - self.q.b
        return r

    def times(self, y: Vector) -> Vector:
        """B y, shape (p,)."""
        product: Vector = self.bounds.times(y) if self.B is None else self.B.forth(y)
        return product

    def transposed(self, lam: Vector) -> Vector:
        """B' lam, shape (m,)."""
        product: Vector = self.bounds.transposed(lam) if self.B is None else self.B.back(lam)
        return product

    def values(self, x: Vector, y: Vector, r: Vector) -> Vector:
        """h(x, y), shape (p,): as the pages have it where rows are dense, for alpha_2 amplifies their rounding."""
        h: Vector = r - self.bounds.times(y) if self.B is None else self.q.h(x, y)
        return h
