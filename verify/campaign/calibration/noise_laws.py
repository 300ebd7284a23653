"""Laws that people's noise has, each of mean zero and, per component, mean variance one; a moving point's less."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from spec.exact import Vector

Noise: TypeAlias = Callable[[np.random.Generator, int, int], Vector]
"""From a generator, rows and components to deviations, shape (k, n)."""


def _autoregressive(rho: float) -> Noise:
    """A row remembers a share rho of the one before; what is older than 64 rows is below rounding."""
    memory = rho ** np.arange(64) * (1 - rho**2) ** 0.5

    def draw(rng: np.random.Generator, k: int, n: int) -> Vector:
        steps = rng.standard_normal((k + len(memory) - 1, n))
        return np.stack([np.convolve(column, memory, "valid") for column in steps.T], axis=1)

    return draw


def _student(freedom: int) -> Noise:
    return lambda rng, k, n: rng.standard_t(freedom, (k, n)) * ((freedom - 2) / freedom) ** 0.5


def _contaminated(rng: np.random.Generator, k: int, n: int) -> Vector:
    """One row of a hundred has ten times the deviation."""
    scale = np.where(rng.random((k, 1)) < 0.01, 10.0, 1.0)
    return np.asarray(rng.standard_normal((k, n)) * scale / (0.99 + 0.01 * 100) ** 0.5)


def _heteroscedastic(rng: np.random.Generator, k: int, n: int) -> Vector:
    """Every other row has half, every other one and a half times the variance."""
    scale = np.where(np.arange(k) % 2, 1.5, 0.5)[:, None] ** 0.5
    return np.asarray(rng.standard_normal((k, n)) * scale)


def _moving_point(rng: np.random.Generator, k: int, n: int) -> Vector:
    """The point (x, y) moves along a call, and with it the variance: from one half to the one that is stated."""
    variances = 0.75 + 0.25 * np.cos(2 * np.pi * np.arange(k) / k)
    return np.asarray(rng.standard_normal((k, n)) * variances[:, None] ** 0.5)


def _anisotropic(rng: np.random.Generator, k: int, n: int) -> Vector:
    """The first component carries most of the variance."""
    variances = np.array([4.0, *(1.0,) * (n - 1)])
    return np.asarray(rng.standard_normal((k, n)) * (variances * n / variances.sum()) ** 0.5)


def _finite_sum(rng: np.random.Generator, k: int, n: int) -> Vector:
    """One of 50 terms, drawn with replacement; the same terms in every run."""
    terms = np.random.default_rng(50).standard_normal((50, n))
    white, _ = np.linalg.qr(terms - terms.mean(axis=0))
    return np.asarray(50**0.5 * white[rng.integers(50, size=k)])


def _without_replacement(rng: np.random.Generator, k: int, n: int) -> Vector:
    """Terms of a sum of 1,024, each of which a call draws once before any comes again; the same in every run."""
    terms = np.random.default_rng(1024).standard_normal((1024, n))
    white, _ = np.linalg.qr(terms - terms.mean(axis=0))
    order = np.concatenate([rng.permutation(1024) for _ in range(-(-k // 1024))])[:k]
    return np.asarray(1024**0.5 * white[order])


def _lognormal(rng: np.random.Generator, k: int, n: int) -> Vector:
    """Logarithms of deviation one half: skewness 1.75, kurtosis 8.9."""
    v = 0.25
    centred = np.exp(0.5 * rng.standard_normal((k, n))) - np.exp(v / 2)
    return np.asarray(centred / ((np.exp(v) - 1) * np.exp(v)) ** 0.5)


def _two_point(p: float) -> Noise:
    """Each component has its rare value with probability p."""
    low, high = -((p / (1 - p)) ** 0.5), ((1 - p) / p) ** 0.5
    return lambda rng, k, n: np.where(rng.random((k, n)) < p, high, low)


def _outliers(share: float, size: float) -> Noise:
    """A share of the rows is so many times as long."""
    whole = (1 + share * (size**2 - 1)) ** 0.5
    return lambda rng, k, n: rng.standard_normal((k, n)) * np.where(rng.random((k, 1)) < share, size, 1.0) / whole


def _pareto(rng: np.random.Generator, k: int, n: int) -> Vector:
    """Tail of power 4.5: a fourth moment, and no fifth."""
    mean, variance = 4.5 / 3.5, 4.5 / 3.5**2 / 2.5
    return np.asarray((1 + rng.pareto(4.5, (k, n)) - mean) / variance**0.5)


def _sphere(rng: np.random.Generator, k: int, n: int) -> Vector:
    """Every row is as long as any other."""
    rows = rng.standard_normal((k, n))
    return np.asarray(n**0.5 * rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _mixture(rng: np.random.Generator, k: int, n: int) -> Vector:
    """Two equal heaps of half the deviation each, apart so that the variance is one."""
    return np.asarray(0.75**0.5 * rng.choice([-1.0, 1.0], (k, n)) + 0.5 * rng.standard_normal((k, n)))


def _shared(rng: np.random.Generator, k: int, n: int) -> Vector:
    """A twentieth of the variance is one draw for all rows of a call."""
    return np.asarray(0.95**0.5 * rng.standard_normal((k, n)) + 0.05**0.5 * rng.standard_normal((1, n)))


NOISE_LAWS: dict[str, Noise] = {
    "Gauss": lambda rng, k, n: rng.standard_normal((k, n)),
    "Rademacher": lambda rng, k, n: rng.choice([-1.0, 1.0], (k, n)),
    "Laplace": lambda rng, k, n: rng.laplace(size=(k, n)) / 2**0.5,
    "t5": _student(5),
    "t3": _student(3),
    "1 % contaminated": _contaminated,
    "AR(.3)": _autoregressive(0.3),
    "AR(.5)": _autoregressive(0.5),
    "heteroscedastic": _heteroscedastic,
    "heteroscedastic in (x, y)": _moving_point,
    "anisotropic": _anisotropic,
    "finite sum": _finite_sum,
    "finite sum, no replacement": _without_replacement,
    "lognormal": _lognormal,
    "mixture": _mixture,
    "two-point .01": _two_point(0.01),
    "two-point .001": _two_point(0.001),
    "outliers .1 % × 60": _outliers(1e-3, 60.0),
    "outliers .01 % × 100": _outliers(1e-4, 100.0),
    "Pareto 4.5": _pareto,
    "sphere": _sphere,
    "rank one": lambda rng, k, n: rng.standard_normal((k, 1)) * np.ones((1, n)),
    "shared by a call": _shared,
}
