"""Whether estimates of one call share noise: how far the means of calls scatter beside the estimates within them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from spec.exact import Vector
from verify.evidence.samples.laws import chi2_upper

CALLS = 256
"""Further calls whose means are taken as samples, each a call's, where a deviation shows."""
TWICE = 2
"""Times as many estimates are in all of them together as were seen to deviate: what those see, these see as well."""
ALARM = 1e-4
"""Probability with which means of calls of independent estimates are taken to scatter too much."""


@dataclass
class SampleSums:
    """Sums over samples of vectors of length ``width``; the first of ``sizes`` is their count."""

    width: int
    sizes: Vector

    @property
    def count(self) -> int:
        """Samples so far."""
        return int(self.sizes[0])

    def state(self) -> dict[str, Any]:
        """Everything, as plain data to go on from."""
        return {name: value if name == "width" else value.tolist() for name, value in vars(self).items()}

    @classmethod
    def resume(cls, state: dict[str, Any]) -> Self:
        """Go on from a state."""
        arrays: dict[str, Any] = {name: np.array(value) for name, value in state.items() if name != "width"}
        return cls(width=state["width"], **arrays)


@dataclass
class Calls(SampleSums):
    """Sums over calls: ``sizes`` are their count, their rows and the summed squares within; ``sums`` and ``products``
    those of their means m and of m mᵀ, each times its rows, shapes (n,) and (n, n).
    """

    sizes: Vector = field(default_factory=lambda: np.zeros(3))
    sums: Vector = field(default_factory=lambda: np.zeros(0))
    products: Vector = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        if not self.sums.size:
            self.sums, self.products = np.zeros(self.width), np.zeros((self.width, self.width))

    def add(self, rows: int, mean: Vector, within: float) -> None:
        """Take in a call of so many rows, with its mean and the summed squares around it."""
        self.sizes += np.array([1.0, rows, within])
        self.sums += rows * mean
        self.products += rows * np.outer(mean, mean)

    @property
    def between(self) -> Vector:
        """Covariance of one estimate as the means of calls have it, shape (n, n); needs two calls."""
        apart = self.products - np.outer(self.sums, self.sums) / self.sizes[1]
        return np.asarray(apart / (self.sizes[0] - 1))

    def scatter(self, least: float) -> tuple[float, float]:
        """Scatter of the means of calls in units of what independent estimates give them, and what passes for 1.

        ``least`` is the total variance below which an estimate's scatter is rounding or short memory.
        """
        calls, rows, within = self.sizes
        if calls < 2:
            return 1.0, 1.0
        own, total = self.between, float(np.trace(self.between))
        reference = max(float(within) / max(1.0, rows - calls), least)
        # Where few components carry the scatter it varies as if there were few; shares of it do not underflow.
        spread = float(((own / total) ** 2).sum()) if total > 0 else 1 / self.width
        dof = min(max(1 / spread, 1.0), float(self.width)) * (calls - 1)
        ratio = total / reference if reference > 0 else (np.inf if total > 0 else 1.0)
        return float(ratio), chi2_upper(float(dof), ALARM) / float(dof)
