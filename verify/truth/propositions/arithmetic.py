"""What a formula asks of the numbers and matrices that it is evaluated over."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

from spec.formulas.tree import Shape
from verify.truth.algebra.rationals import Number


class NoValueError(ArithmeticError):
    """The formula has no value here in this arithmetic; one line says why."""


class NoSolutionError(NoValueError):
    """The lower level has no solution at a second point."""


class Arithmetic(Protocol):
    """Numbers and matrices of one kind, vectors as columns; ``Any`` is a value of that kind.

    What cannot be done raises :class:`NoValueError`; a comparison that cannot be decided is ``None``.
    """

    def number(self, value: Fraction) -> Any: ...

    def vector(self, entries: Sequence[Number]) -> Any: ...

    def matrix(self, rows: Sequence[Sequence[Number]], width: int) -> Any: ...

    def plus(self, a: Any, b: Any) -> Any:
        """Sum of two numbers."""
        ...

    def times(self, a: Any, b: Any) -> Any:
        """Product of two numbers."""
        ...

    def power(self, a: Any, exponent: Fraction) -> Any:
        """A number to an integer or half-integer power."""
        ...

    def add(self, u: Any, v: Any) -> Any:
        """Sum of two vectors or matrices."""
        ...

    def scale(self, factor: Any, v: Any) -> Any:
        """A number times a vector or matrix."""
        ...

    def matmul(self, left: Any, right: Any) -> Any: ...

    def transpose(self, matrix: Any) -> Any: ...

    def entries(self, matrix: Any) -> list[Any]:
        """The entries as numbers, row by row."""
        ...

    def entrywise(self, u: Any, v: Any) -> Any: ...

    def select(self, matrix: Any, rows: Sequence[int]) -> Any: ...

    def beside(self, left: Any, right: Any) -> Any: ...

    def is_zero(self, matrix: Any) -> bool: ...

    def farthest(self, fixed: Any, matrix: Any) -> Any:
        """The largest norm of ``fixed + matrix @ e`` over errors e of length at most 1."""
        ...

    def function(self, name: str, args: Sequence[Any], shapes: Sequence[Shape]) -> Any:
        """Any other function of the language."""
        ...

    def compare(self, relation: str, a: Any, b: Any) -> bool | None: ...

    def order(self, name: str, left: Any, right: Any) -> bool | None:
        """Whether the left number is O, Omega or Theta of the right one."""
        ...


def negated(arithmetic: Arithmetic, value: Any, shape: Shape) -> Any:
    """Minus a number, vector or matrix."""
    minus = arithmetic.number(Fraction(-1))
    return arithmetic.scale(minus, value) if shape else arithmetic.times(minus, value)


def holds(relation: str, sign: int) -> bool:
    """Whether a relation holds of two numbers whose difference has this sign."""
    return {"<=": sign <= 0, ">=": sign >= 0, "==": sign == 0, "<": sign < 0, ">": sign > 0}[relation]
