"""The same problem in other coordinates: what a table of answers does not hold, and an algorithm does not notice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec import Quadratic, parse_problem

Numbers = tuple[Fraction, ...]
Rows = Sequence[Sequence[Fraction]]
UNITS = tuple(Fraction(k, 4) for k in (3, 5, 6, 7, 9, 10))
"""New units in old ones; 1 is none of them, so that every entry moves."""


@dataclass(frozen=True)
class Axes:
    """Old coordinates by new ones: ``old[i] = unit[i] * new[order[i]] + origin[i]``."""

    order: tuple[int, ...]
    unit: Numbers
    origin: Numbers

    @classmethod
    def drawn(cls, size: int, rng: np.random.Generator, *, signed: bool = True, moved: bool = True) -> Axes:
        """Another order, other units, and, if asked for, directions and origin."""
        order = tuple(int(k) for k in rng.permutation(size))
        unit = tuple(UNITS[int(rng.integers(len(UNITS)))] * (int(rng.choice((-1, 1))) if signed else 1) for _ in order)
        origin = tuple(Fraction(int(rng.integers(-3, 4)), 4) * moved for _ in order)
        return cls(order, unit, origin)

    def new(self, old: Sequence[Fraction]) -> Numbers:
        """A point in new coordinates."""
        coordinates = [Fraction(0)] * len(self.order)
        for i, k in enumerate(self.order):
            coordinates[k] = (old[i] - self.origin[i]) / self.unit[i]
        return tuple(coordinates)

    def linear(self, form: Sequence[Fraction]) -> Numbers:
        """Coefficients of a linear form of the old coordinates, as one of the new."""
        coefficients = [Fraction(0)] * len(self.order)
        for i, k in enumerate(self.order):
            coefficients[k] = form[i] * self.unit[i]
        return tuple(coefficients)


def in_other_coordinates(
    problem: Quadratic, x: Sequence[Fraction], rng: np.random.Generator
) -> tuple[Quadratic, Numbers]:
    """A problem at a point with its variables and rows reordered, in other units, the variables with another origin.

    F is the same function of the point, up to a constant; y* and the multipliers are the same in the new units.
    """
    upper, lower = (Axes.drawn(size, rng) for size in (problem.n, problem.m))
    rows = Axes.drawn(problem.p, rng, signed=False, moved=False)
    data: dict[str, Any] = problem.to_dict()
    for name, form in (("f", problem.f), ("g", problem.g)):
        xx, xy, yy = (block.to_fractions() for block in (form.xx, form.xy, form.yy))
        (x_part,), (y_part,) = form.x.to_fractions(), form.y.to_fractions()
        c, d = upper.origin, lower.origin
        data[name] = {
            "xx": _text(_both(xx, upper, upper)),
            "xy": _text(_both(xy, upper, lower)),
            "yy": _text(_both(yy, lower, lower)),
            "x": _spelt(upper.linear(_sum(x_part, _times(xx, c), _times(xy, d)))),
            "y": _spelt(lower.linear(_sum(y_part, _times(_transposed(xy, problem.m), c), _times(yy, d)))),
        }
    A, B = problem.constraints.A.to_fractions(), problem.constraints.B.to_fractions()
    (b,) = problem.constraints.b.to_fractions()
    moved = _sum(b, [-v for v in _times(A, upper.origin)], _times(B, lower.origin))
    data["constraints"] = {
        "A": _text(_both(A, rows, upper)), "B": _text(_both(B, rows, lower)), "b": _spelt(rows.linear(moved))
    }  # fmt: skip
    image = parse_problem(data)
    assert isinstance(image, Quadratic)  # by its kind
    return image, upper.new(x)


def _both(matrix: Rows, rows: Axes, columns: Axes) -> list[Numbers]:
    """A bilinear form of old coordinates as one of new ones."""
    form: list[Numbers] = [()] * len(rows.order)
    for i, k in enumerate(rows.order):
        form[k] = tuple(rows.unit[i] * value for value in columns.linear(matrix[i]))
    return form


def _times(matrix: Rows, vector: Sequence[Fraction]) -> Numbers:
    return tuple(sum((a * v for a, v in zip(row, vector, strict=True)), Fraction(0)) for row in matrix)


def _transposed(matrix: Rows, width: int) -> list[list[Fraction]]:
    return [[row[j] for row in matrix] for j in range(width)]


def _sum(*vectors: Sequence[Fraction]) -> Numbers:
    return tuple(sum(parts, Fraction(0)) for parts in zip(*vectors, strict=True))


def _spelt(values: Sequence[Fraction]) -> list[str]:
    return [str(value) for value in values]


def _text(matrix: Rows) -> list[list[str]]:
    return [_spelt(row) for row in matrix]
