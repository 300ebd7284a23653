"""Moments of a stream of vectors, in memory that does not grow with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from spec.exact import Vector
from verify.evidence.samples.calls import Calls
from verify.evidence.samples.shapes import Shape

_PARTS = ("count", "shape", "calls")


@dataclass
class Moments:
    """Count, mean and summed squared deviations per component, shape (n,); blocks are merged as they come.

    ``cross`` are the summed products of two components' deviations, shape (n, n). ``shape`` keeps what decisions assume
    of the law, ``calls`` how the means of blocks scatter.

    A centre near the mean is subtracted first so that small deviations keep their digits: the mean is that of the
    deviations from it.
    """

    centre: Vector
    count: int = 0
    mean: Vector = field(default_factory=lambda: np.zeros(0))
    squares: Vector = field(default_factory=lambda: np.zeros(0))
    cross: Vector = field(default_factory=lambda: np.zeros((0, 0)))
    shape: Shape = field(default_factory=lambda: Shape(0))
    calls: Calls = field(default_factory=lambda: Calls(0))

    def __post_init__(self) -> None:
        if not self.mean.size:
            n = len(self.centre)
            self.mean, self.squares, self.cross = np.zeros(n), np.zeros(n), np.zeros((n, n))
        if not self.shape.width:
            self.shape = Shape(len(self.centre))
        if not self.calls.width:
            self.calls = Calls(len(self.centre))

    def add(self, block: Vector) -> None:
        """Take in a block of vectors, shape (k, n)."""
        k = len(block)
        if not k:
            return
        deviations = block - self.centre
        mean = np.einsum("ij->j", deviations) / k
        # Identical rows must give exactly zero: the first row is exact, a mean of equal numbers need not be.
        if (deviations[-1] == deviations[0]).all() and (deviations == deviations[0]).all():
            mean = deviations[0].copy()
        deviations -= mean
        squares = np.einsum("ij,ij->j", deviations, deviations)
        self._merge(k, mean, squares, np.einsum("ij,ik->jk", deviations, deviations))
        self.calls.add(k, mean, float(squares.sum()))
        if self.shape.wanted:
            self.shape.add(deviations)

    def _merge(self, k: int, mean: Vector, squares: Vector, cross: Vector) -> None:
        total = self.count + k
        shift = mean - self.mean
        self.squares = self.squares + squares + shift * shift * (self.count * k / total)
        self.cross = self.cross + cross + np.outer(shift, shift) * (self.count * k / total)
        self.mean = self.mean + shift * (k / total)
        self.count = total

    @property
    def variance(self) -> float:
        """Unbiased total variance, the trace of the covariance; needs two vectors."""
        return float(self.squares.sum()) / (self.count - 1)

    @property
    def variances(self) -> Vector:
        """Unbiased variances per component, shape (n,)."""
        return np.asarray(self.squares / (self.count - 1))

    @property
    def mean_square(self) -> float:
        """Mean of the squared distance from the centre."""
        return float(self.squares.sum()) / self.count + float(self.mean @ self.mean)

    def state(self) -> dict[str, Any]:
        """Everything, as plain data to go on from."""
        arrays = {name: value.tolist() for name, value in vars(self).items() if name not in _PARTS}
        return arrays | {"count": self.count, "shape": self.shape.state(), "calls": self.calls.state()}

    @classmethod
    def resume(cls, state: dict[str, Any]) -> Self:
        """Go on from a state."""
        arrays: dict[str, Any] = {name: np.array(value) for name, value in state.items() if name not in _PARTS}
        # A state of an earlier version knows no shape and no calls: they are seen from here on.
        shape = Shape.resume(state["shape"]) if "shape" in state else Shape(0)
        calls = Calls.resume(state["calls"]) if "calls" in state else Calls(0)
        return cls(count=state["count"], shape=shape, calls=calls, **arrays)


@dataclass
class Scatter(Moments):
    """Moments that also keep how components vary together: summed products of deviations, shape (n, n).

    ``fourths`` are the summed squares and fourth powers along the axes and both diagonals of each two, shape (2, n²).
    """

    products: Vector = field(default_factory=lambda: np.zeros((0, 0)))
    fourths: Vector = field(default_factory=lambda: np.zeros((2, 0)))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.products.size:
            n = len(self.centre)
            self.products, self.fourths = np.zeros((n, n)), np.zeros((2, n * n))

    def add(self, block: Vector) -> None:
        """Take in a block of vectors, shape (k, n)."""
        k = len(block)
        if not k:
            return
        before, count = self.mean, self.count
        super().add(block)
        # The block's own mean, and how far it lay from that of all before it.
        shift = (self.mean - before) * (self.count / k)
        deviations = (block - self.centre) - (before + shift)
        own = np.einsum("ij,ik->jk", deviations, deviations)
        self.products = self.products + own + np.outer(shift, shift) * (count * k / self.count)
        squares = along_directions(deviations) ** 2
        self.fourths = self.fourths + np.array([squares.sum(axis=0), np.einsum("ij,ij->j", squares, squares)])

    @property
    def along(self) -> Vector:
        """Summed squares along the axes and both diagonals of each two, shape (n²,)."""
        own = np.diag(self.products)
        first, second = np.triu_indices(len(own), 1)
        middle, apart = (own[first] + own[second]) / 2, self.products[first, second]
        return np.concatenate([own, middle + apart, middle - apart])

    @property
    def kurtosis(self) -> float:
        """The largest along any direction; 3 for Gaussian ones, and at least that."""
        squares, fourths = self.fourths[:, self.fourths[0] > 0]
        return float(np.max(self.count * fourths / squares**2, initial=3.0))


def along_directions(rows: Vector) -> Vector:
    """Rows, shape (k, n), along the axes and the diagonals between two axes, shape (k, n²)."""
    first, second = np.triu_indices(rows.shape[1], 1)
    one, other = rows[:, first] / 2**0.5, rows[:, second] / 2**0.5
    return np.hstack([rows, one + other, one - other])
