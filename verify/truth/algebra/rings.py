"""Rings of matrices a formula can be read over: doubles, rationals, balls, rational functions of alpha, symbols.

A ring's matrices understand ``@``, ``+``, ``-``, ``.T`` and a scalar in front; the ring itself makes them and solves.
Vectors are columns, but for doubles, where they have one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from flint import arb_mat, fmpq_mat

from spec import ExactArray
from spec.exact import FloatArray
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
    """A matrix of flint's, rational or of balls, with the operators of numpy."""

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


@dataclass(frozen=True)
class _FlintRing:
    kind: Any

    def matrix(self, array: ExactArray) -> Flint:
        return Flint(self.kind(matrix(array)))

    def vector(self, values: Sequence[Number]) -> Flint:
        return Flint(self.kind(column(values)))

    def diagonal(self, values: Sequence[Number]) -> Flint:
        return Flint(self.kind(diagonal(values)))

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
    # sympy is fetched where it is used: a second that most commands need not spend.
    def matrix(self, array: ExactArray) -> Any:
        rows = _sympy().Matrix(array.to_fractions())
        return rows.T if array.ndim == 1 else rows

    def vector(self, values: Sequence[Any]) -> Any:
        return _sympy().Matrix(values)

    def diagonal(self, values: Sequence[Any]) -> Any:
        return _sympy().diag(*values)

    def solve(self, matrix: Any, right: Any) -> Any:
        return matrix.LUsolve(right)


def _sympy() -> Any:
    import sympy

    return sympy


DOUBLES: Ring[FloatArray] = _Doubles()
RATIONALS: Ring[Flint] = _FlintRing(fmpq_mat)
BALLS: Ring[Flint] = _FlintRing(arb_mat)
FUNCTIONS: Ring[RationalVector] = _Functions()
"""Rational functions of alpha; alpha itself is ``rational_functions.ALPHA``."""
SYMBOLS: Ring[Any] = _Symbols()
"""Expressions of sympy."""
