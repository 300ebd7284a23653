"""Rings of matrices a formula can be read over: doubles, rationals, rational functions of alpha, symbols.

A ring's matrices understand ``@``, ``+``, ``-``, ``.T`` and a scalar in front; the ring itself makes them and solves.
Vectors are columns, but for doubles, where they have one axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from spec import ExactArray
from spec.exact import FloatArray
from verify.truth.algebra.products import field, scalar
from verify.truth.algebra.rational_functions import RationalVector, solve
from verify.truth.algebra.rationals import Number, column, diagonal, matrix

M = TypeVar("M")


class Ring(Protocol[M]):
    """What a formula asks of the numbers it is read over."""

    def matrix(self, array: ExactArray) -> M: ...

    def vector(self, values: Sequence[Number]) -> M: ...

    def diagonal(self, values: Sequence[Number]) -> M: ...

    def solve(self, matrix: M, right: M) -> M:
        """Solution of a square linear system, for every column on the right."""
        ...


@dataclass(frozen=True)
class Flint:
    """A matrix of flint's, or of sympy's over a field, with the operators of numpy."""

    entries: Any

    @property
    def T(self) -> Flint:  # noqa: N802  # the name numpy and sympy give it
        return Flint(self.entries.transpose())

    def __matmul__(self, other: Flint) -> Flint:
        return Flint(self.entries * other.entries)

    def __add__(self, other: Flint) -> Flint:
        return Flint(self.entries + other.entries)

    def __sub__(self, other: Flint) -> Flint:
        return Flint(self.entries - other.entries)

    def __rmul__(self, scalar: Any) -> Flint:
        return Flint(self.entries * scalar)


class _Rationals:
    def matrix(self, array: ExactArray) -> Flint:
        return Flint(matrix(array))

    def vector(self, values: Sequence[Number]) -> Flint:
        return Flint(column(values))

    def diagonal(self, values: Sequence[Number]) -> Flint:
        return Flint(diagonal(values))

    def solve(self, matrix: Flint, right: Flint) -> Flint:
        return Flint(matrix.entries.solve(right.entries))


class _Doubles:
    def matrix(self, array: ExactArray) -> FloatArray:
        return array.to_numpy()

    def vector(self, values: Sequence[Number]) -> FloatArray:
        return np.array([float(value) for value in values])

    def diagonal(self, values: Sequence[Number]) -> FloatArray:
        return np.diag(self.vector(values))

    def solve(self, matrix: FloatArray, right: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)


@dataclass(frozen=True)
class _Listed(Generic[M]):
    """A ring whose matrices are made of their entries, row by row, and a width."""

    listed: Callable[[Sequence[Number], int], M]
    solve: Callable[[M, M], M]

    def matrix(self, array: ExactArray) -> M:
        rows = array.to_fractions()
        return self.vector(rows[0]) if array.ndim == 1 else self.listed(list(chain(*rows)), array.shape[1])

    def vector(self, values: Sequence[Number]) -> M:
        return self.listed(values, 1)

    def diagonal(self, values: Sequence[Number]) -> M:
        size = len(values)
        return self.listed([value if i == j else 0 for i, value in enumerate(values) for j in range(size)], size)


def _symbols(values: Sequence[Number], width: int) -> Flint:
    from sympy.polys.matrices import DomainMatrix

    rows = [[scalar(value) for value in values[i : i + width]] for i in range(0, len(values), width)]
    return Flint(DomainMatrix(rows, (len(rows), width), field()))


DOUBLES: Ring[FloatArray] = _Doubles()
RATIONALS: Ring[Flint] = _Rationals()
FUNCTIONS: Ring[RationalVector] = _Listed(RationalVector.constant, solve)
"""Rational functions of alpha; alpha itself is ``rational_functions.ALPHA``."""
SYMBOLS: Ring[Flint] = _Listed(_symbols, lambda matrix, right: Flint(matrix.entries.lu_solve(right.entries)))
"""The same functions as sympy has them; alpha is the generator of ``products.field()``."""
