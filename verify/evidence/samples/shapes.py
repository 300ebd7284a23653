"""The shape of a sample that decisions rest on: its tails, its isotropy, and whether neighbours depend on each other.

Deviations are those from the mean of the block they were drawn in, so that a block may be a call of its own. Tests are
sharp in effect, not in level: what they let pass moves an error rate by a small factor at most, and what they stop
wrongly costs only the little power by which a law that assumes less is weaker.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from spec.exact import Vector
from verify.evidence.samples.calls import SampleSums
from verify.evidence.samples.laws import chi2_upper

BATCH = 32
"""Neighbours averaged where they may be correlated: short-range correlation lives inside a batch."""
LAGS = (1, 2, 3, 4)
ENOUGH = 1 << 17
"""Samples whose shape is looked at; of a shape that is not Gaussian more of them."""
ALARM = 3.3
"""Standard errors at which a test finds something: one Gaussian sample out of two thousand, each side."""
NEIGHBOURS = 4.0
"""The same for the largest of several correlations."""
SHARE = 0.25
"""Largest share of one batch in the scatter of all: beyond, it is no scatter but one batch."""


@dataclass
class Shape(SampleSums):
    """Sums over a sample of deviations d, shape (k, n), and of their squared lengths q.

    ``sizes`` are count, Σq, Σq², Σq³; ``lags`` count, sum and sum of squares of d(t)·d(t+l), a row a lag; ``batches``
    those of the mean q of a batch, and its largest.
    """

    sizes: Vector = field(default_factory=lambda: np.zeros(4))
    lags: Vector = field(default_factory=lambda: np.zeros((len(LAGS), 3)))
    batches: Vector = field(default_factory=lambda: np.zeros(4))
    freedom: Vector = field(default_factory=lambda: np.zeros(1))
    cubes: Vector = field(default_factory=lambda: np.zeros(0))
    products: Vector = field(default_factory=lambda: np.zeros((0, 0)))
    batch_products: Vector = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        if not self.cubes.size:
            n = self.width
            self.cubes, self.products, self.batch_products = np.zeros(n), np.zeros((n, n)), np.zeros((n, n))

    def add(self, d: Vector) -> None:
        """Take in a block's deviations from its own mean, shape (k, n)."""
        k, n = d.shape
        if k < 2:
            return
        q = np.einsum("ij,ij->i", d, d)
        # Of one over the block's length is what its own mean takes off a variance, and off every product of two rows.
        one = float(q.sum()) / (k - 1)
        lengths = q * (k / (k - 1))
        self.sizes += np.array([*_three(lengths), float(np.einsum("i,i,i->", lengths, lengths, lengths))])
        self.cubes += np.einsum("ij,ij->j", d * d, d)
        self.products += np.einsum("ij,ik->jk", d, d)
        for row, lag in zip(self.lags, LAGS, strict=True):
            row += _three(np.einsum("ij,ij->i", d[:-lag], d[lag:]) + one / k)
        m = k // BATCH
        if m < 2:
            return
        mean = d[: m * BATCH].reshape(m, BATCH, n).mean(axis=1)
        size = q[: m * BATCH].reshape(m, BATCH).mean(axis=1) * (k / (k - 1))
        self.batches[:3] += _three(size)
        self.batches[3] = max(self.batches[3], float(size.max()))
        self.batch_products += np.einsum("ij,ik->jk", mean, mean)
        self.freedom += m - m * BATCH / k

    @property
    def wanted(self) -> bool:
        """Whether more samples should be looked at."""
        return self.count < ENOUGH or not self.is_gaussian

    @property
    def is_silent(self) -> bool:
        """Whether nothing scatters, or too little is in to speak of a shape."""
        return self.count < 2 * BATCH or not self.sizes[1] > 0

    @property
    def kurtosis(self) -> tuple[float, float]:
        """Mean fourth power of the length, 3 for isotropic Gaussian deviations, and what passes for a deviation."""
        n, (N, first, second, _) = self.width, self.sizes
        return 3 * n / (n + 2) * N * second / first**2, 3 * ALARM * sqrt(8 / (n * (n + 2) * N))

    @property
    def correlation(self) -> tuple[float, float, int]:
        """Of neighbours at the lag where it stands out most, what passes for none, and the lag.

        Signs flipped at random give independent deviations of symmetric law the same sum of products in law.
        """
        size = self.sizes[1] / self.sizes[0]
        worst = int(np.argmax(np.abs(self.lags[:, 1]) / np.sqrt(np.maximum(self.lags[:, 2], 1e-300))))
        pairs, total, squares = self.lags[worst]
        if not squares > 0:
            return 0.0, 1.0, LAGS[0]
        return float(total / pairs / size), float(NEIGHBOURS * sqrt(squares) / pairs / size), LAGS[worst]

    @property
    def correlations(self) -> Vector:
        """Of neighbours at every lag, shape (L,)."""
        return np.asarray(self.lags[:, 1] / np.maximum(self.lags[:, 0], 1.0) * self.sizes[0] / self.sizes[1])

    @property
    def skewness(self) -> tuple[float, float]:
        """Of the most skewed component, and what passes for none."""
        N, variances = self.sizes[0], np.diag(self.products) / self.sizes[0]
        scales = np.where(variances > 0, variances, np.inf) ** 1.5
        return float(np.max(np.abs(self.cubes / N / scales))), NEIGHBOURS * sqrt(6 / N)

    @property
    def is_isotropic(self) -> bool:
        """Whether the covariance may be a multiple of the identity (John's test)."""
        n, N = self.width, self.sizes[0]
        unlike = self.products * (n / float(np.trace(self.products))) - np.eye(n)
        dof = n * (n + 1) // 2 - 1
        return n == 1 or bool(N / 2 * float((unlike**2).sum()) <= chi2_upper(float(dof), 1e-3))

    @property
    def grouping(self) -> tuple[float, float]:
        """Variance of a batch's mean square, in units of that of one's over the batch, and what passes for 1."""
        B, first, second = self.batches[:3]
        one = self._scatter_of_one
        if B < 8 or not one > 0:
            return 1.0, 1.0
        several = max(0.0, second / B - (first / B) ** 2) * B / (B - 1)
        # Fourth moments of the batches themselves are near Gaussian only where the tails are light.
        return float(BATCH * several / one), ALARM * sqrt(2 / B) * max(1.0, sqrt(self.kurtosis[0] / 3))

    @property
    def _scatter_of_one(self) -> float:
        N, first, second, _ = self.sizes
        return max(0.0, float(second / N - (first / N) ** 2))

    @property
    def skewness_of_squares(self) -> float:
        """Of the squared length."""
        N, one = self.sizes[0], self._scatter_of_one
        first, second, third = self.sizes[1:] / N
        return float(max(0.0, third - 3 * first * second + 2 * first**3) / one**1.5) if one > 0 else 0.0

    @property
    def is_light(self) -> bool:
        """Whether tails are no heavier than Gaussian ones."""
        return self.is_silent or self.kurtosis[0] - 3 <= self.kurtosis[1]

    @property
    def is_dependent(self) -> bool:
        """Whether neighbours, or their squares, depend on each other."""
        return not self.is_silent and (self.is_correlated or self.grouping[0] - 1 > self.grouping[1])

    @property
    def is_gaussian(self) -> bool:
        """Whether nothing is seen that a total variance's chi-square law does not know; light tails are no harm."""
        return self.is_light and not self.is_dependent

    @property
    def is_correlated(self) -> bool:
        """Whether neighbours depend on each other."""
        if self.is_silent:
            return False
        value, allowed, _ = self.correlation
        return abs(value) > allowed

    @property
    def relative_variance(self) -> float:
        """Variance of a sample's mean square times its size, in units of the squared mean square; 2/n if Gaussian."""
        one = self._scatter_of_one * max(1.0, self.grouping[0])
        return float(one / (self.sizes[1] / self.sizes[0]) ** 2)

    @property
    def largest_share(self) -> float:
        """Share of the largest batch in the scatter of all of them."""
        B, first, second, largest = self.batches
        if B < 2:
            return 1.0
        around = second - first**2 / B
        return float((largest - first / B) ** 2 / around) if around > 0 else 0.0

    @property
    def batch_covariance(self) -> Vector:
        """Of a batch's mean deviation, shape (n, n)."""
        return np.asarray(self.batch_products / max(1.0, float(self.freedom[0])))


def _three(values: Vector) -> Vector:
    return np.array([len(values), float(values.sum()), float(np.einsum("i,i->", values, values))])
