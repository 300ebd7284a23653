r"""Exact laws of Gaussian samples: chi-square, F, and quadratic forms by their moment generating functions.

A tail bound :math:`P(Q \ge q) \le \inf_t e^{K(t) - tq}` with the exact log-moment generating function K holds for
every t, so a quantile bound found on any grid of t is valid, and only its tightness depends on the grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import factorial, isfinite, log

import numpy as np
import scipy

from spec.exact import Vector

GRID = 4000
"""Points of t tried; a neighbouring one costs less than one part in a million of a quantile."""
COARSE_GRID = 1000
"""The same for exponents, which are quoted to hundredths."""


def log_sum(logs: Vector) -> float:
    """The logarithm of Σ exp(l_i) of a vector, exact where a few terms outweigh all others.

    The largest terms are counted and taken out, m of them: l + log m + log(1 + rest/m). The value is that of
    ``scipy.special.logsumexp``, digit for digit, at a tenth of its time.
    """
    largest = logs.max()
    if not isfinite(largest):
        return float(largest)
    at = logs == largest
    count, rest = np.float64(at.sum()), np.exp(np.where(at, -np.inf, logs - largest)).sum()
    return float(np.log1p(rest / count) + np.log(count) + largest)


def chernoff(log_mgf: Callable[[Vector], Vector], t: Vector, log_error: float) -> float:
    """The least value on a grid of t, shape (k,), that a variable exceeds with a probability of this log at most."""
    values = (log_mgf(t) - log_error) / t
    return float(np.min(values[np.isfinite(values)]))


@lru_cache(maxsize=4096)
def chi2_upper(dof: float, error: float) -> float:
    """The value a chi-square variable exceeds with probability ``error``."""
    return float(scipy.special.chdtri(dof, error))


@lru_cache(maxsize=4096)
def chi2_lower(dof: float, error: float) -> float:
    """The value a chi-square variable falls below with probability ``error``."""
    return float(2.0 * scipy.special.gammaincinv(dof / 2.0, error))


@lru_cache(maxsize=1024)
def f_upper(dof: float, dof_below: float, error: float) -> float:
    """The value an F variable exceeds with probability ``error``."""
    # F > f exactly where a beta variable falls below its image, whose small tail keeps all digits.
    share = float(scipy.special.betaincinv(dof_below / 2, dof / 2, error))
    return dof_below * (1 - share) / (dof * share)


@lru_cache(maxsize=64)
def normal_upper(error: float) -> float:
    """The value a standard normal variable exceeds with probability ``error``."""
    return -float(scipy.special.ndtri(error))


@dataclass(frozen=True)
class SquareLaw:
    r"""Law of :math:`\|X\|^2`, :math:`X \sim N(\mu, \Sigma)`.

    The weights are the eigenvalues of Sigma, the shifts the squared components of mu in its eigenbasis, shape (k,).
    """

    weights: tuple[float, ...]
    shifts: tuple[float, ...]

    @classmethod
    def of(cls, mean: Vector, covariance: Vector) -> SquareLaw:
        """The law for a given mean, shape (k,), and covariance, shape (k, k)."""
        values, vectors = np.linalg.eigh(covariance)
        shifts = (vectors.T @ mean) ** 2
        return cls(tuple(np.maximum(values, 0.0).tolist()), tuple(shifts.tolist()))

    @property
    def expectation(self) -> float:
        """Its mean, trace of Sigma plus squared length of mu."""
        return float(sum(self.weights) + sum(self.shifts))

    @property
    def variance(self) -> float:
        """Of one squared length."""
        return self._cumulant(2)

    def _cumulant(self, order: int) -> float:
        w, shift = np.array(self.weights), np.array(self.shifts)
        return 2.0 ** (order - 1) * factorial(order - 1) * float((w**order + order * shift * w ** (order - 1)).sum())

    def log_mgf(self, t: Vector) -> Vector:
        """Logarithm of its moment generating function at t, each below one over twice the largest weight."""
        w, shift = np.array(self.weights)[:, None], np.array(self.shifts)[:, None]
        scaled = 2 * w * t
        return np.asarray((shift * t / (1 - scaled) - 0.5 * np.log1p(-scaled)).sum(axis=0))


def log_variance_interval(weights: Vector, dofs: Vector, error: float) -> tuple[float, float]:
    r"""Bounds of :math:`\sum_i w_i \log(\chi^2_{d_i}/d_i)`, each crossed with probability at most ``error / 2``.

    Weights and degrees of freedom have shape (k,); the variables are independent.
    """
    return _log_variance_interval(tuple(weights.tolist()), tuple(dofs.tolist()), error)


@lru_cache(maxsize=4096)
def _log_variance_interval(
    given: tuple[float, ...], freedom: tuple[float, ...], error: float
) -> tuple[float, float]:  # fmt: skip
    weights, dofs = np.array(given), np.array(freedom)

    def log_mgf(t: Vector) -> Vector:
        s = weights[:, None] * t
        half = dofs[:, None] / 2
        ratio: Vector = scipy.special.gammaln(half + s) - scipy.special.gammaln(half) - s * np.log(half)
        return np.asarray(ratio.sum(axis=0))

    used = weights != 0
    weights, dofs = weights[used], dofs[used]
    t = np.geomspace(1e-6, 1 - 1e-9, COARSE_GRID) * float(np.min(dofs / 2 / np.abs(weights)))
    return -chernoff(lambda t: log_mgf(-t), t, log(error / 2)), chernoff(log_mgf, t, log(error / 2))


def binomial_interval(count: int, runs: int, confidence: float) -> tuple[float, float]:
    """Clopper-Pearson interval of a probability, of which ``count`` of ``runs`` came true."""
    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else float(scipy.special.betaincinv(count, runs - count + 1, tail))
    high = 1.0 if count == runs else float(scipy.special.betaincinv(count + 1, runs - count, 1 - tail))
    return low, high
