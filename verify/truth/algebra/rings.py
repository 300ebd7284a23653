"""Rings of matrices a formula can be read over: doubles, rationals, rational functions of alpha, symbols.

A ring's matrices understand ``@``, ``+``, ``-``, ``.T`` and a scalar in front; the ring itself makes them and solves.
Vectors are columns, but for doubles, where they have one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

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


class _Functions:
    def matrix(self, array: ExactArray) -> RationalVector:
        rows = array.to_fractions()
        if array.ndim == 1:
            return RationalVector.constant(rows[0])
        return RationalVector.constant([value for row in rows for value in row], width=array.shape[1])

    vector = staticmethod(RationalVector.constant)
    solve = staticmethod(solve)

    def diagonal(self, values: Sequence[Number]) -> RationalVector:
        size = len(values)
        entries = [value if i == j else 0 for i, value in enumerate(values) for j in range(size)]
        return RationalVector.constant(entries, width=size)


class _Symbols:
    def _matrix(self, rows: Sequence[Sequence[Number]], width: int) -> Flint:
        from sympy.polys.matrices import DomainMatrix

        return Flint(DomainMatrix([[scalar(value) for value in row] for row in rows], (len(rows), width), field()))

    def matrix(self, array: ExactArray) -> Flint:
        rows = array.to_fractions()
        return self.vector(rows[0]) if array.ndim == 1 else self._matrix(rows, array.shape[1])

    def vector(self, values: Sequence[Number]) -> Flint:
        return self._matrix([[value] for value in values], 1)

    def diagonal(self, values: Sequence[Number]) -> Flint:
        size = len(values)
        return self._matrix([[value if i == j else 0 for j in range(size)] for i, value in enumerate(values)], size)

    def solve(self, matrix: Flint, right: Flint) -> Flint:
        return Flint(matrix.entries.lu_solve(right.entries))


DOUBLES: Ring[FloatArray] = _Doubles()
RATIONALS: Ring[Flint] = _Rationals()
FUNCTIONS: Ring[RationalVector] = _Functions()
"""Rational functions of alpha; alpha itself is ``rational_functions.ALPHA``."""
SYMBOLS: Ring[Flint] = _Symbols()
"""The same functions as sympy has them; alpha is the generator of ``products.field()``."""
