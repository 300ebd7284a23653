"""Confidence intervals of a mean square, a quantile and a mean, for one sample size or valid at every look."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any

import numpy as np
import scipy

from spec.errors import InvalidInputError
from spec.exact import Vector
from verify.evidence.budget import EFFORT_STEP
from verify.evidence.samples.laws import chi2_lower, chi2_upper, f_upper
from verify.evidence.samples.moments import Moments


def mean_square_interval(
    moments: Moments, error: float, *, isotropic: bool = False, worth: float = 1.0
) -> tuple[float, float]:
    """Confidence interval of E‖X - centre‖² for Gaussian X, or for X each ``worth`` so many Gaussian ones.

    Variance and mean have exact chi-square and F intervals that hold together except with probability ``error``:
    pooled where the covariance is a multiple of the identity, else component by component.
    """
    n, N = len(moments.mean), moments.count
    if isotropic:
        dof, total = float(n * (N - 1)), float(moments.squares.sum())
        away = float(np.linalg.norm(moments.mean))
        shift = sqrt(f_upper(float(n), dof, error / 2) * total / dof * n / N)
        less = dof * worth
        variance = (
            total * worth * n / chi2_upper(less, error / 4),
            total * worth * n / chi2_lower(less, error / 4),
        )
        return variance[0] + max(0.0, away - shift) ** 2, variance[1] + (away + shift) ** 2
    each, dof = error / (2 * n), float(N - 1)
    sums, less = moments.squares, dof * worth
    variance_low = sums * worth / chi2_upper(less, each / 2)
    variance_high = sums * worth / chi2_lower(less, each / 2)
    reach = np.sqrt(f_upper(1.0, dof, each) * sums / dof / N)
    size = np.abs(moments.mean)
    low = variance_low + np.maximum(0.0, size - reach) ** 2
    high = variance_high + (size + reach) ** 2
    return float(low.sum()), float(high.sum())


def quantile_interval(values: Vector, level: float, error: float) -> tuple[float, float, float]:
    """Quantile of a sample with a confidence interval that holds for every continuous law.

    Order statistics: as many values lie below the true quantile as heads in tosses of a coin of that bias. Returned
    are the quantile of the sample, shape (k,), and the ends of the interval.
    A sample too small for any such interval is refused.
    """
    ordered, k = np.sort(values), len(values)
    heads = np.arange(k)
    below, above = scipy.special.bdtr(heads, k, level), scipy.special.bdtrc(heads, k, level)
    first = int(np.searchsorted(below, error / 2, side="right"))
    last = int(np.argmax(above <= error / 2)) if (above <= error / 2).any() else k
    if first < 1 or last >= k:
        raise InvalidInputError("values", f"must be more than {k} for an error of {error:.3g}")
    return float(np.quantile(ordered, level)), float(ordered[first - 1]), float(ordered[last])


def mean_interval(values: Vector, top: float, error: float) -> tuple[float, float]:
    """Two-sided interval of the mean of independent values in [0, top]: Maurer and Pontil's empirical Bernstein bound.

    The values have shape (R,), R >= 2; ``error`` is the probability of a miss on either side together.
    """
    R = len(values)
    log_term = log(4.0 / error)
    half = np.sqrt(2.0 * values.var(ddof=1) * log_term / R) + 7.0 * top * log_term / (3.0 * (R - 1))
    mean = float(values.mean())
    return max(0.0, mean - float(half)), min(top, mean + float(half))


def median_interval(values: Vector, error: float) -> tuple[float, float]:
    """The same of the median of independent values from order statistics; holds for any law."""
    ordered = np.sort(values)
    R = len(ordered)
    # The k-th smallest exceeds the median with the probability that fewer than k of R fair coins show heads.
    ranks = np.arange(1, R // 2 + 1)
    tails = scipy.special.bdtr(ranks - 1, R, 0.5)
    allowed = np.flatnonzero(tails <= error / 2)
    if not len(allowed):
        return 0.0, float("inf")
    k = int(ranks[allowed[-1]])
    return float(ordered[k - 1]), float(ordered[R - k])


def sub_gaussian_interval(values: Vector, proxy: float, error: float) -> tuple[float, float]:
    """The same of the mean of independent values, sub-Gaussian around it; ``proxy`` is one's root of the variance."""
    mean, half = float(values.mean()), proxy * sqrt(2 * log(2 / error) / len(values))
    return mean - half, mean + half


