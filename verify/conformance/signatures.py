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


COINCIDENCE = 0.05
"""Error granted to the share of estimates that others undo: rounding may hide a few."""
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
    centred = off - mean
    squares = (centred**2).sum(axis=0) / (R - 1)
    spread = float(squares.mean())
    rounding = 1e-10 * (1.0 + float(np.abs(centre).max(initial=0.0)) / unit)
    silent = spread <= rounding**2
    # How many independent numbers a sample counts for: n where the components are alike.
    degrees = float(squares.sum() ** 2 / (squares**2).sum()) if not silent else float(n)
    error = math.sqrt(2.0 / (degrees * (R - 1)))
    made = {
        f"{prefix}: log variance": Statistic(
            SILENT if silent else math.log(spread), 0.0 if silent else error, "log of the variance over its law's"
        )
    }
    for i, value in enumerate(mean):
        made[f"{prefix}: mean of component {i + 1}"] = Statistic(
            float(value), math.sqrt(squares[i] / R) + rounding, "shift in standard deviations of its law"
        )
    rows = np.ascontiguousarray(samples)
    repeated = 1.0 - len(np.unique(rows, axis=0)) / R
    made[f"{prefix}: repeated"] = Statistic(repeated, 0.0, "share of estimates that are copies")
    if not silent:
        lag = float((centred[1:] * centred[:-1]).sum() / ((R - 1) * n * spread))
        made[f"{prefix}: correlation"] = Statistic(lag, 1.0 / math.sqrt(degrees * (R - 1)), "of neighbouring estimates")
        made[f"{prefix}: opposites"] = Statistic(_opposites(off), COINCIDENCE, "share of estimates that others undo")
    if n > 1 and not silent:
        made |= _of_components(centred / math.sqrt(spread), prefix)
    return made


def _opposites(off: Vector) -> float:
    """Share of rows that are another's negative, up to rounding."""
    rows = np.round(off, 9)
    both = np.vstack([rows, -rows]) + 0.0  # no negative zeros
    return 2.0 - len(np.unique(both, axis=0)) / len(rows)


def _of_components(rows: Vector, prefix: str) -> dict[str, Statistic]:
    """Whether components are alike and independent: each one's variance, and the correlation of neighbours."""
    R = len(rows)
    squares = (rows**2).sum(axis=0) / (R - 1)
    made = {
        f"{prefix}: log variance of component {i + 1}": Statistic(
            math.log(square) if square > 0 else SILENT, math.sqrt(2.0 / (R - 1)), "log of its share of the variance"
        )
        for i, square in enumerate(squares)
    }
    joint = float((rows[:, 1:] * rows[:, :-1]).mean())
    return made | {
        f"{prefix}: components": Statistic(joint, 1.0 / math.sqrt(R), "correlation of neighbouring components")
    }


def of_law(n: int, prefix: str) -> dict[str, Statistic]:
    """The signature of the law itself."""
    made = {
        f"{prefix}: log variance": Statistic(0.0, 0.0, ""),
        f"{prefix}: repeated": Statistic(0.0, 0.0, ""),
        f"{prefix}: correlation": Statistic(0.0, 0.0, ""),
        f"{prefix}: opposites": Statistic(0.0, 0.0, ""),
        f"{prefix}: components": Statistic(0.0, 0.0, ""),
    }
    made |= {f"{prefix}: log variance of component {i + 1}": Statistic(0.0, 0.0, "") for i in range(n)}
    return made | {f"{prefix}: mean of component {i + 1}": Statistic(0.0, 0.0, "") for i in range(n)}
