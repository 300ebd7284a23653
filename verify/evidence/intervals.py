"""Confidence intervals of a mean square, of a quantile, and of a mean."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from scipy import special

from spec.errors import InvalidInputError
from spec.exact import Vector
from verify.evidence.laws import chi2_lower, chi2_upper, f_upper
from verify.evidence.moments import Moments


def mean_square_interval(moments: Moments, error: float, *, isotropic: bool = False) -> tuple[float, float]:
    """Confidence interval of E‖X - centre‖² for Gaussian X.

    Variance and mean have exact chi-square and F intervals that hold together except with probability ``error``:
    pooled where the covariance is a multiple of the identity, else component by component.
    """
    n, N = len(moments.mean), moments.count
    if isotropic:
        dof, total = float(n * (N - 1)), float(moments.squares.sum())
        away = float(np.linalg.norm(moments.mean))
        shift = sqrt(f_upper(float(n), dof, error / 2) * total / dof * n / N)
        variance = total * n / chi2_upper(dof, error / 4), total * n / chi2_lower(dof, error / 4)
        return variance[0] + max(0.0, away - shift) ** 2, variance[1] + (away + shift) ** 2
    each, dof = error / (2 * n), float(N - 1)
    sums = moments.squares
    variance_low, variance_high = sums / chi2_upper(dof, each / 2), sums / chi2_lower(dof, each / 2)
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
    below, above = special.bdtr(heads, k, level), special.bdtrc(heads, k, level)
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
    tails = special.bdtr(ranks - 1, R, 0.5)
    allowed = np.flatnonzero(tails <= error / 2)
    if not len(allowed):
        return 0.0, float("inf")
    k = int(ranks[allowed[-1]])
    return float(ordered[k - 1]), float(ordered[R - k])


def sub_gaussian_interval(values: Vector, proxy: float, error: float) -> tuple[float, float]:
    """The same of the mean of independent values, sub-Gaussian around it; ``proxy`` is one's root of the variance."""
    mean, half = float(values.mean()), proxy * sqrt(2 * log(2 / error) / len(values))
    return mean - half, mean + half
