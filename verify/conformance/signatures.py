"""What is measured of random stages: named statistics with their errors, compared with a law or with each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spec.exact import Vector

SURE = 6.0
"""Standard errors beyond which two numbers differ: about 2e-9 for a normal law, 1e-6 for some hundreds together."""
ROUNDING = 1e-9
"""Relative difference below which two numbers are the same whatever their errors."""


@dataclass(frozen=True)
class Statistic:
    """One number with its standard error.

    Args:
        value: Measured, or expected.
        error: Standard error; 0 where the number is exact.
        shown: What it is, in words.
    """

    value: float
    error: float
    shown: str

    def apart(self, other: Statistic) -> float:
        """Difference in units of what chance and rounding allow; beyond 1 it is real."""
        if not (math.isfinite(self.value) and math.isfinite(other.value)):
            return 0.0 if self.value == other.value else math.inf
        size = abs(self.value) + abs(other.value)
        allowed = SURE * math.hypot(self.error, other.error) + ROUNDING * max(1.0, size)
        return abs(self.value - other.value) / allowed


Signature = Mapping[str, Statistic]


def distance(first: Signature, second: Signature) -> tuple[float, str]:
    """The largest difference of two signatures in allowed units, and the statistic it is seen in."""
    found = [(first[name].apart(second[name]), name) for name in first if name in second]
    return max(found, default=(0.0, ""))


SILENT = -60.0
"""Logarithm shown for a variance of 0."""


def of_samples(samples: Vector, centre: Vector, unit: float, prefix: str) -> dict[str, Statistic]:
    """Mean, spread, repetition and correlation of vectors that should be independent, isotropic and Gaussian.

    Args:
        samples: Shape (R, n), R >= 8.
        centre: Their expected mean, shape (n,).
        unit: Expected standard deviation of a component, > 0.
        prefix: Where they were drawn, put before every name.
    """
    R, n = samples.shape
    off = (samples - centre) / unit
    mean = off.mean(axis=0)
    spread = float(((off - mean) ** 2).sum() / (n * (R - 1)))
    rounding = 1e-10 * (1.0 + float(np.abs(centre).max(initial=0.0)) / unit)
    silent = spread <= rounding**2
    error = math.sqrt(2.0 / (n * (R - 1)))
    mean_error = (rounding if silent else math.sqrt(spread / R)) + rounding
    made = {
        f"{prefix}: log variance": Statistic(
            SILENT if silent else math.log(spread), 0.0 if silent else error, "log of the variance over its law's"
        )
    }
    for i, value in enumerate(mean):
        made[f"{prefix}: mean of component {i + 1}"] = Statistic(
            float(value), mean_error, "shift in standard deviations of its law"
        )
    rows = np.ascontiguousarray(samples)
    repeated = 1.0 - len(np.unique(rows, axis=0)) / R
    made[f"{prefix}: repeated"] = Statistic(repeated, 0.0, "share of estimates that are copies")
    if not silent:
        centred = off - mean
        lag = float((centred[1:] * centred[:-1]).sum() / ((R - 1) * n * spread))
        made[f"{prefix}: correlation"] = Statistic(lag, 1.0 / math.sqrt(n * (R - 1)), "of neighbouring estimates")
    return made


def of_law(n: int, prefix: str) -> dict[str, Statistic]:
    """The signature of the law itself."""
    made = {
        f"{prefix}: log variance": Statistic(0.0, 0.0, ""),
        f"{prefix}: repeated": Statistic(0.0, 0.0, ""),
        f"{prefix}: correlation": Statistic(0.0, 0.0, ""),
    }
    return made | {f"{prefix}: mean of component {i + 1}": Statistic(0.0, 0.0, "") for i in range(n)}