@dataclass(frozen=True)
class Looks:
    r"""Looks at sample sizes growing by :data:`EFFORT_STEP`; the k-th spends the error share :math:`1/(k(k+1))`.

    The shares sum to one over all k, so a sequence may stop at any look and be resumed for more precision later
    without spending more than its error. The first look has ``first`` samples, at least 2.
    """

    first: int
    error: float

    def __post_init__(self) -> None:
        if self.first < 2:
            raise InvalidInputError("first", "must be >= 2", self.first)

    def size(self, look: int) -> int:
        """Sample size of look 1, 2, ..."""
        return int(self.first * EFFORT_STEP ** (look - 1))

    def spends(self, look: int) -> float:
        """Error of look 1, 2, ..."""
        return self.error / (look * (look + 1))

    @classmethod
    def ending_at(cls, size: int, looks: int, error: float) -> Looks:
        """Looks whose last of a given number is at a given size."""
        return cls(max(2, -(-size // EFFORT_STEP ** (looks - 1))), error)


@dataclass
class EmpiricalBernstein:
    r"""Confidence sequence for the mean of variables in [0, 1], valid at all sample sizes at once.

    Predictable plug-in empirical-Bernstein (Waudby-Smith and Ramdas, "Estimating means of bounded random variables
    by betting", 2024, Theorem 2): with bets
    :math:`\lambda_i = \min(1/2, \sqrt{2\log(2/a) / (\hat\sigma_{i-1}^2 n)})`, the mean lies within
    :math:`(\log(2/a) + \sum v_i \psi(\lambda_i)) / \sum\lambda_i` of :math:`\sum\lambda_i X_i / \sum\lambda_i` for
    all sizes except with probability a; :math:`v_i = 4 (X_i - \hat\mu_{i-1})^2`,
    :math:`\psi(\lambda) = (-\log(1 - \lambda) - \lambda)/4`.

    The error is a, the horizon n: the sample size at which it shall be narrowest; any other is valid as well.
    """

    error: float
    horizon: int
    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    bets: float = 0.0
    weighted: float = 0.0
    price: float = 0.0

    def add(self, values: Vector) -> None:
        """Take in more variables in [0, 1], shape (k,), in order."""
        if values.size == 0:
            return
        if values.min() < 0 or values.max() > 1:
            raise InvalidInputError("values", "must lie in [0, 1]", (float(values.min()), float(values.max())))
        k = np.arange(self.count, self.count + len(values), dtype=np.float64)
        sums = self.total + np.cumsum(values)
        # Before each variable, then after: bets may use only the past.
        before = (0.5 + np.concatenate([[self.total], sums[:-1]])) / (k + 1)
        after = (0.5 + sums) / (k + 2)
        spread = self.squares + np.cumsum((values - after) ** 2)
        past = (0.25 + np.concatenate([[self.squares], spread[:-1]])) / (k + 1)
        bets = np.minimum(0.5, np.sqrt(2 * log(2 / self.error) / (past * self.horizon)))
        self.bets += float(bets.sum())
        self.weighted += float(bets @ values)
        self.price += float((values - before) ** 2 @ (-np.log1p(-bets) - bets))
        self.count += len(values)
        self.total, self.squares = float(sums[-1]), float(spread[-1])

    def interval(self) -> tuple[float, float]:
        """Bounds of the mean; (0, 1) before the first variable."""
        if self.bets == 0:
            return 0.0, 1.0
        centre, half = self.weighted / self.bets, (log(2 / self.error) + self.price) / self.bets
        return max(0.0, centre - half), min(1.0, centre + half)

    @property
    def mean(self) -> float:
        """Plain average so far."""
        return self.total / self.count if self.count else inf

    def state(self) -> dict[str, Any]:
        """Everything, as plain data; ``EmpiricalBernstein(**state)`` goes on from it."""
        return dict(vars(self))
