"""Formulas in doubles, each number with a bound of what rounding may have made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spec.formulas.tree import Shape
from verify.truth.algebra.rationals import Number
from verify.truth.propositions.arithmetic import NoValueError, holds

EPS = float(np.finfo(float).eps)
SOLVER = 8
"""Factor on the dimension in the backward error of LAPACK's solvers and singular values: customary, not proven."""
_Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Rounded:
    """Doubles, a number or a matrix, and by how much each may be off."""

    value: _Doubles
    bound: _Doubles

    def __float__(self) -> float:
        return float(self.value)


def _of(value: Any, bound: Any) -> Rounded:
    exact = np.asarray(value, dtype=np.float64)
    return Rounded(exact, np.asarray(bound, dtype=np.float64) + EPS * np.abs(exact))


class DoubleArithmetic:
    """Doubles with running error bounds; what lies within them is not decided."""

    def number(self, value: Fraction) -> Rounded:
        return _of(float(value), 0.0)

    def vector(self, entries: Sequence[Number]) -> Rounded:
        return _of(np.array([[float(value)] for value in entries]).reshape(-1, 1), 0.0)

    def matrix(self, rows: Sequence[Sequence[Number]], width: int) -> Rounded:
        return _of(np.array([[float(value) for value in row] for row in rows]).reshape(len(rows), width), 0.0)

    def plus(self, a: Rounded, b: Rounded) -> Rounded:
        return _of(a.value + b.value, a.bound + b.bound)

    def times(self, a: Rounded, b: Rounded) -> Rounded:
        off = np.abs(a.value) * b.bound + a.bound * np.abs(b.value) + a.bound * b.bound
        return _of(a.value * b.value, off)

    def power(self, a: Rounded, exponent: Fraction) -> Rounded:
        if exponent < 0:
            size = float(np.abs(a.value))
            if not size > float(a.bound):
                raise NoValueError("a quotient by what may be 0")
            inverse = _of(1 / a.value, a.bound / (size * (size - a.bound)))
            return self.power(inverse, -exponent)
        product = self.number(Fraction(1))
        base = a if exponent.denominator == 1 else self._root(a)
        for _ in range(exponent.numerator):
            product = self.times(product, base)
        return product

    add = plus
    scale = times
    entrywise = times

    def matmul(self, left: Rounded, right: Rounded) -> Rounded:
        s, t = np.abs(left.value), np.abs(right.value)
        off = s @ right.bound + left.bound @ t + left.bound @ right.bound
        return _of(left.value @ right.value, off + (left.value.shape[1] + 1) * EPS * (s @ t))

    def transpose(self, matrix: Rounded) -> Rounded:
        return Rounded(matrix.value.T, matrix.bound.T)

    def entries(self, matrix: Rounded) -> list[Rounded]:
        pairs = zip(matrix.value.ravel(), matrix.bound.ravel(), strict=True)
        return [Rounded(np.asarray(value), np.asarray(bound)) for value, bound in pairs]

    def select(self, matrix: Rounded, rows: Sequence[int]) -> Rounded:
        return Rounded(matrix.value[list(rows)], matrix.bound[list(rows)])

    def beside(self, left: Rounded, right: Rounded) -> Rounded:
        return Rounded(np.hstack([left.value, right.value]), np.hstack([left.bound, right.bound]))

    def is_zero(self, matrix: Rounded) -> bool:
        return bool(np.all(np.abs(matrix.value) <= matrix.bound))

    def farthest(self, fixed: Rounded, matrix: Rounded) -> Rounded:
        if not self.is_zero(fixed):
            raise NoValueError("a largest value is known where what does not move with the error is 0")
        most, off = self._spectral(matrix), float(np.linalg.norm(fixed.value) + np.linalg.norm(fixed.bound))
        return Rounded(most.value, most.bound + off)

    def function(self, name: str, args: Sequence[Any], shapes: Sequence[Shape]) -> Any:
        match name, args:
            case "norm", [matrix]:
                return self._norm(matrix) if len(shapes[0]) == 1 else self._spectral(matrix)
            case "eig_min" | "eig_max", [matrix]:
                values = np.linalg.eigvalsh((matrix.value + matrix.value.T) / 2)
                # Weyl's bound for the entries' errors, and the solver's own.
                off = np.linalg.norm(matrix.bound) + SOLVER * len(values) * EPS * np.abs(values).max()
                return _of(values[0 if name == "eig_min" else -1], off)
            case "sum", [vector]:
                return _of(
                    vector.value.sum(), vector.bound.sum() + len(vector.value) * EPS * np.abs(vector.value).sum()
                )
            case "clip", [vector]:
                surely = (vector.value + vector.bound < 0) | (vector.value - vector.bound > 1)
                return Rounded(np.clip(vector.value, 0, 1), np.where(surely, 0.0, vector.bound))
            case "inside", [vector]:
                low, high = vector.value - vector.bound, vector.value + vector.bound
                inside = (low > 0) & (high < 1)
                surely = inside | (high <= 0) | (low >= 1)
                return Rounded(inside.astype(float), np.where(surely, 0.0, 1.0))
            case "positive", [vector]:
                surely = vector.value + vector.bound < 0
                return Rounded(np.maximum(vector.value, 0), np.where(surely, 0.0, vector.bound))
            case "row_squares", [matrix]:
                ones = Rounded(np.ones((matrix.value.shape[1], 1)), np.zeros((matrix.value.shape[1], 1)))
                return self.matmul(self.entrywise(matrix, matrix), ones)
            case "diag", [vector]:
                return Rounded(np.diag(vector.value[:, 0]), np.diag(vector.bound[:, 0]))
            case "solve", [matrix, right]:
                return _solved(matrix, right)
            case "beside", [left, right]:
                return self.beside(left, right)
            case "above", [top, bottom]:
                return Rounded(np.vstack([top.value, bottom.value]), np.vstack([top.bound, bottom.bound]))
            case "sqrt", [number]:
                return self._root(number)
            case "abs", [number]:
                return Rounded(np.abs(number.value), number.bound)
            case "ceil", [number] if np.ceil(number.value - number.bound) == np.ceil(number.value + number.bound):
                return Rounded(np.ceil(number.value), np.asarray(0.0))
            case "floor", [number] if np.floor(number.value - number.bound) == np.floor(number.value + number.bound):
                return Rounded(np.floor(number.value), np.asarray(0.0))
            case "min" | "max", _:
                numbers = self.entries(args[0]) if len(args) == 1 else list(args)
                if not numbers:
                    raise NoValueError(f"{name} of no numbers")
                best = (min if name == "min" else max)(float(number) for number in numbers)
                return Rounded(np.asarray(best), np.asarray(max(float(number.bound) for number in numbers)))
        raise NoValueError(f"{name} has no value in doubles")

    def compare(self, relation: str, a: Rounded, b: Rounded) -> bool | None:
        gap = float(a.value - b.value)
        off = float(a.bound + b.bound) + EPS * abs(gap)
        return None if abs(gap) <= off else holds(relation, 1 if gap > 0 else -1)

    def order(self, name: str, left: Rounded, right: Rounded) -> None:  # noqa: ARG002  # the protocol's
        raise NoValueError(f"{name}(...) is about a limit, not about one place")

    def _norm(self, vector: Rounded) -> Rounded:
        size = float(np.linalg.norm(vector.value))
        return _of(size, np.linalg.norm(vector.bound) + (vector.value.size + 2) * EPS * size)

    def _spectral(self, matrix: Rounded) -> Rounded:
        size = float(np.linalg.norm(matrix.value, 2)) if matrix.value.size else 0.0
        return _of(size, np.linalg.norm(matrix.bound) + SOLVER * max(matrix.value.shape, default=0) * EPS * size)

    def _root(self, number: Rounded) -> Rounded:
        low = float(number.value - number.bound)
        if low < 0:
            raise NoValueError("a root of what may be negative")
        root = float(np.sqrt(number.value))
        return _of(root, number.bound / (root + np.sqrt(low)) if root > 0 else 0.0)


def _solved(matrix: Rounded, right: Rounded) -> Rounded:
    """A linear system by its approximate inverse, with the bound of S. M. Rump, *Verification methods*, Acta Numerica
    19 (2010), section 10: where ``|I - R A|`` is below 1 in the largest row sum, the error is at most
    ``|R r| + |I - R A| / (1 - norm) max |R r|``.
    """
    size = len(matrix.value)
    try:
        inverse = np.linalg.inv(matrix.value)
    except np.linalg.LinAlgError:
        raise NoValueError("a linear system is singular in doubles") from None
    entries = matrix.bound + SOLVER * size * EPS * np.abs(matrix.value)
    off = np.abs(np.eye(size) - inverse @ matrix.value) + np.abs(inverse) @ entries
    share = float(np.linalg.norm(off, np.inf))
    if not share < 1:
        raise NoValueError("a linear system is too ill-conditioned for doubles")
    x = inverse @ right.value
    left = np.abs(right.value - matrix.value @ x) + right.bound + entries @ np.abs(x)
    first = np.abs(inverse) @ left
    return _of(x, first + share / (1 - share) * np.max(first, axis=0))
