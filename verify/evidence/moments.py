"""First and second moments of a stream of vectors, in memory that does not grow with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from spec.exact import Vector


@dataclass
class Moments:
    """Count, mean and summed squared deviations per component, shape (n,); blocks are merged as they come.

    A centre near the mean is subtracted first so that small deviations keep their digits: the mean is that of the
    deviations from it.
    """

    centre: Vector
    count: int = 0
    mean: Vector = field(default_factory=lambda: np.zeros(0))
    squares: Vector = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not self.mean.size:
            self.mean, self.squares = np.zeros_like(self.centre), np.zeros_like(self.centre)

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
        self._merge(k, mean, squares)

    def _merge(self, k: int, mean: Vector, squares: Vector) -> None:
        total = self.count + k
        shift = mean - self.mean
        self.squares = self.squares + squares + shift * shift * (self.count * k / total)
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
        return {name: value if name == "count" else value.tolist() for name, value in vars(self).items()}

    @classmethod
    def resume(cls, state: dict[str, Any]) -> Self:
        """Go on from a state."""
        arrays: dict[str, Any] = {name: np.array(value) for name, value in state.items() if name != "count"}
        return cls(count=state["count"], **arrays)


@dataclass
class Scatter(Moments):
    """Moments that also keep how components vary together: summed products of deviations, shape (n, n)."""

    products: Vector = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.products.size:
            n = len(self.centre)
            self.products = np.zeros((n, n))

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
